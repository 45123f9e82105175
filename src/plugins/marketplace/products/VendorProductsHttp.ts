import { Effect } from "effect"
import { EntityId } from "stoa/plugin"
import { ownVendor } from "../parties/VendorPortal.ts"
import { VendorProducts } from "./VendorProducts.ts"
import { linkProduct, listOwnProducts, listProducts, unlinkProduct } from "./VendorProductsApi.ts"

/** Answers to the routes of `VendorProductsApi.ts`. */
export const productRoutes = [
  listProducts.handle(({ page, params }) =>
    Effect.flatMap(VendorProducts, (products) => products.list(params.id, page))
  ),
  linkProduct.handle(({ input, params }) =>
    Effect.flatMap(VendorProducts, (products) => products.link(params.id, input.entityId))
  ),
  unlinkProduct.handle(({ params }) =>
    Effect.flatMap(VendorProducts, (products) => products.unlink(params.id, EntityId.make(params.entityId)))
  ),
  listOwnProducts.handle(({ actor, page }) =>
    Effect.flatMap(VendorProducts, (products) => products.list(ownVendor(actor), page))
  )
]
