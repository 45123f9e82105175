import { Context, Effect, Layer, Schema } from "effect"
import {
  Conflict,
  conflict,
  type CurrentActor,
  type EntityId,
  isUuid,
  type NotFound,
  notFound,
  type PageOf,
  type PageRequest,
  PluginDatabase,
  RowNotFound,
  type RowOf,
  type ValidationFailed
} from "stoa/plugin"
import { vendors } from "../vendors/VendorTables.ts"
import { ApprovedCategories } from "./ApprovedCategories.ts"
import { vendorEntities } from "./ProductTables.ts"
import type { ShownVendor, VendorProduct } from "./VendorProduct.ts"
import {
  type Claimed,
  claimed,
  idsOf,
  insertLinks,
  isInCatalog,
  type ProductLink,
  productsOf,
  vendorsOf
} from "./VendorProductRepo.ts"

class EntityNotFound extends notFound("Entity", "Catalog entity not found.") {}
class EntityTaken extends conflict("EntityTaken", "This entity has a vendor already: take it from that one first.") {}

type Link = RowOf<typeof vendorEntities>

/** Whose the things of the catalog are: one vendor's, or the store's own (contract, plugins §1.3). */
export class VendorProducts extends Context.Service<VendorProducts, {
  readonly list: (vendorId: string, page: PageRequest) => Effect.Effect<PageOf<VendorProduct>, NotFound, CurrentActor>
  /** 404 for an unknown vendor or entity, 409 for one that has a vendor already, 422 for one in a category not approved. */
  readonly link: (
    vendorId: string,
    entityId: EntityId
  ) => Effect.Effect<Link, NotFound | Conflict | ValidationFailed, CurrentActor>
  /** Makes entities vendors' own, but for those that have a vendor already or are of a vendor that is not there. */
  readonly linkAll: (links: ReadonlyArray<ProductLink>) => Effect.Effect<void, never, CurrentActor>
  readonly unlink: (vendorId: string, entityId: EntityId) => Effect.Effect<Link, NotFound | Conflict, CurrentActor>
  /** Forgets whose an entity was that is gone. */
  readonly forget: (entityId: EntityId) => Effect.Effect<void, NotFound | Conflict, CurrentActor>
  /** By entity; what is the store's own has no entry. One statement. */
  readonly vendorsOf: (
    entityIds: ReadonlyArray<EntityId>
  ) => Effect.Effect<ReadonlyMap<string, ShownVendor>, never, CurrentActor>
  /** Whose an entity is and whose its metadata says it is; undefined for one that the catalog does not have. */
  readonly claimed: (entityId: EntityId) => Effect.Effect<Claimed | undefined, never, CurrentActor>
  /** Ids of all that is a vendor's; undefined for a vendor that the organization does not have. */
  readonly idsOf: (vendorId: string) => Effect.Effect<ReadonlyArray<EntityId> | undefined, never, CurrentActor>
}>()("stoa/plugins/marketplace/products/VendorProducts") {
  static readonly layer = Layer.effect(VendorProducts, Effect.suspend(() => make))
}

const make = Effect.gen(function*() {
  const db = yield* PluginDatabase
  const categories = yield* ApprovedCategories
  const links = db.table(vendorEntities)

  const list = (vendorId: string, page: PageRequest) =>
    Effect.andThen(db.table(vendors).get(vendorId), productsOf(db.sql, vendorId, page))

  const link = Effect.fn("VendorProducts.link")(function*(vendorId: string, entityId: EntityId) {
    yield* db.table(vendors).get(vendorId)
    if (!(yield* isInCatalog(db.sql, entityId))) return yield* new EntityNotFound()
    yield* categories.admitEntity(vendorId, entityId)
    return yield* Effect.catchIf(
      links.insert({ vendorId, entityId }),
      Schema.is(Conflict),
      () => new EntityTaken()
    )
  })

  const unlink = Effect.fn("VendorProducts.unlink")(function*(vendorId: string, entityId: EntityId) {
    const found = yield* links.first({ vendorId, entityId })
    return found === undefined ? yield* new RowNotFound() : yield* links.delete(found.id)
  })

  const forget = Effect.fn("VendorProducts.forget")(function*(entityId: EntityId) {
    const found = yield* links.first({ entityId })
    if (found !== undefined) yield* links.delete(found.id)
  })

  return VendorProducts.of({
    list,
    link,
    unlink,
    forget,
    linkAll: (made) => made.length === 0 ? Effect.void : insertLinks(db.sql, made),
    claimed: (entityId) => isUuid(entityId) ? claimed(db.sql, entityId) : Effect.succeed(undefined),
    vendorsOf: (entityIds) => vendorsOf(db.sql, entityIds),
    idsOf: (vendorId) => isUuid(vendorId) ? idsOf(db.sql, vendorId) : Effect.succeed(undefined)
  })
})
