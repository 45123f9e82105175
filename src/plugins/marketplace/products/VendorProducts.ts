import { Effect, Schema } from "effect"
import { Conflict, conflict, EntityId, group, notFound, type PageRequest } from "stoa/plugin"
import { Market, permission } from "../Market.ts"
import { ownVendor, portal } from "../parties/VendorPortal.ts"
import { vendors } from "../vendors/Vendor.ts"
import { admitCategories } from "./ApprovedCategories.ts"
import { vendorEntities, VendorProduct } from "./VendorProduct.ts"
import { claimed, productsOf } from "./VendorProductRepo.ts"

class EntityNotFound extends notFound("Entity", "Catalog entity not found.") {}
class LinkNotFound extends notFound("VendorProduct", "Not found.") {}
class EntityTaken extends conflict("EntityTaken", "This entity has a vendor already: take it from that one first.") {}

/*
 * Whose the things of the catalog are: one vendor's, or the store's own (contract, plugins §1.3).
 */

/** Newest first; 404 for an unknown vendor. */
const listProducts = (vendorId: string, page: PageRequest) =>
  Market.use(({ db }) => Effect.andThen(db.table(vendors).get(vendorId), db.use(productsOf)(vendorId, page)))

/** 404 for an unknown vendor or entity, 409 for one that has a vendor already, 422 for one in a category not approved. */
const linkProduct = Effect.fn("VendorProducts.link")(function*(vendorId: string, entityId: EntityId) {
  const { db } = yield* Market
  yield* db.table(vendors).get(vendorId)
  if ((yield* db.use(claimed)(entityId)) === undefined) return yield* new EntityNotFound()
  yield* admitCategories(vendorId, { entityId })
  return yield* Effect.catchIf(
    db.table(vendorEntities).insert({ vendorId, entityId }),
    Schema.is(Conflict),
    () => new EntityTaken()
  )
})

/** 404 for what is not this vendor's. */
const unlinkProduct = Effect.fn("VendorProducts.unlink")(function*(vendorId: string, entityId: EntityId) {
  const links = (yield* Market).db.table(vendorEntities)
  const found = yield* links.first({ vendorId, entityId })
  return found === undefined ? yield* new LinkNotFound() : yield* links.delete(found.id)
})

/** Forgets whose an entity was that is gone. */
export const forgetProduct = Effect.fn("VendorProducts.forget")(function*(entityId: EntityId) {
  const links = (yield* Market).db.table(vendorEntities)
  const found = yield* links.first({ entityId })
  if (found !== undefined) yield* links.delete(found.id)
})

const g = group("Marketplace vendors", "/marketplace")

export const productRoutes = [
  g.list("/vendors/:id/products", { summary: "List what a vendor sells", permission, success: VendorProduct })
    .handle(({ page, params }) => listProducts(params.id, page)),
  g.post("/vendors/:id/products", {
    summary: "Add an entity of the catalog to a vendor",
    permission,
    input: Schema.Struct({ entityId: EntityId }),
    success: vendorEntities.Row
  }).handle(({ input, params }) => linkProduct(params.id, input.entityId)),
  g.delete("/vendors/:id/products/:entityId", {
    summary: "Remove a product from a vendor",
    permission,
    success: vendorEntities.Row
  }).handle(({ params }) => unlinkProduct(params.id, EntityId.make(params.entityId))),
  group("Marketplace vendor portal", "/marketplace").list("/vendor/me/products", {
    ...portal,
    summary: "List what the own vendor sells",
    success: VendorProduct
  }).handle(({ actor, page }) => listProducts(ownVendor(actor), page))
]
