import { Effect, Schema } from "effect"
import { Conflict, FulfillmentId, idOf, jsonOf, OrderId, type PluginDatabase, table, today } from "stoa/plugin"
import { Lots, TakenLot } from "./Lots.ts"
import { shippedUnits } from "./StockRepo.ts"

/** The lots that a fulfillment of an order took, by its units: where the units of a batch went. */
export const shippedLots = table("warehouse_shipped_lots", {
  fulfillmentId: idOf(FulfillmentId).unique(),
  orderId: idOf(OrderId),
  lots: jsonOf(Schema.Array(TakenLot))
}, { counted: false, indexes: [{ columns: ["orderId"] }] })

/** Takes the lots of what a fulfillment shipped, first expired first out of those that are good, and once for each fulfillment. */
export const shipLots = (
  { db, event }: { readonly db: PluginDatabase; readonly event: { readonly entityId: string } }
) =>
  Effect.gen(function*() {
    const fulfillmentId = FulfillmentId.make(event.entityId)
    const units = yield* db.use(shippedUnits)(fulfillmentId)
    const [first] = units
    if (first === undefined) return
    const goodOn = yield* today
    const taken = yield* Lots.use(({ take }) => take(units.map((one) => ({ ...one, goodOn }))))
    yield* db.table(shippedLots).insert({ fulfillmentId, orderId: first.orderId, lots: taken.flat() })
  }).pipe(db.transaction, Effect.catchIf(Schema.is(Conflict), () => Effect.void))
