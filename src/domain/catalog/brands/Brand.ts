import { Schema } from "effect"
import { notFound } from "../../platform/errors/ErrorKinds.ts"
import { about } from "../../platform/hints/Hints.ts"
import { BrandId, OrganizationId } from "../../platform/ids/Id.ts"
import { keyText, Metadata, StorableObject } from "../../platform/text/Storable.ts"
import { Slug } from "../Entity.ts"

export class BrandNotFound extends notFound("Brand", "Brand not found.") {}

/** A manufacturer or label of catalog entities (contract §1.1). */
export const Brand = Schema.Struct({
  id: BrandId,
  organizationId: OrganizationId,
  slug: Schema.String,
  displayName: Schema.String.pipe(about("Name for shoppers.")),
  metadata: Metadata
}).annotate({ identifier: "Brand" })
export type Brand = typeof Brand.Type

const DisplayName = keyText(500)

export const NewBrand = Schema.Struct({
  slug: Slug,
  displayName: DisplayName.pipe(about("Name for shoppers.")),
  metadata: Schema.optional(StorableObject)
})
export type NewBrand = typeof NewBrand.Type

export const BrandChange = Schema.Struct({
  ...NewBrand.fields,
  slug: Schema.optional(Slug),
  displayName: Schema.optional(DisplayName).pipe(about("Name for shoppers."))
})
export type BrandChange = typeof BrandChange.Type
