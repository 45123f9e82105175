import { Schema } from "effect"
import { EntityId, group } from "stoa/plugin"
import { ownVendor, portal } from "../parties/VendorPortal.ts"
import { vendorEntities, VendorProduct } from "./VendorProduct.ts"
import { linkProduct, listProducts, unlinkProduct } from "./VendorProducts.ts"

const g = group("Marketplace vendors", "/marketplace")
const permission = "marketplace:admin"

export const productRoutes = [
  g.list("/vendors/:id/products", { summary: "List what a vendor sells", permission, success: VendorProduct })
    .handle(({ page, params }) => listProducts(params.id, page)),
  g.post("/vendors/:id/products", {
    summary: "Say that an entity of the catalog is this vendor's",
    permission,
    input: Schema.Struct({ entityId: EntityId }),
    success: vendorEntities.Row
  }).handle(({ input, params }) => linkProduct(params.id, input.entityId)),
  g.delete("/vendors/:id/products/:entityId", {
    summary: "Say that an entity is the store's own again",
    permission,
    success: vendorEntities.Row
  }).handle(({ params }) => unlinkProduct(params.id, EntityId.make(params.entityId))),
  group("Marketplace vendor portal", "/marketplace").list("/vendor/me/products", {
    ...portal,
    summary: "List what the own vendor sells",
    success: VendorProduct
  }).handle(({ actor, page }) => listProducts(ownVendor(actor), page))
]
