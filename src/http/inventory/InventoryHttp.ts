import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Inventory } from "../../domain/inventory/Inventory.ts"
import { pageOf } from "../../domain/platform/paging/Paging.ts"
import { InventoryGroup } from "./InventoryApi.ts"

const reserved = { reserved: true } as const
const released = { released: true } as const

export const inventoryHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(InventoryGroup),
  "inventory",
  Effect.fnUntraced(function*(handlers) {
    const inventory = yield* Inventory
    return handlers.handleAll({
      check: ({ query }) => inventory.available(query.entityIds ?? []),
      levels: ({ query }) => inventory.levels(query, pageOf(query)),
      adjust: ({ payload }) => inventory.adjust(payload),
      reserve: ({ payload }) => Effect.as(inventory.reserve(payload), reserved),
      release: ({ payload }) => Effect.as(inventory.release(payload), released),
      createWarehouse: ({ payload }) => inventory.createWarehouse(payload),
      listWarehouses: ({ query }) => inventory.warehouses(pageOf(query))
    })
  })
)
