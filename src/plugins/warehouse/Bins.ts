import { Effect } from "effect"
import { boolean, idOf, notFound, oneOf, type PluginDatabase, resource, table, text, WarehouseId } from "stoa/plugin"
import { admin, read, routes, someUnits } from "./Documents.ts"
import { warehouseNames } from "./StockRepo.ts"

/** Places within a warehouse. */
export const bins = table("warehouse_bins", {
  warehouseId: idOf(WarehouseId).existing("warehouse"),
  code: text,
  name: text,
  type: oneOf(["general", "cold", "frozen", "dry", "hazardous", "display"]).default("general"),
  isActive: boolean.default(true),
  capacity: someUnits.nullable
}, { counted: ["warehouseId"], unique: [{ columns: ["warehouseId", "code"] }] })

class BinWarehouseNotFound extends notFound("BinWarehouse", "No such warehouse.") {}

/** 404 for a warehouse that the organization does not have. */
const inWarehouse = Effect.fnUntraced(function*(db: PluginDatabase["Service"], id: WarehouseId | undefined) {
  if (id !== undefined && (yield* warehouseNames(db, [id])).size === 0) return yield* new BinWarehouseNotFound()
})

export const binRoutes = resource(routes, "/bins", bins, {
  noun: "bin",
  read,
  write: admin,
  filters: ["warehouseId", "type", "isActive"],
  search: ["code", "name"],
  create: ({ db, input }) => Effect.andThen(inWarehouse(db, input.warehouseId), db.table(bins).insert(input)),
  patch: ({ db, input, which }) =>
    Effect.andThen(inWarehouse(db, input.warehouseId), db.table(bins).update(which, input))
})
