import { Schema } from "effect"
import { EntityId, Time, Uuid } from "stoa/plugin"
import type { VendorRow } from "../vendors/Vendor.ts"

/** Fields of the vendor that the catalog shows with its entities (contract, plugins §1.3). */
export type ShownVendor = Pick<VendorRow, "id" | "name" | "slug" | "status" | "tier" | "logoUrl">

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
