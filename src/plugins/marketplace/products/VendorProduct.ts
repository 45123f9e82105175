import { Schema, Struct } from "effect"
import { EntityId, Time, Uuid } from "stoa/plugin"
import { VendorView } from "../vendors/Vendor.ts"

/** Fields of the vendor that the catalog shows with its entities (contract, plugins §1.3). */
export const ShownVendor = Schema.Struct(
  Struct.pick(VendorView.fields, ["id", "name", "slug", "status", "tier", "logoUrl"])
)
export type ShownVendor = typeof ShownVendor.Type

/** A thing of a vendor's: the link, and what the catalog says of it; null when it is gone from there. */
export const VendorProduct = Schema.Struct({
  id: Uuid,
  vendorId: Uuid,
  entityId: EntityId,
  type: Schema.NullOr(Schema.String),
  slug: Schema.NullOr(Schema.String),
  status: Schema.NullOr(Schema.String),
  title: Schema.NullOr(Schema.String),
  createdAt: Time
}).annotate({ identifier: "MarketplaceProduct" })
export type VendorProduct = typeof VendorProduct.Type
