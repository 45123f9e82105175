import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { Uuid } from "../../domain/ids/Id.ts"
import { ManualStock } from "../../domain/inventory/ManualStock.ts"
import { AdjustStock } from "../../domain/inventory/StockAdjustment.ts"
import { AdjustedLevel, StockLevel } from "../../domain/inventory/StockLevel.ts"
import { NewWarehouse, Warehouse } from "../../domain/inventory/Warehouse.ts"
import { InventoryGroup } from "../inventory/InventoryApi.ts"
import { RpcAccess } from "./RpcAccess.ts"
import { conflict, invalid, notFound } from "./RpcErrors.ts"
import { pageFields, pageOfRecords } from "./RpcLists.ts"
import { likeRoutes } from "./RpcRules.ts"

const like = likeRoutes(InventoryGroup)

const filters = { entityId: Schema.optional(Uuid), warehouseId: Schema.optional(Uuid) }
const changing = Schema.Union([notFound, conflict, invalid])

/** Stock and warehouses, as the routes under `/api/inventory` have them. Units. */
export const InventoryRpc = RpcGroup.make(
  Rpc.make("check", {
    payload: { entityIds: Schema.Array(Uuid).check(Schema.isMaxLength(100)) },
    success: Schema.Record(Schema.String, Schema.Int)
  }).annotateMerge(like("check")),
  Rpc.make("levels", { payload: { ...pageFields, ...filters }, success: pageOfRecords(StockLevel) })
    .annotateMerge(like("levels")),
  Rpc.make("stream", { payload: filters, success: StockLevel, stream: true }).annotateMerge(like("levels")),
  Rpc.make("adjust", { payload: AdjustStock, success: AdjustedLevel, error: changing }).annotateMerge(like("adjust")),
  Rpc.make("reserve", { payload: ManualStock, error: changing }).annotateMerge(like("reserve")),
  Rpc.make("release", { payload: ManualStock, error: notFound }).annotateMerge(like("release")),
  Rpc.make("createWarehouse", { payload: NewWarehouse, success: Warehouse, error: changing })
    .annotateMerge(like("createWarehouse")),
  Rpc.make("warehouses", { payload: pageFields, success: pageOfRecords(Warehouse) })
    .annotateMerge(like("listWarehouses"))
).prefix("inventory.").middleware(RpcAccess)
