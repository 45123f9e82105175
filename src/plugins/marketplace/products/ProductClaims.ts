import { Effect } from "effect"
import { type Actor, CurrentActor, type EntityId, holds, HookRefusal, isUuid } from "stoa/plugin"
import { Market } from "../Market.ts"
import { mayForVendor } from "../parties/VendorPortal.ts"
import { vendors } from "../vendors/Vendor.ts"
import { admitCategories } from "./ApprovedCategories.ts"
import { claimed, insertLinks } from "./VendorProductRepo.ts"

type Metadata = Readonly<Record<string, unknown>>

/** What of an entity says whose it shall be. */
export const claimOf = (metadata: Metadata | null | undefined): unknown => metadata?.["vendorId"] ?? undefined

const runsTheMarketplace = (actor: Actor): boolean => holds(actor, "marketplace:admin")

const refuse = (why: string) => Effect.fail(new HookRefusal(why))
const noVendor = refuse("metadata.vendorId is not the id of a vendor.")

/*
 * Whose things of the catalog are, by what is said of them when they are made, changed or imported: `metadata.vendorId`
 * (contract, plugins §1.3). What is said is done or refused.
 */

/** The vendor that a claim names, if the actor may make something for it. */
const admit = Effect.fnUntraced(function*(claim: unknown) {
  const { db } = yield* Market
  const actor = yield* CurrentActor
  if (typeof claim !== "string" || !isUuid(claim)) return yield* noVendor
  const vendorId = claim.toLowerCase()
  if (!runsTheMarketplace(actor)) {
    if (actor.vendorId !== vendorId) {
      return yield* refuse(
        "metadata.vendorId has to be your own vendor; others need the permission 'marketplace:admin'."
      )
    }
    if (!mayForVendor(actor, "sell")) return yield* refuse("Your role for this vendor may only read.")
  }
  const vendor = yield* db.table(vendors).find(vendorId)
  if (vendor === undefined) return yield* noVendor
  return vendor.status === "approved" ? vendorId : yield* refuse(`The vendor ${vendor.name} is not approved.`)
})

/** Whose a new entity shall be: what its metadata claims, and without a claim the vendor's own who makes it. */
export const claimOfNew = Effect.fnUntraced(function*(metadata: Metadata | undefined) {
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
export const checkClaim = Effect.fnUntraced(function*(entityId: EntityId, claim: unknown) {
  const { db } = yield* Market
  const known = isUuid(entityId) ? yield* db.use(claimed)(entityId) : undefined
  const wanted = typeof claim === "string" ? claim.toLowerCase() : claim
  if (known === undefined || wanted === known.claim || wanted === known.vendorId) return
  if (known.vendorId !== null) {
    return yield* refuse(
      "metadata.vendorId names another vendor than the one whose this is: take it from that one first."
    )
  }
  yield* admitCategories(yield* admit(claim), { entityId })
})

/** Makes entities the vendors' that they name, but for those that have one, or name one that the actor may not. */
export const settleClaims = Effect.fnUntraced(
  function*(entities: ReadonlyArray<{ readonly id: EntityId; readonly metadata: Metadata }>) {
    const { db } = yield* Market
    const named = entities.flatMap(({ id, metadata }) => {
      const claim = claimOf(metadata)
      return typeof claim === "string" ? [{ entityId: id, vendorId: claim.toLowerCase() }] : []
    })
    const admitted = new Set<string>()
    for (const vendorId of new Set(named.map((link) => link.vendorId))) {
      if (yield* Effect.isSuccess(admit(vendorId))) admitted.add(vendorId)
    }
    const links = named.filter(({ vendorId }) => admitted.has(vendorId))
    if (links.length > 0) yield* db.use(insertLinks)(links)
  }
)
