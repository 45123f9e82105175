import { Effect } from "effect"
import { afterHook, beforeHook, type EntityId, holds, type Hook, HookRefusal } from "stoa/plugin"
import type { Vendors } from "../vendors/Vendors.ts"
import type { ApprovedCategories } from "./ApprovedCategories.ts"
import { claimOf, productClaims } from "./ProductClaims.ts"
import { VendorProducts } from "./VendorProducts.ts"

/** Refuses what belongs to a vendor that may not sell (contract, plugins §1.2). One statement for all of it. */
const sellable = Effect.fnUntraced(function*(products: VendorProducts["Service"], entityIds: ReadonlyArray<EntityId>) {
  for (const [, { name, status }] of yield* products.vendorsOf(entityIds)) {
    if (status !== "approved") return yield* Effect.fail(new HookRefusal(`${name} does not sell at the moment.`))
  }
})

/** What hangs on writes of the catalog: whose a thing is, and where it may lie (contract, plugins §1.3). */
const writing = Effect.map(productClaims, (claims): ReadonlyArray<Hook> => [
  beforeHook("catalog.beforeCreate", ({ data }) =>
    Effect.map(
      claims.ofNew(data.metadata),
      (vendorId) => vendorId === undefined ? {} : { metadata: { ...data.metadata, vendorId } }
    )),
  beforeHook("catalog.beforeUpdate", ({ context: { entityId }, data }) => {
    const claim = claimOf(data.metadata)
    return entityId === undefined || claim === undefined ? Effect.void : claims.ofChange(entityId, claim)
  }),
  beforeHook("catalog.beforeCategorize", ({ data }) => claims.ofCategories(data)),
  // In the transaction of a batch of an import: nothing of it is in the catalog without its vendor.
  beforeHook("catalog.beforeCommit", ({ data: { created, updated } }) =>
    claims.settle([
      ...created,
      ...updated.flatMap(({ entity, old }) => claimOf(entity.metadata) === claimOf(old.metadata) ? [] : [entity])
    ])),
  // What another hook has made of the claim since counts no more than what was claimed: it is looked at again.
  afterHook("catalog.afterCreate", ({ result }) => claims.settle([result])),
  afterHook(
    "catalog.afterUpdate",
    ({ data, result }) =>
      data === null || claimOf(data.metadata) === claimOf(result.metadata) ? Effect.void : claims.settle([result])
  )
])

/** What hangs on reads of the catalog, and on purchases (contract, plugins §1.3). */
const reading = Effect.map(VendorProducts, (products): ReadonlyArray<Hook> => {
  /** Lays their vendors upon entities as they are read; one statement for a page. */
  const show = Effect.fnUntraced(function*(entities: ReadonlyArray<{ readonly id: EntityId }>) {
    if (entities.length === 0) return
    const owners = yield* products.vendorsOf(entities.map(({ id }) => id))
    for (const entity of entities) {
      const vendor = owners.get(entity.id)
      if (vendor !== undefined) Object.assign(entity, { marketplace: { vendor } })
    }
  })

  return [
    afterHook("catalog.afterDelete", ({ result }) => products.forget(result.id)),
    afterHook("catalog.afterRead", ({ result }) => show([result])),
    afterHook("catalog.afterList", ({ result }) => show(result.items)),
    beforeHook("catalog.beforeList", ({ context: { actor } }) =>
      Effect.gen(function*() {
        if (actor.vendorId === null || holds(actor, "marketplace:admin")) return {}
        // Who acts for a vendor of another store is a shopper like others here.
        const ids = yield* products.idsOf(actor.vendorId)
        return ids === undefined ? {} : { ids }
      })),
    beforeHook("cart.beforeAddItem", ({ data }) => sellable(products, [data.entityId])),
    beforeHook("checkout.beforePayment", ({ data }) => sellable(products, data.lineItems.map((line) => line.entityId)))
  ]
})

export const productHooks: Effect.Effect<ReadonlyArray<Hook>, never, Vendors | VendorProducts | ApprovedCategories> =
  Effect.map(Effect.all([writing, reading]), (hooks) => hooks.flat())
