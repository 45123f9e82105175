import { Effect } from "effect"
import { businessDate, LocalTimeZone, type PluginDatabase, type RawCall } from "stoa/plugin"
import { boms } from "./Bom.ts"
import { orders, type ProductionOrder } from "./ProductionOrder.ts"
import { consumptionOf } from "./ProductionOrders.ts"
import { explode, recipesOf } from "./Recipe.ts"

/** What an order takes: what was recorded, else what its recipe says. */
const materialsOf = Effect.fnUntraced(function*(db: PluginDatabase, order: ProductionOrder) {
  const recorded = yield* consumptionOf(db, order.id)
  const { recipes } = yield* recipesOf(db, order.bomId)
  const explosion = explode(recipes, order.quantity)
  const names = new Map(recipes.flatMap(({ lines }) => lines.map(({ item }) => [item.entityId, item.itemName])))
  return recorded.length === 0
    ? explosion.map(({ itemName, quantity }) => ({ title: itemName, cells: [String(quantity.ceil()), "", ""] }))
    : recorded.map(({ actualQuantity, batchNumber, entityId, lots, plannedQuantity }) => ({
      title: names.get(entityId) ?? entityId,
      cells: [
        String(Number(plannedQuantity)),
        String(Number(actualQuantity)),
        batchNumber ?? lots.map((lot) => lot.batchNumber).join(", ")
      ]
    }))
})

/** The paper that goes along with production: what is made, of what, when and how much came out. */
export const printOrder = ({ db, params, services }: RawCall<unknown, { readonly id: string }>) =>
  Effect.gen(function*() {
    const order = yield* db.table(orders).get(params.id)
    const bom = yield* db.table(boms).get(order.bomId)
    const shown = (label: string, value: string | number | null) =>
      value === null ? [] : [{ label, value: String(value) }]
    return yield* services.printing.pdf({
      title: "Production order",
      number: order.orderNumber,
      date: order.createdAt,
      facts: [
        ...shown("Product", bom.name),
        ...shown("Version", bom.version),
        ...shown("Status", order.status),
        ...shown("Planned for", businessDate(order.plannedDate, yield* LocalTimeZone)),
        ...shown("Produced by", order.producedBy),
        ...shown("Batch", order.batchNumber)
      ],
      columns: ["Material", "Planned", "Used", "Batch"],
      rows: yield* materialsOf(db, order),
      totals: [
        ...shown("Ordered", order.quantity),
        ...shown("Produced", order.producedQuantity),
        ...shown("Scrap", order.scrapQuantity)
      ],
      notes: order.notes === null ? [] : [order.notes]
    })
  })
