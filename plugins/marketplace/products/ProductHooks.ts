import { Effect } from "effect"
import { type Actor, afterHook, beforeHook, CurrentActor, holds, type Hook, HookRefusal, isUuid } from "stoa/plugin"
import { Vendors } from "../vendors/Vendors.ts"
import { VendorProducts } from "./VendorProducts.ts"

const runsTheMarketplace = (actor: Actor): boolean => holds(actor, "marketplace:admin")

/** Whose a new entity shall be: what its metadata claims, and without a claim the vendor's own who makes it. */
const claimedBy = (actor: Actor, claim: unknown): unknown =>
  claim === undefined && !runsTheMarketplace(actor) ? actor.vendorId ?? undefined : claim

/** Why the actor may not make something for this vendor; undefined when he may. */
const refusal = Effect.fnUntraced(function*(vendors: Vendors["Service"], claim: unknown) {
  const actor = yield* CurrentActor
  if (typeof claim !== "string" || !isUuid(claim)) return "metadata.vendorId is not the id of a vendor."
  const vendorId = claim.toLowerCase()
  if (!runsTheMarketplace(actor) && actor.vendorId !== vendorId) {
    return "metadata.vendorId has to be your own vendor; others need the permission 'marketplace:admin'."
  }
  const vendor = yield* Effect.option(vendors.get(vendorId))
  if (vendor._tag === "None") return "metadata.vendorId is not the id of a vendor."
  return vendor.value.status === "approved" ? undefined : `The vendor ${vendor.value.name} is not approved.`
})

/** Refuses what belongs to a vendor that may not sell (contract, plugins §1.2). One statement for all of it. */
const sellable = Effect.fnUntraced(function*(products: VendorProducts["Service"], entityIds: ReadonlyArray<string>) {
  for (const [, { name, status }] of yield* products.vendorsOf(entityIds)) {
    if (status !== "approved") return yield* Effect.fail(new HookRefusal(`${name} does not sell at the moment.`))
  }
})

/** What hangs on the catalog and on purchases (contract, plugins §1.3). */
export const productHooks: Effect.Effect<ReadonlyArray<Hook>, never, Vendors | VendorProducts> = Effect.gen(
  function*() {
    const vendors = yield* Vendors
    const products = yield* VendorProducts

    /** Lays their vendors upon entities as they are read; one statement for a page. */
    const show = Effect.fnUntraced(function*(entities: ReadonlyArray<{ readonly id: string }>) {
      if (entities.length === 0) return
      const owners = yield* products.vendorsOf(entities.map(({ id }) => id))
      for (const entity of entities) {
        const vendor = owners.get(entity.id)
        if (vendor !== undefined) Object.assign(entity, { marketplace: { vendor } })
      }
    })

    return [
      beforeHook("catalog.beforeCreate", ({ context, data }) =>
        Effect.gen(function*() {
          const claim = claimedBy(context.actor, data.metadata?.["vendorId"])
          if (claim === undefined || claim === null) return {}
          const why = yield* refusal(vendors, claim)
          if (why !== undefined) return yield* Effect.fail(new HookRefusal(why))
          return { metadata: { ...data.metadata, vendorId: String(claim).toLowerCase() } }
        })),
      // What another hook has made of the claim since counts no more than what was claimed: it is looked at again.
      afterHook("catalog.afterCreate", ({ result }) =>
        Effect.gen(function*() {
          const claim = result.metadata["vendorId"]
          if (claim === undefined || claim === null || (yield* refusal(vendors, claim)) !== undefined) return
          yield* products.link(String(claim), result.id)
        })),
      afterHook("catalog.afterDelete", ({ result }) => products.forget(result.id)),
      afterHook("catalog.afterRead", ({ result }) => show([result])),
      afterHook("catalog.afterList", ({ result }) => show(result.items)),
      beforeHook("catalog.beforeList", ({ context: { actor } }) =>
        Effect.gen(function*() {
          if (actor.vendorId === null || runsTheMarketplace(actor)) return {}
          // Who acts for a vendor of another store is a shopper like others here.
          const ids = yield* products.idsOf(actor.vendorId)
          return ids === undefined ? {} : { ids }
        })),
      beforeHook("cart.beforeAddItem", ({ data }) => sellable(products, [data.entityId])),
      beforeHook(
        "checkout.beforePayment",
        ({ data }) => sellable(products, data.lineItems.map((line) => line.entityId))
      )
    ]
  }
)
