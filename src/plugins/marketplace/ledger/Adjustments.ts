import { Context, Effect, Layer } from "effect"
import {
  type Conflict,
  type CurrentActor,
  type NotFound,
  type PageOf,
  type PageRequest,
  PluginDatabase,
  type RowOf,
  type ValidationFailed
} from "stoa/plugin"
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
export class Adjustments extends Context.Service<Adjustments, {
  /** Writes one with its entry of the ledger, in one transaction. 404 for an unknown vendor. */
  readonly make: (
    vendorId: string,
    adjustment: NewAdjustment
  ) => Effect.Effect<Adjustment, NotFound | Conflict | ValidationFailed, CurrentActor>
  /** Newest first; 404 for an unknown vendor. */
  readonly list: (vendorId: string, page: PageRequest) => Effect.Effect<PageOf<Adjustment>, NotFound, CurrentActor>
}>()("stoa/plugins/marketplace/ledger/Adjustments") {
  static readonly layer = Layer.effect(
    Adjustments,
    Effect.gen(function*() {
      const db = yield* PluginDatabase
      const ledger = yield* Ledger

      /** Row and entry are one transaction; a request whose answer is lost is not begun again under its Idempotency-Key. */
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

      const list = (vendorId: string, page: PageRequest) =>
        Effect.andThen(db.table(vendors).get(vendorId), db.table(adjustments).page({ vendorId }, page))

      return { make, list }
    })
  )
}
