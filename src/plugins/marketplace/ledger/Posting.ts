import { type Effect, Schema } from "effect"
import { type CurrentActor, type RowOf, Uuid } from "stoa/plugin"
import type { entryTypes, ledgerEntries } from "./LedgerTables.ts"

/** An entry that is to be made: signed minor units. */
export interface Posting {
  readonly vendorId: string
  readonly currency: string
  readonly type: typeof entryTypes[number]
  readonly amountCents: number
  readonly subOrderId: string | null
  readonly referenceType: RowOf<typeof ledgerEntries>["referenceType"]
  readonly referenceId: string
  readonly description?: string
}

/** An entry as it was written: its place in its account, and the balance after it. */
export const PostedEntry = Schema.Struct({
  id: Uuid,
  vendorId: Uuid,
  amountCents: Schema.Int,
  runningBalanceCents: Schema.Int,
  entryNumber: Schema.Int
})

/** What can be done with accounts (`Ledger`). */
export interface LedgerOperations {
  /** Adds entries, in the transaction of the change that they record; entries of 0 are left out. */
  readonly post: (
    postings: ReadonlyArray<Posting>
  ) => Effect.Effect<ReadonlyArray<typeof PostedEntry.Type>, never, CurrentActor>
  /** Locks a vendor's account until the caller's transaction ends, making it if need be; gives its balance. */
  readonly lock: (vendorId: string, currency: string) => Effect.Effect<number, never, CurrentActor>
}
