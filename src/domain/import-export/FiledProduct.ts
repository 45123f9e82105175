import { Schema } from "effect"
import { SortOrder } from "../catalog/FieldText.ts"
import { CatalogRecord } from "../catalog/import-export/CatalogRecord.ts"
import { Uuid } from "../ids/Id.ts"
import { MediaRole } from "../media/MediaAsset.ts"

const Label = Schema.String.check(Schema.isBetweenLength(1, 255))

/**
 * A medium of an entity, or of its variant with this SKU or these options. `id` is the id of an asset of the
 * organization: catalog files contain no media files. Without `sortOrder`, the position in the list counts.
 */
export const RecordMedium = Schema.Struct({
  id: Uuid,
  role: Schema.optional(MediaRole),
  sortOrder: Schema.optional(SortOrder),
  sku: Schema.optional(Label),
  options: Schema.optional(Schema.Record(Label, Label))
})
export type RecordMedium = typeof RecordMedium.Type

/** A record of a catalog's file: the entity, and what it shows. `media` takes the place of what it shows now. */
export const FiledProduct = Schema.Struct({
  ...CatalogRecord.fields,
  media: Schema.optional(Schema.Array(RecordMedium).check(Schema.isMaxLength(1000)))
}).annotate({ identifier: "FiledProduct" })
export type FiledProduct = typeof FiledProduct.Type
