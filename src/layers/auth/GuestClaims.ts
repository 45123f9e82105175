import { Effect, Layer } from "effect"
import { type Actor, anonymousActor, CurrentActor } from "../../domain/access/Actor.ts"
import { GuestOrderClaims, type VerifiedUser } from "../../domain/auth/GuestOrderClaims.ts"
import { CustomerOrders } from "../../domain/orders/CustomerOrders.ts"
import { RequestId } from "../../http/server/RequestId.ts"
import { AppConfig } from "../config/AppConfig.ts"

/**
 * Gives the orders of a guest to the user who has proven that the address is his, in the organization of the request
 * that shows it. It stands behind the services of all modules, since orders come after authentication.
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
          if (claimed > 0) yield* Effect.logInfo(`orders of a guest became a user's: ${claimed}`)
        },
        (claim, { userId }) =>
          Effect.catchCause(
            claim,
            (cause) =>
              Effect.logError("orders of a guest were not given to the user whose address it is", { userId }, cause)
          )
      )
    })
  })
)
