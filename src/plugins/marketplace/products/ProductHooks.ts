import { Effect } from "effect"
import { afterHook, beforeHook, type EntityId, holds, HookRefusal, isUuid } from "stoa/plugin"
import { Market } from "../Market.ts"
import { admitCategories } from "./ApprovedCategories.ts"
import { checkClaim, claimOf, claimOfNew, settleClaims } from "./ProductClaims.ts"
import { vendorEntities } from "./VendorProduct.ts"
import { claimed, idsOf, vendorsOf } from "./VendorProductRepo.ts"
import { forgetProduct } from "./VendorProducts.ts"

/** Refuses what belongs to a vendor that may not sell (contract, plugins §1.2). One statement for all of it. */
const sellable = Effect.fnUntraced(function*(lines: ReadonlyArray<{ readonly entityId: EntityId }>) {
  const { db } = yield* Market
  for (const [, { name, status }] of yield* db.use(vendorsOf)(lines.map(({ entityId }) => entityId))) {
    if (status !== "approved") return yield* Effect.fail(new HookRefusal(`${name} does not sell at the moment.`))
  }
})

/** Lays their vendors upon entities as they are read; one statement for a page. */
const show = Effect.fnUntraced(function*(entities: ReadonlyArray<{ readonly id: EntityId }>) {
  const owners = yield* (yield* Market).db.use(vendorsOf)(entities.map(({ id }) => id))
  for (const entity of entities) {
    const vendor = owners.get(entity.id)
    if (vendor !== undefined) Object.assign(entity, { marketplace: { vendor } })
  }
})

/** Whose a thing of the catalog is, where it may lie, and who sees and buys it (contract, plugins §1.3). */
export const productHooks = [
  beforeHook("catalog.beforeCreate", ({ data }) =>
    Effect.map(
      claimOfNew(data.metadata),
      (vendorId) => vendorId === undefined ? {} : { metadata: { ...data.metadata, vendorId } }
    )),
  beforeHook("catalog.beforeUpdate", ({ context: { entityId }, data }) => {
    const claim = claimOf(data.metadata)
    return entityId === undefined || claim === undefined ? Effect.void : checkClaim(entityId, claim)
  }),
  // Without an id it is about to be made.
  beforeHook("catalog.beforeCategorize", ({ data: { categories, entityId, metadata } }) =>
    Effect.gen(function*() {
      const { db } = yield* Market
      const known = entityId === null || !isUuid(entityId) ? undefined : yield* db.use(claimed)(entityId)
      const vendorId = known?.vendorId ?? claimOf(metadata)
      if (typeof vendorId === "string" && isUuid(vendorId)) yield* admitCategories(vendorId.toLowerCase(), categories)
    })),
  // In the transaction of a batch of an import: nothing of it is in the catalog without its vendor.
  beforeHook("catalog.beforeCommit", ({ data: { created, updated } }) =>
    settleClaims([
      ...created,
      ...updated.flatMap(({ entity, old }) => claimOf(entity.metadata) === claimOf(old.metadata) ? [] : [entity])
    ])),
  // What another hook has made of the claim since counts no more than what was claimed: it is looked at again.
  afterHook("catalog.afterCreate", ({ result }) => settleClaims([result])),
  afterHook(
    "catalog.afterUpdate",
    ({ data, result }) =>
      data === null || claimOf(data.metadata) === claimOf(result.metadata)
        ? Effect.void
        : settleClaims([result])
  ),
  afterHook("catalog.afterDelete", ({ result }) => forgetProduct(result.id)),
  afterHook("catalog.afterRead", ({ result }) => show([result]), { entitiesIn: vendorEntities }),
  afterHook("catalog.afterList", ({ result }) => show(result.items), { entitiesIn: vendorEntities }),
  beforeHook("catalog.beforeList", ({ context: { actor } }) =>
    Effect.gen(function*() {
      if (actor.vendorId === null || !isUuid(actor.vendorId) || holds(actor, "marketplace:admin")) return {}
      // Who acts for a vendor of another store is a shopper like others here.
      const ids = yield* (yield* Market).db.use(idsOf)(actor.vendorId)
      return ids === undefined ? {} : { ids }
    }), { onlyFor: ({ vendorId }) => vendorId !== null }),
  beforeHook("cart.beforeAddItem", ({ data }) => sellable([data]), { entitiesIn: vendorEntities }),
  beforeHook("checkout.beforePayment", ({ data }) => sellable(data.lineItems), { entitiesIn: vendorEntities })
]
