import { Context, Effect, Layer } from "effect"
import { type Actor, anonymousActor, CurrentActor } from "../../domain/access/Actor.ts"
import { CustomerOrders } from "../../domain/orders/CustomerOrders.ts"
import { RequestId } from "../../http/server/RequestId.ts"
import { AppConfig } from "../config/AppConfig.ts"

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
}>()("stoa/layers/auth/GuestOrderClaims") {}

/**
 * Assigns guest orders to the user who verified the address, in the organization of the request. Requires the services of
 * all modules, since orders come after authentication.
 */
export const guestClaimsLayer = Layer.effect(
  GuestOrderClaims,
  Effect.gen(function*() {
    const { access } = yield* AppConfig
    const { claimGuestOrders } = yield* CustomerOrders

    const actorOf = ({ email, name, organizationId, userId }: VerifiedUser, requestId: string): Actor => ({
      ...anonymousActor(organizationId, access.customerPermissions),
      userId,
      email,
      name,
      requestId: requestId === "" ? null : requestId,
      source: "rest"
    })

    return GuestOrderClaims.of({
      claim: Effect.fn("GuestOrderClaims.claim")(
        function*(user: VerifiedUser) {
          const actor = actorOf(user, yield* RequestId)
          const claimed = yield* Effect.provideService(claimGuestOrders, CurrentActor, actor)
          if (claimed > 0) yield* Effect.logInfo(`guest orders were assigned to a user: ${claimed}`)
        },
        (claim, { userId }) =>
          Effect.catchCause(
            claim,
            (cause) =>
              Effect.logError("guest orders were not assigned to the user with their address", { userId }, cause)
          )
      )
    })
  })
)
