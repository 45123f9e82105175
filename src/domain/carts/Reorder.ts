import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"

/** Result of a reorder; `itemsFailed` names items by title. */
export const Reorder = Schema.Struct({
  cartId: Uuid,
  itemsAdded: Schema.Int,
  itemsFailed: Schema.Array(Schema.Struct({ item: Schema.String, reason: Schema.String }))
}).annotate({ identifier: "Reorder" })
export type Reorder = typeof Reorder.Type
