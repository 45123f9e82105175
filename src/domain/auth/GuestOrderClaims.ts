import { Context, type Effect } from "effect"

/** A user with a verified address. */
export interface VerifiedUser {
  readonly userId: string
  readonly email: string
  readonly name: string
  /** The organization whose orders are searched. */
  readonly organizationId: string
}

/**
 * Assigns guest orders to the user who verified their e-mail address (contract, platform §7). Runs after each
 * verification and each sign-in with a verified address, so it must be cheap and idempotent. It never fails: the
 * verification or sign-in succeeds in any case.
 */
export class GuestOrderClaims extends Context.Service<GuestOrderClaims, {
  readonly claim: (user: VerifiedUser) => Effect.Effect<void>
}>()("stoa/domain/auth/GuestOrderClaims") {}
