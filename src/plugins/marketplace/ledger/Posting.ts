import type { Effect } from "effect"
import type { CurrentActor, RowOf } from "stoa/plugin"
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
export interface PostedEntry {
  readonly id: string
  readonly vendorId: string
  readonly amountCents: number
  readonly runningBalanceCents: number
  readonly entryNumber: number
}

/** What can be done with accounts (`Ledger`). */
export interface LedgerOperations {
  /** Adds entries, in the transaction of the change that they record; entries of 0 are left out. */
  readonly post: (
    postings: ReadonlyArray<Posting>
  ) => Effect.Effect<ReadonlyArray<PostedEntry>, never, CurrentActor>
  /** Locks a vendor's account until the caller's transaction ends, making it if need be; gives its balance. */
  readonly lock: (vendorId: string, currency: string) => Effect.Effect<number, never, CurrentActor>
}
