import { Effect } from "effect"
import { type Actor, CurrentActor, type EntityId, holds, HookRefusal, isUuid } from "stoa/plugin"
import { mayForVendor } from "../parties/VendorPortal.ts"
import { Vendors } from "../vendors/Vendors.ts"
import { ApprovedCategories } from "./ApprovedCategories.ts"
import { VendorProducts } from "./VendorProducts.ts"

/** What of an entity says whose it shall be. */
export const claimOf = (metadata: Readonly<Record<string, unknown>> | null | undefined): unknown =>
  metadata?.["vendorId"] ?? undefined

const runsTheMarketplace = (actor: Actor): boolean => holds(actor, "marketplace:admin")

const refuse = (why: string) => Effect.fail(new HookRefusal(why))

/**
 * Whose things of the catalog are, by what is said of them when they are made, changed or imported: `metadata.vendorId`
 * (contract, plugins §1.3). What is said is done or refused.
 */
export const productClaims = Effect.gen(function*() {
  const [vendors, products, categories] = yield* Effect.all([Vendors, VendorProducts, ApprovedCategories])

  /** The vendor that a claim names, if the actor may make something for it. */
  const admit = Effect.fnUntraced(function*(claim: unknown) {
    const actor = yield* CurrentActor
    if (typeof claim !== "string" || !isUuid(claim)) {
      return yield* refuse("metadata.vendorId is not the id of a vendor.")
    }
    const vendorId = claim.toLowerCase()
    if (!runsTheMarketplace(actor)) {
      if (actor.vendorId !== vendorId) {
        return yield* refuse(
          "metadata.vendorId has to be your own vendor; others need the permission 'marketplace:admin'."
        )
      }
      if (!mayForVendor(actor, "sell")) return yield* refuse("Your role for this vendor may only read.")
    }
    const vendor = yield* Effect.catch(
      vendors.get(vendorId),
      () => refuse("metadata.vendorId is not the id of a vendor.")
    )
    return vendor.status === "approved" ? vendorId : yield* refuse(`The vendor ${vendor.name} is not approved.`)
  })

  /** Whose a new entity shall be: what its metadata claims, and without a claim the vendor's own who makes it. */
  const ofNew = Effect.fnUntraced(function*(metadata: Readonly<Record<string, unknown>> | undefined) {
    const actor = yield* CurrentActor
    const claim = metadata?.["vendorId"] === undefined && !runsTheMarketplace(actor)
      ? actor.vendorId ?? undefined
      : claimOf(metadata)
    return claim === undefined ? undefined : yield* admit(claim)
  })

  /**
   * Checks the vendor that a change gives an entity. The present vendor is no change; a product of the store may get a
   * vendor, and only `POST /vendors/:id/products` moves one that has a vendor.
   */
  const ofChange = Effect.fnUntraced(function*(entityId: EntityId, claim: unknown) {
    const known = yield* products.claimed(entityId)
    const wanted = typeof claim === "string" ? claim.toLowerCase() : claim
    if (known === undefined || wanted === known.claim || wanted === known.vendorId) return
    if (known.vendorId !== null) {
      return yield* refuse(
        "metadata.vendorId names another vendor than the one whose this is: take it from that one first."
      )
    }
    yield* categories.admitEntity(yield* admit(claim), entityId)
  })

  /** Makes entities the vendors' that they name, but for those that have one, or name one that the actor may not. */
  const settle = Effect.fnUntraced(
    function*(
      entities: ReadonlyArray<{ readonly id: EntityId; readonly metadata: Readonly<Record<string, unknown>> }>
    ) {
      const named = entities.flatMap(({ id, metadata }) => {
        const claim = claimOf(metadata)
        return typeof claim === "string" ? [{ entityId: id, vendorId: claim.toLowerCase() }] : []
      })
      const may = new Map<string, boolean>()
      for (const { vendorId } of named) {
        if (!may.has(vendorId)) may.set(vendorId, yield* Effect.isSuccess(admit(vendorId)))
      }
      yield* products.linkAll(named.filter(({ vendorId }) => may.get(vendorId) === true))
    }
  )

  /** Looks at the categories that an entity gets; `entityId` is null for what is about to be made. */
  const ofCategories = Effect.fnUntraced(
    function*(
      { entityId, metadata, categories: names }: {
        readonly entityId: EntityId | null
        readonly metadata: Readonly<Record<string, unknown>> | null
        readonly categories: ReadonlyArray<string>
      }
    ) {
      const known = entityId === null || !isUuid(entityId) ? undefined : yield* products.claimed(entityId)
      const vendorId = known?.vendorId ?? claimOf(metadata)
      if (typeof vendorId === "string" && isUuid(vendorId)) yield* categories.admit(vendorId.toLowerCase(), names)
    }
  )

  return { ofNew, ofChange, ofCategories, settle }
})
