import { boolean, idOf, oneOf, resource, table, text, WarehouseId } from "stoa/plugin"
import { admin, read, routes, someUnits } from "./Documents.ts"

/** Places within a warehouse. */
export const bins = table("warehouse_bins", {
  warehouseId: idOf(WarehouseId).existing("warehouse"),
  code: text.about("Label of the bin."),
  name: text,
  type: oneOf(["general", "cold", "frozen", "dry", "hazardous", "display"]).default("general").about(
    "Kind of storage."
  ),
  isActive: boolean.default(true),
  /** Stock is counted by warehouse, not by bin. */
  capacity: someUnits.nullable.forPeople.about("Units that fit in.")
}, { unique: [{ columns: ["warehouseId", "code"] }] })

export const binRoutes = resource(routes, "/bins", bins, {
  noun: "bin",
  read,
  write: admin,
  filters: ["warehouseId", "type", "isActive"],
  search: ["code", "name"]
})
