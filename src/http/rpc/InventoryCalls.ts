import { Effect } from "effect"
import { Inventory } from "../../domain/inventory/Inventory.ts"
import { InventoryRpc } from "./InventoryRpc.ts"
import { askedPage } from "./RpcLists.ts"
import { allPages } from "./RpcPages.ts"

/** Answers to the calls that `InventoryRpc.ts` declares. */
export const inventoryCalls = InventoryRpc.toLayer(Effect.gen(function*() {
  const inventory = yield* Inventory
  return InventoryRpc.of({
    "inventory.check": ({ entityIds }) => inventory.available(entityIds),
    "inventory.levels": ({ limit, page, ...filters }) => inventory.levels(filters, askedPage({ page, limit })),
    "inventory.stream": (filters) => allPages((page) => inventory.levels(filters, page)),
    "inventory.adjust": (adjustment) => inventory.adjust(adjustment),
    "inventory.reserve": (units) => inventory.reserve(units),
    "inventory.release": (units) => inventory.release(units),
    "inventory.createWarehouse": (warehouse) => inventory.createWarehouse(warehouse),
    "inventory.warehouses": (page) => inventory.warehouses(askedPage(page))
  })
}))
