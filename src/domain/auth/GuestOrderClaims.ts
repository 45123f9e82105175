import { Context, Effect, Layer } from "effect"

/** A user whose address is proven to be his. */
export interface VerifiedUser {
  readonly userId: string
  readonly email: string
  readonly name: string
}

/**
 * What happens when somebody proves that an e-mail address is his: orders that were placed with it as a guest become his
 * (contract, platform §7). Asked after each verification, so it must do no harm when repeated.
 */
export class GuestOrderClaims extends Context.Service<GuestOrderClaims, {
  readonly claim: (user: VerifiedUser) => Effect.Effect<void>
}>()("stoa/domain/auth/GuestOrderClaims") {
  /** Nobody's orders are claimed. */
  static readonly none = Layer.succeed(GuestOrderClaims, { claim: () => Effect.void })
}
