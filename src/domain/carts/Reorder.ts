import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"

/** What became of a reorder: the new cart, and by its title each thing that did not get into it, with the reason. */
export const Reorder = Schema.Struct({
  cartId: Uuid,
  itemsAdded: Schema.Int,
  itemsFailed: Schema.Array(Schema.Struct({ item: Schema.String, reason: Schema.String }))
}).annotate({ identifier: "Reorder" })
export type Reorder = typeof Reorder.Type
