import { Context, Effect, Layer, Schema } from "effect"
import { CurrentActor, type FulfillmentId, InvalidTransition, NotFound, PluginDatabase, PluginHost } from "stoa/plugin"
import { lockOrder } from "../refunds/OrderLockRepo.ts"
import { permitted } from "../refunds/SubOrderRefunds.ts"
import type { SubOrder } from "./SubOrder.ts"

/** What a parcel is known by. */
export interface Parcel {
  readonly trackingNumber: string
  readonly carrier?: string | undefined
  readonly trackingUrl?: string | undefined
}

/** Work that belongs to a parcel's change; it is given the id of the fulfillment that the sub-order has from then on. */
type Beside<A, E> = (fulfillmentId: FulfillmentId | null) => Effect.Effect<A, E, CurrentActor>

/**
 * Parcels of vendors as fulfillments of the core, so that the customer's order shows them and their units leave the stock
 * (contract, plugins §1.2). Fulfillment and sub-order change in one transaction that locks the order first. Units that staff
 * sent already are not sent again.
 */
export class Parcels extends Context.Service<Parcels>()("stoa/plugins/marketplace/suborders/Parcels", {
  make: Effect.gen(function*() {
    const db = yield* PluginDatabase
    const host = yield* PluginHost

    const lineIds = ({ lineItems }: SubOrder) => lineItems.map(({ orderLineId }) => orderLineId)

    /** The change of the fulfillment follows from the sub-order's. */
    const change = (of: SubOrder, fulfillmentId: FulfillmentId, status: "delivered" | "cancelled") =>
      Effect.updateService(
        host.services.fulfillment.change(of.orderId, fulfillmentId, { status }),
        CurrentActor,
        permitted
      )

    /** Sends what of the sub-order is not sent yet. 422 while its order is not paid. */
    const send = Effect.fn("Parcels.send")(
      <A, E>(of: SubOrder, { carrier, trackingNumber, trackingUrl }: Partial<Parcel>, beside: Beside<A, E>) =>
        host.services.fulfillment.sendLines(
          of.orderId,
          lineIds(of),
          { status: "shipped", carrier, trackingNumber, trackingUrl },
          (made) => beside(made?.id ?? of.fulfillmentId)
        )
    )

    /** Marks its parcel as arrived, and unsent units too; with the last one its order is fulfilled. */
    const arrive = Effect.fn("Parcels.arrive")(<A, E>(of: SubOrder, beside: Beside<A, E>) =>
      host.services.fulfillment.sendLines(
        of.orderId,
        lineIds(of),
        { status: "delivered" },
        Effect.fnUntraced(function*(made) {
          if (of.fulfillmentId !== null) {
            // What staff has ended otherwise stays as they said.
            yield* Effect.catchIf(
              change(of, of.fulfillmentId, "delivered"),
              Schema.is(Schema.Union([NotFound, InvalidTransition])),
              () => Effect.void
            )
          }
          const arrived = yield* beside(of.fulfillmentId ?? made?.id ?? null)
          yield* Effect.updateService(host.services.fulfillment.conclude(of.orderId), CurrentActor, permitted)
          return arrived
        })
      )
    )

    /** Takes its parcel back, with its units: 422 for one that cannot be cancelled any more. */
    const cancelShipment = Effect.fn("Parcels.cancelShipment")(function*<A, E>(of: SubOrder, beside: Beside<A, E>) {
      yield* lockOrder(db, of.orderId)
      if (of.fulfillmentId !== null) yield* change(of, of.fulfillmentId, "cancelled")
      return yield* beside(null)
    }, db.transaction)

    return { send, arrive, cancelShipment }
  })
}) {
  static readonly layer = Layer.effect(Parcels, Parcels.make)
}
