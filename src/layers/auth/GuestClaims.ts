import { Effect, Layer } from "effect"
import { type Actor, anonymousActor, CurrentActor } from "../../domain/access/Actor.ts"
import { GuestOrderClaims, type VerifiedUser } from "../../domain/auth/GuestOrderClaims.ts"
import { CustomerOrders } from "../../domain/orders/CustomerOrders.ts"
import { RequestId } from "../../http/server/RequestId.ts"
import { AppConfig } from "../config/AppConfig.ts"

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
