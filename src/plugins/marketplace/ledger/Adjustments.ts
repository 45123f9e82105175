import { Context, Effect, Layer } from "effect"
import { type PageRequest, PluginDatabase, type RowOf } from "stoa/plugin"
import { vendors } from "../vendors/VendorTables.ts"
import { Ledger } from "./Ledger.ts"
import { adjustments } from "./LedgerTables.ts"

type Adjustment = RowOf<typeof adjustments>

/** What is added to an account, or taken off it: signed minor units, not 0. */
export type NewAdjustment = Pick<Adjustment, "amountCents" | "currency" | "reason">

/**
 * Money that operators give vendors or take from them beside sales (contract, plugins §1.1). It waits for no delivery: the
 * next payout has it, and what an account falls below zero by is carried until later sales have paid for it.
 */
export class Adjustments extends Context.Service<Adjustments>()("stoa/plugins/marketplace/ledger/Adjustments", {
  make: Effect.gen(function*() {
    const db = yield* PluginDatabase
    const ledger = yield* Ledger

    /**
     * Writes one with its entry of the ledger in one transaction, so that a repeat under the same Idempotency-Key after a
     * lost response makes no second one. 404 for an unknown vendor.
     */
    const make = Effect.fn("Adjustments.make")(function*(vendorId: string, adjustment: NewAdjustment) {
      yield* db.table(vendors).get(vendorId)
      const made = yield* db.table(adjustments).insert({ ...adjustment, vendorId })
      yield* ledger.post([{
        vendorId,
        currency: made.currency,
        type: "adjustment",
        amountCents: made.amountCents,
        subOrderId: null,
        referenceType: "adjustment",
        referenceId: made.id,
        description: made.reason
      }])
      return made
    }, db.transaction)

    /** Newest first; 404 for an unknown vendor. */
    const list = (vendorId: string, page: PageRequest) =>
      Effect.andThen(db.table(vendors).get(vendorId), db.table(adjustments).page({ vendorId }, page))

    return { make, list }
  })
}) {
  static readonly layer = Layer.effect(Adjustments, Adjustments.make)
}
