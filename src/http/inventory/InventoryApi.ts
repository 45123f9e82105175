import { Schema, SchemaGetter } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { AdjustStock, ManualStock } from "../../domain/inventory/StockAdjustment.ts"
import {
  AdjustedLevel,
  AvailableStock,
  NewWarehouse,
  StockLevel,
  Warehouse
} from "../../domain/inventory/StockLevel.ts"
import { Access, anyOf } from "../../domain/platform/access/AccessRule.ts"
import { EntityId, WarehouseId } from "../../domain/platform/ids/Id.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import { guarded, lists, summary } from "../endpoint/Resource.ts"
import { Data, Page } from "../envelope/Envelope.ts"
import { IdempotentChange } from "../middleware/Idempotency.ts"

const most = 100

const split = (text: string): ReadonlyArray<string> => [
  ...new Set(text.split(",").map((id) => id.trim()).filter((id) => id !== ""))
]

export const EntityIds = Schema.String.annotate({ description: "UUIDs separated by commas, at most 100." }).pipe(
  Schema.decodeTo(Schema.Array(EntityId).check(Schema.isMaxLength(most)), {
    decode: SchemaGetter.transform(split),
    encode: SchemaGetter.transform((ids) => ids.join(","))
  })
)

/** Stock and warehouses (spec 4, contract 6). */
export const InventoryGroup = guarded(
  "inventory",
  HttpApiEndpoint.get("check", "/api/inventory/check", {
    query: { entityIds: Schema.optional(EntityIds) },
    success: Data(AvailableStock)
  })
    .annotate(Access, anyOf("inventory:read"))
    .annotateMerge(summary(
      "List units that can be sold, by entity",
      "Summed over all variants and all active warehouses; 0 for an unknown entity, null for one that is not counted. " +
        "At most 100 ids, comma-separated."
    )),
  HttpApiEndpoint.get("levels", "/api/inventory/levels", {
    query: { ...pageQuery, entityId: Schema.optional(EntityId), warehouseId: Schema.optional(WarehouseId) },
    success: Page(StockLevel)
  })
    .annotate(Access, anyOf("inventory:read"))
    .annotateMerge(summary("List stock levels", "One per variant (else entity) and warehouse.")),
  HttpApiEndpoint.post("adjust", "/api/inventory/adjust", { payload: AdjustStock, success: Data(AdjustedLevel) })
    .annotate(Access, anyOf("inventory:adjust"))
    .annotate(IdempotentChange, true)
    .annotateMerge(summary(
      "Change what is on hand",
      "By type and quantity, by a signed adjustment, or by mode and amount. Refused below zero or below what is " +
        "reserved; mode remove takes what is there instead."
    )),
  HttpApiEndpoint.post("reserve", "/api/inventory/reserve", {
    payload: ManualStock,
    success: Data(Schema.Struct({ reserved: Schema.Literal(true) }))
  })
    .annotate(Access, anyOf("inventory:adjust"))
    .annotate(IdempotentChange, true)
    .annotateMerge(summary("Reserve units for an order", "The same order again adds. It never runs out by itself.")),
  HttpApiEndpoint.post("release", "/api/inventory/release", {
    payload: ManualStock,
    success: Data(Schema.Struct({ released: Schema.Literal(true) }))
  })
    .annotate(Access, anyOf("inventory:adjust"))
    .annotate(IdempotentChange, true)
    .annotateMerge(summary("Release units of an order", "At most what was reserved by hand for the same order.")),
  HttpApiEndpoint.post("createWarehouse", "/api/inventory/warehouses", {
    payload: NewWarehouse,
    success: Data(Warehouse).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("inventory:adjust"))
    .annotateMerge(summary("Create a warehouse", "Its code is unique in the organization.")),
  lists(
    "listWarehouses",
    "/api/inventory/warehouses",
    Warehouse,
    "List warehouses",
    "By priority, the first to be taken from first."
  )
    .annotate(Access, anyOf("inventory:read"))
)
