import { Schema } from "effect"
import { EntityId, group } from "stoa/plugin"
import { portal } from "../parties/VendorPortal.ts"
import { vendorEntities } from "./ProductTables.ts"
import { VendorProduct } from "./VendorProduct.ts"

const g = group("Marketplace vendors", "/marketplace")
const own = group("Marketplace vendor portal", "/marketplace")
const permission = "marketplace:admin"

export const listProducts = g.list("/vendors/:id/products", {
  summary: "List what a vendor sells",
  permission,
  success: VendorProduct
})
export const linkProduct = g.post("/vendors/:id/products", {
  summary: "Say that an entity of the catalog is this vendor's",
  permission,
  input: Schema.Struct({ entityId: EntityId }),
  success: vendorEntities.Row
})
export const unlinkProduct = g.delete("/vendors/:id/products/:entityId", {
  summary: "Say that an entity is the store's own again",
  permission,
  success: vendorEntities.Row
})
export const listOwnProducts = own.list("/vendor/me/products", {
  summary: "List what the own vendor sells",
  ...portal,
  success: VendorProduct
})
