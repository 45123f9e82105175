import { Layer } from "effect"
import { analyticsModels } from "../../domain/inventory/analytics.ts"
import { HoldRepo } from "../../domain/inventory/HoldRepo.ts"
import { Inventory, OrderStock } from "../../domain/inventory/Inventory.ts"
import { ManualHoldRepo } from "../../domain/inventory/ManualHoldRepo.ts"
import { migrations } from "../../domain/inventory/migrations.ts"
import { OrderHoldRepo } from "../../domain/inventory/OrderHoldRepo.ts"
import { ReservationRepo } from "../../domain/inventory/ReservationRepo.ts"
import { StockPostingRepo } from "../../domain/inventory/StockPostingRepo.ts"
import { StockRepo } from "../../domain/inventory/StockRepo.ts"
import { WarehouseRepo } from "../../domain/inventory/WarehouseRepo.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { StockClient, stockEntityActor } from "../../entities/StockEntity.ts"
import { inventoryHttp } from "../../http/inventory/InventoryHttp.ts"
import { catalog } from "./catalog.ts"
import { tenancy } from "./tenancy.ts"

const repositories = Layer.mergeAll(
  HoldRepo.layer,
  ManualHoldRepo.layer,
  OrderHoldRepo.layer,
  ReservationRepo.layer,
  StockPostingRepo.layer,
  StockRepo.layer,
  WarehouseRepo.layer
)

/** Stock, warehouses and the stock entity (contract 6). */
export const inventory = defineModule({
  id: "inventory",
  requires: [tenancy, catalog],
  permissions: [
    { scope: "inventory:read", description: "See stock, levels and warehouses." },
    { scope: "inventory:adjust", description: "Change, reserve and release stock; create warehouses." }
  ],
  migrations,
  analyticsModels,
  services: Layer.mergeAll(Inventory.layer, OrderStock.layer, StockClient.layer).pipe(Layer.provideMerge(repositories)),
  actors: stockEntityActor(),
  routes: inventoryHttp
})
