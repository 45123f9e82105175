import { DateTime, Effect, Result, Schema } from "effect"
import {
  about,
  boolean,
  defineTask,
  EntityId,
  idOf,
  integerBetween,
  type PluginContext,
  resource,
  table,
  today,
  Uuid,
  uuid,
  VariantId,
  WarehouseId
} from "stoa/plugin"
import { type KnownUnits, Units } from "../uom/index.ts"
import { admin, create, read, routes, type Tools } from "./Documents.ts"
import { orders, type PurchaseOrder } from "./PurchaseOrder.ts"
import { draft } from "./PurchaseOrders.ts"
import { type Shortage, shortagesOf } from "./ReorderRepo.ts"
import { maxQuantity, pricesOf, type SupplierItem, supplierItems, suppliers } from "./Supplier.ts"

/** When there is less of a thing in a warehouse than the minimum, an order brings it to the target. Stock units. */
export const reorderRules = table("reorder_rules", {
  entityId: idOf(EntityId).existing("entity"),
  variantId: idOf(VariantId).existing("variant").nullable,
  warehouseId: idOf(WarehouseId).existing("warehouse"),
  /** Null: the preferred one of those that have a price, else the cheapest. */
  supplierId: uuid.references(suppliers).nullable,
  minQuantity: integerBetween(1, maxQuantity).about("Available units below which goods are ordered."),
  targetQuantity: integerBetween(1, maxQuantity).about("Units that are to be there after the order."),
  isActive: boolean.default(true)
}, {
  strict: true,
  unique: [
    { columns: ["entityId", "warehouseId"], where: "variant_id is null" },
    { columns: ["variantId", "warehouseId"], where: "variant_id is not null" }
  ],
  checks: { target: "target_quantity >= min_quantity" }
})

/** What is missing in the unit the thing is bought in; in stock units where that is no whole number of them. */
const asked = (known: KnownUnits, { entityId, missing }: Shortage) => {
  const units = known.of(entityId)
  if (units === undefined) return { uomId: null, quantity: missing }
  const [buying, stock] = [units.purchaseUomId, units.stockUomId]
  const quantity = known.convert(missing, { from: stock, to: buying }, entityId)?.ceil()
  const isWhole = quantity !== undefined && known.convert(quantity, { from: buying, to: stock }, entityId)?.isWhole
  return isWhole === true ? { uomId: buying, quantity } : { uomId: stock, quantity: missing }
}

interface Offer {
  readonly price: SupplierItem
  readonly quantity: number
}

/** A rule with what is asked for, and of whom. */
interface Found {
  readonly shortage: Shortage
  readonly uomId: string | null
  readonly offer: Offer | undefined
}

const bySupplier = (found: ReadonlyArray<Found>) => {
  const lines = found.flatMap(({ offer, ...one }) => offer === undefined ? [] : [{ ...one, ...offer }])
  const groups = Map.groupBy(lines, ({ price, shortage }) => `${price.supplierId} ${shortage.warehouseId}`)
  return [...groups.values()].flatMap((some) =>
    some.slice(0, 1).map(({ price: { supplierId }, shortage: { warehouseId } }) =>
      [{ supplierId, warehouseId }, some] as const
    )
  )
}

/** Preferred suppliers come first, then the lowest sum: a larger quantity may cost less. */
const cheapest = (offers: ReadonlyArray<Offer>): Offer | undefined =>
  offers.toSorted((a, b) =>
    Number(b.price.isPreferred) - Number(a.price.isPreferred) ||
    a.price.unitCost * a.quantity - b.price.unitCost * b.quantity
  )[0]

