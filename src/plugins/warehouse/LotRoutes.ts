import { Effect, Schema, Struct } from "effect"
import {
  about,
  conflict,
  CurrentActor,
  date,
  EntityId,
  holds,
  inputOf,
  invalid,
  offsetOf,
  OrderId,
  text,
  timestamp,
  VariantId,
  WarehouseId
} from "stoa/plugin"
import { admin, operate, read, routes, type Tools } from "./Documents.ts"
import { giveBack, lots, place } from "./Lots.ts"
import { ordersOfBatch, unclaimedOf } from "./StockRepo.ts"

class MoreThanThere extends invalid(
  "MoreThanThere",
  "quantity",
  (most: number) => `quantity must be at most ${most}, the units on hand that no other lot claims.`
) {}
class CountedWhileBlocked
  extends invalid("CountedWhileBlocked", "quantity", "quantity stays while the lot is blocked: unblock it first.")
{}
class BlockedAlready extends conflict("BlockedAlready", (state: string) => `The lot is ${state} already.`) {}

const Why = Schema.Struct({ reason: text.schema })
const Correction = Schema.Struct({
  ...Why.fields,
  ...inputOf(lots, { optional: ["quantity", "expiryDate", "batchNumber"] }).fields
})

/** Corrects what a lot says; stock stays as it is. 404; 422 for more than is there, and the quantity of a blocked lot. */
const correct = Effect.fn("Lots.correct")(
  function*({ db }: Tools, id: string, change: typeof Correction.Type) {
    const { unclaimed } = yield* db.use(unclaimedOf)(yield* db.table(lots).get(id), true)
    const lot = yield* db.table(lots).lock(id)
    if (change.quantity !== undefined && lot.isBlocked) return yield* new CountedWhileBlocked()
    if ((change.quantity ?? 0) > Math.max(unclaimed, 0)) return yield* new MoreThanThere(Math.max(unclaimed, 0))
    return yield* db.table(lots).update(id, change)
  },
  (work, { db }) => db.transaction(work)
)

/** Blocks a lot and reserves its units as far as no order has them, or ends both. 404; 409 where it is so already. */
const block = Effect.fn("Lots.block")(
  function*({ db, services: { inventory } }: Tools, id: string, isBlocked: boolean, reason: string) {
    const { quantity, ...lot } = yield* db.table(lots).get(id)
    if (lot.isBlocked === isBlocked) return yield* new BlockedAlready(isBlocked ? "blocked" : "unblocked")
    // Stock is locked before its lots, as by every movement.
    if (!isBlocked) yield* giveBack(inventory, lot, lot.withheld)
    const { forSale } = isBlocked ? yield* db.use(unclaimedOf)(lot, false) : { forSale: 0 }
    const withheld = Math.min(quantity, forSale)
    if (withheld > 0) yield* inventory.reserve({ ...Struct.pick(lot, place), orderId: id, quantity: withheld })
    const before = { isBlocked: lot.isBlocked, withheld: lot.withheld, quantity }
    return yield* db.table(lots).update(id, { isBlocked, withheld, reason }, before)
  },
  (work, { db }) => db.transaction(work)
)

const one = "/lots/:id"
const Recalled = Schema.Struct({
  orderId: OrderId,
  orderNumber: Schema.String,
  email: Schema.NullOr(Schema.String),
  units: Schema.Int.pipe(about("Units of the lot that the order got.")),
  shippedAt: timestamp.schema
})

export const lotRoutes = [
  routes.list("/lots", {
    summary: "List lots that are in stock",
    description: "First those that expire first.",
    permission: read,
    query: {
      entityId: Schema.optional(EntityId),
      variantId: Schema.optional(VariantId),
      warehouseId: Schema.optional(WarehouseId),
      batchNumber: Schema.optional(text.schema),
      isBlocked: Schema.optional(Schema.Literals(["true", "false"])),
      expiringBefore: Schema.optional(date.schema.annotate({ description: "Only lots that expire before this day." }))
    },
    success: lots.Row
  }).handle(({ db, page, query: { expiringBefore, isBlocked, ...same } }) =>
    db.table(lots).page(
      {
        ...same,
        quantity: { gt: 0 },
        ...(isBlocked !== undefined && { isBlocked: isBlocked === "true" }),
        ...(expiringBefore !== undefined && { expiryDate: { lt: expiringBefore } })
      },
      page,
      ["expiryDate", "createdAt"]
    )
  ),
  routes.post(`${one}/correct`, {
    summary: "Correct a lot",
    description: "Stock stays as it is. 404 without it; 422 for more than is on hand and in no other lot.",
    permission: admin,
    input: Correction,
    success: lots.Row
  }).handle((call) => correct(call, call.params.id, call.input)),
  routes.post(`${one}/block`, {
    summary: "Block a lot",
    description: "Its units are not for sale, unless orders have them already. 404 without it; 409 when it is blocked.",
    permission: operate,
    input: Why,
    success: lots.Row
  }).handle((call) => block(call, call.params.id, true, call.input.reason)),
  routes.post(`${one}/unblock`, {
    summary: "Unblock a lot",
    description: "404 without it; 409 when it is not blocked.",
    permission: admin,
    input: Why,
    success: lots.Row
  }).handle((call) => block(call, call.params.id, false, call.input.reason)),
  routes.list(`${one}/orders`, {
    summary: "List the orders that got goods of a lot's batch",
    description: "From any warehouse. `email` is for readers of orders. 404 without the lot.",
    permission: read,
    success: Recalled
  }).handle(({ db, page, params }) =>
    Effect.gen(function*() {
      const lot = yield* db.table(lots).get(params.id)
      const seesEmail = holds(yield* CurrentActor, "orders:read")
      const slice = { limit: page.limit, offset: offsetOf(page) }
      return { ...page, ...yield* db.use(ordersOfBatch)(lot, seesEmail, slice) }
    })
  )
]
