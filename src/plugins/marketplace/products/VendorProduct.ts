import { Schema, Struct } from "effect"
import { about, EntityId, fieldsOf, idOf, table, uuid } from "stoa/plugin"
import { vendors, VendorView } from "../vendors/Vendor.ts"

/** Whose thing an entity of the catalog is; an entity without a row belongs to the store itself. */
export const vendorEntities = table("marketplace_vendor_entities", {
  vendorId: uuid.references(vendors),
  entityId: idOf(EntityId).unique()
}, { indexes: [{ columns: ["vendorId", "createdAt"], descending: true }] })

/** Fields of the vendor that the catalog shows with its entities (contract, plugins §1.3). */
export const ShownVendor = Schema.Struct(
  Struct.pick(VendorView.fields, ["id", "name", "slug", "status", "tier", "logoUrl"])
)

/** A thing of a vendor's: the link, and what the catalog says of it; null when it is gone from there. */
export const VendorProduct = Schema.Struct({
  ...Struct.pick(fieldsOf(vendorEntities), ["id", "vendorId", "entityId", "createdAt"]),
  type: Schema.NullOr(Schema.String).pipe(about("Type of the entity; null: it was deleted.")),
  slug: Schema.NullOr(Schema.String),
  status: Schema.NullOr(Schema.String).pipe(about("Status of the entity; null: it was deleted.")),
  title: Schema.NullOr(Schema.String)
}).annotate({ identifier: "MarketplaceProduct" })
