import { Effect, Schema } from "effect"
import { about, EntityId, MinorUnits, notFound, type PluginCall, Text, Time } from "stoa/plugin"
import { byCode, byText, Found, StockHere, stockOf } from "./LookupRepo.ts"
import { transactions } from "./Sales.ts"
import { operate, routes, tillOrDevice } from "./Terminals.ts"

class NoSuchCode extends notFound("PosCode", "Nothing that is sold has this code.") {}

const shape = Schema.String.check(Schema.isBetweenLength(1, 200))

const Match = Schema.Struct({
  ...Found.fields,
  others: Schema.Array(Found).annotate({ description: "Other goods with this code." })
})

const lookup = (column: "barcode" | "sku") =>
  routes.get(`/lookup/${column}/:code`, {
    summary: `Find goods by their ${column}`,
    description: "The first of those that have it, by slug, with the `others`. 404 without any that is active.",
    ...tillOrDevice,
    params: { code: Text },
    success: Match
  }).handle(({ db, params }) =>
    Effect.flatMap(
      db.use(byCode)(column, params.code),
      ([found, ...others]) => found === undefined ? new NoSuchCode() : Effect.succeed({ ...found, others })
    )
  )

const OrderForReturn = Schema.Struct({
  orderId: Schema.String,
  orderNumber: Schema.String,
  currency: Schema.String,
  placedAt: Time,
  lines: Schema.Array(Schema.Struct({
    originalLineItemId: Schema.String,
    title: Schema.String,
    sku: Schema.NullOr(Schema.String),
    quantity: Schema.Int,
    returnable: Schema.Int.annotate({ description: "Units that can still come back." }),
    totalPrice: MinorUnits,
    discountAmount: MinorUnits
  })),
  tenders: Schema.Array(Schema.Struct({
    method: Schema.String.pipe(about("Payment provider, such as `stripe` or `gift-card`.")),
    label: Schema.String,
    captured: Schema.Int.pipe(about("Minor units that were taken, before refunds."))
  })).pipe(about("Payments of the order."))
})

/** An order by its number or id, or by the number of a receipt, without its buyer. */
const orderForReturn = Effect.fnUntraced(function*({ asStore, db, services }: PluginCall, name: string) {
  const receipt = yield* db.table(transactions).first({ receiptNumber: name })
  const order = yield* asStore(services.orders.get(receipt?.orderId ?? name))
  return {
    orderId: order.id,
    orderNumber: order.orderNumber,
    currency: order.currency,
    placedAt: order.placedAt,
    lines: order.lineItems.map(({ discountAmount, id, quantity, refundedQuantity, sku, title, totalPrice }) => ({
      originalLineItemId: id,
      title,
      sku,
      quantity,
      returnable: quantity - refundedQuantity,
      totalPrice,
      discountAmount
    })),
    tenders: order.tenders.map(({ captured, label, method }) => ({ method, label, captured }))
  }
})

/** What a till asks while it sells (contract-tills-channels §A.10). */
export const lookupRoutes = [
  lookup("barcode"),
  lookup("sku"),
  routes.get("/lookup/search", {
    summary: "Find goods by a part of title, slug or SKU",
    description: "At most 20.",
    ...tillOrDevice,
    query: { q: shape },
    success: Schema.Array(Found)
  }).handle(({ db, query: { q } }) => db.use(byText)(q)),
  routes.get("/lookup/order/:number", {
    summary: "Find an order for a return",
    description: "By its number or id, or by the number of a receipt. 404 without it.",
    permission: operate,
    params: { number: Text },
    success: OrderForReturn
  }).handle((call) => orderForReturn(call, call.params.number)),
  routes.get("/lookup/stock/:entityId", {
    summary: "Get the available stock of goods, by warehouse",
    ...tillOrDevice,
    success: Schema.Array(StockHere)
  }).handle(({ asStore, db, params, services }) =>
    Effect.gen(function*() {
      const entityId = EntityId.make(params.entityId)
      yield* asStore(services.catalog.get(entityId, []))
      return yield* db.use(stockOf)(entityId)
    })
  )
]
