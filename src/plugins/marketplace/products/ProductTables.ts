import { EntityId, idOf, table, uuid } from "stoa/plugin"
import { vendors } from "../vendors/VendorTables.ts"

/** Whose thing an entity of the catalog is; an entity without a row belongs to the store itself. */
export const vendorEntities = table("marketplace_vendor_entities", {
  vendorId: uuid.references(vendors),
  entityId: idOf(EntityId).unique()
}, { indexes: [{ columns: ["vendorId", "createdAt"], descending: true }] })
