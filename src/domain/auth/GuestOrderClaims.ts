import { Context, type Effect } from "effect"

/** A user whose address is proven to be his. */
export interface VerifiedUser {
  readonly userId: string
  readonly email: string
  readonly name: string
  /** Where his orders are looked for. */
  readonly organizationId: string
}

/**
 * What happens when somebody proves that an e-mail address is his: orders that were placed with it as a guest become his
 * (contract, platform §7). Asked after each verification and at each sign-in with a verified address, so it must be cheap and
 * do no harm when repeated. It does not fail: whoever verifies his address or signs in does so in any case.
 */
export class GuestOrderClaims extends Context.Service<GuestOrderClaims, {
  readonly claim: (user: VerifiedUser) => Effect.Effect<void>
}>()("stoa/domain/auth/GuestOrderClaims") {}
