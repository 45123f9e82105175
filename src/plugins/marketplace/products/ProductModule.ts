import { Layer } from "effect"
import { ApprovedCategories } from "./ApprovedCategories.ts"
import { productHooks } from "./ProductHooks.ts"
import { vendorEntities } from "./ProductTables.ts"
import { VendorProducts } from "./VendorProducts.ts"
import { productRoutes } from "./VendorProductsHttp.ts"

/** Whose the things of the catalog are. */
export const productModule = {
  tables: [vendorEntities],
  layer: Layer.provideMerge(VendorProducts.layer, ApprovedCategories.layer),
  routes: productRoutes,
  hooks: productHooks
}
