import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { Text } from "../text/Storable.ts"
import { maxUnits } from "./StockRules.ts"

/** Body of a reservation or a release by hand (contract 6). Without a warehouse: any, by priority. Units. */
export const ManualStock = Schema.Struct({
  entityId: Uuid,
  variantId: Schema.optional(Schema.NullOr(Uuid)),
  warehouseId: Schema.optional(Schema.NullOr(Uuid)),
  quantity: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxUnits })),
  orderId: Text,
  performedBy: Schema.optional(Schema.NullOr(Text))
}).annotate({ identifier: "InventoryReservation" })
/** See the schema of the same name. */
export type ManualStock = typeof ManualStock.Type