/** Drafts orders for what is missing by the rules of the organization. */
export const reordering = (storeCurrency: string) => {
  const offersFor = Effect.fnUntraced(function*({ db }: Tools, missing: ReadonlyArray<Shortage>) {
    const entityIds = missing.map(({ entityId }) => entityId)
    const known = yield* (yield* Units).known(entityIds)
    // An order in another currency needs an exchange rate, which a person says.
    const active = yield* db.table(suppliers).list({ isActive: true, currency: storeCurrency })
    const prices = yield* db.table(supplierItems).list({
      entityId: { in: entityIds },
      supplierId: { in: active.map(({ id }) => id) }
    })
    const day = yield* today
    return missing.map((one) => {
      const { quantity, uomId } = asked(known, one)
      const some = one.supplierId === null ? prices : prices.filter((price) => price.supplierId === one.supplierId)
      const offers = pricesOf(some, { ...one, uomId }, day, known.of(one.entityId)?.purchaseUomId ?? null)
        .map((price) => ({ price, quantity: Math.max(quantity, price.minOrderQuantity) }))
      return { shortage: one, uomId, offer: cheapest(offers) }
    })
  })

  /**
   * Drafts one order for each supplier and warehouse of which something is missing, and says which rules got none. Of runs at
   * the same time each counts what the ones before have drafted.
   */
  const run = Effect.fn("Reordering.run")(function*(tools: Tools) {
    yield* tools.db.turn("reorder")
    const found = yield* offersFor(tools, yield* tools.db.use(shortagesOf)())
    const skipped = found.filter(({ offer }) => offer === undefined).map(({ shortage }) => ({
      ruleId: shortage.ruleId,
      reason: "No supplier has a price for it."
    }))
    const drafted: Array<PurchaseOrder> = []
    for (const [{ supplierId, warehouseId }, lines] of bySupplier(found)) {
      const now = yield* DateTime.now
      const days = Math.max(...lines.map(({ price }) => price.leadTimeDays))
      const expectedDelivery = DateTime.toDateUtc(DateTime.add(now, { days }))
      const items = lines.map(({ price: { unitCost }, quantity, shortage: { entityId, variantId }, uomId }) => ({
        entityId,
        variantId,
        uomId,
        quantityOrdered: quantity,
        unitCost
      }))
      // One thing that cannot be ordered does not keep others from it. Nothing is written before all is known.
      const made = yield* Effect.result(
        draft(tools, storeCurrency, { supplierId, warehouseId, expectedDelivery, items })
      )
      if (Result.isSuccess(made)) drafted.push(made.success)
      else {
        skipped.push(
          ...lines.map(({ shortage }) => ({ ruleId: shortage.ruleId, reason: made.failure.error.message }))
        )
      }
    }
    return { orders: drafted, skipped }
  })

  return (tools: Tools) => tools.db.transaction(run(tools))
}

const Run = Schema.Struct({
  orders: Schema.Array(orders.Row),
  skipped: Schema.Array(Schema.Struct({ ruleId: Uuid, reason: Schema.String })).pipe(
    about("Rules of which nothing could be ordered.")
  )
})

/** Rules by which orders are drafted. */
export const reorderRoutes = ({ config }: PluginContext) => [
  ...resource(routes, "/reorder-rules", reorderRules, {
    noun: "reorder rule",
    read,
    write: admin,
    filters: ["entityId", "warehouseId", "supplierId", "isActive"]
  }),
  routes.post("/reorder", {
    summary: "Create draft orders of goods that are missing by the reorder rules",
    description:
      "The task `procurement/reorder` does so every hour. What drafts and orders ask for already is not asked for again.",
    permission: create,
    success: Run
  }).handle((call) => reordering(config.defaultCurrency)(call))
]

/** Drafts what is missing in every organization, each hour. */
export const reorderTask = ({ call, config }: PluginContext) =>
  defineTask({
    slug: "procurement/reorder",
    schedule: "0 * * * *",
    everyOrganization: true,
    handler: Effect.fnUntraced(function*() {
      const { orders, skipped } = yield* reordering(config.defaultCurrency)(yield* call)
      return { output: { drafted: orders.length, skipped: skipped.length } }
    })
  })
