import { Effect, Schema } from "effect"
import { CurrentActor, type FulfillmentId, InvalidTransition, NotFound, Text } from "stoa/plugin"
import { inTransaction, Market } from "../Market.ts"
import { lockOrder } from "../refunds/OrderLockRepo.ts"
import { permitted } from "../refunds/SubOrderRefunds.ts"
import { WebAddress } from "../vendors/Vendor.ts"
import type { SubOrder } from "./SubOrder.ts"

/** What a parcel is known by. */
export const Parcel = Schema.Struct({
  trackingNumber: Text,
  carrier: Schema.optional(Text),
  trackingUrl: Schema.optional(WebAddress)
})
export type Parcel = typeof Parcel.Type

/** Work that belongs to a parcel's change; it is given the id of the fulfillment that the sub-order has from then on. */
type Beside<A, E> = (fulfillmentId: FulfillmentId | null) => Effect.Effect<A, E, CurrentActor | Market>

/*
 * Parcels of vendors as fulfillments of the core, so that the customer's order shows them and their units leave the stock
 * (contract, plugins §1.2). Fulfillment and sub-order change in one transaction that locks the order first. Units that staff
 * sent already are not sent again.
 */

const unitsOf = ({ lineItems }: SubOrder) => [{ lineIds: lineItems.map(({ orderLineId }) => orderLineId) }]

/** The change of the fulfillment follows from the sub-order's. */
const change = Effect.fnUntraced(
  function*({ orderId }: SubOrder, fulfillmentId: FulfillmentId, status: "delivered" | "cancelled") {
    const { host } = yield* Market
    const changed = host.services.fulfillment.change(orderId, fulfillmentId, { status })
    return yield* Effect.updateService(changed, CurrentActor, permitted)
  }
)

/** Sends what of the sub-order is not sent yet. 422 while its order is not paid. */
export const send = Effect.fn("Parcels.send")(function*<A, E>(
  of: SubOrder,
  { carrier, trackingNumber, trackingUrl }: Partial<Parcel>,
  beside: Beside<A, E>
) {
  const market = yield* Market
  return yield* market.host.services.fulfillment.sendLines(
    of.orderId,
    unitsOf(of),
    { status: "shipped", carrier, trackingNumber, trackingUrl },
    (made) => Effect.provideService(beside(made?.id ?? of.fulfillmentId), Market, market)
  )
})

/** Marks its parcel as arrived, and unsent units too; with the last one its order is fulfilled. */
export const arrive = Effect.fn("Parcels.arrive")(function*<A, E>(of: SubOrder, beside: Beside<A, E>) {
  const market = yield* Market
  const { fulfillment } = market.host.services
  const arrived = Effect.fnUntraced(function*(made: FulfillmentId | undefined) {
    if (of.fulfillmentId !== null) {
      // What staff has ended otherwise stays as they said.
      yield* Effect.catchIf(
        change(of, of.fulfillmentId, "delivered"),
        Schema.is(Schema.Union([NotFound, InvalidTransition])),
        () => Effect.void
      )
    }
    const moved = yield* beside(of.fulfillmentId ?? made ?? null)
    yield* Effect.updateService(fulfillment.conclude(of.orderId), CurrentActor, permitted)
    return moved
  })
  return yield* fulfillment.sendLines(
    of.orderId,
    unitsOf(of),
    { status: "delivered" },
    (made) => Effect.provideService(arrived(made?.id), Market, market)
  )
})

/** Takes its parcel back, with its units: 422 for one that cannot be cancelled any more. */
export const cancelShipment = Effect.fn("Parcels.cancelShipment")(
  function*<A, E>(of: SubOrder, beside: Beside<A, E>) {
    yield* (yield* Market).db.use(lockOrder)(of.orderId)
    if (of.fulfillmentId !== null) yield* change(of, of.fulfillmentId, "cancelled")
    return yield* beside(null)
  },
  (work) => inTransaction(work)
)
