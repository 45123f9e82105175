import { Context, type Effect } from "effect"
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

/**
 * What vendors are owed (contract, plugins §1.5). The balance of an account is at every moment the sum of its entries:
 * both are written in one statement, behind the lock of the account's row. Accounts are locked in the order of vendor and
 * currency, always after orders and sub-orders, so that no two postings wait for each other.
 */
export class Ledger extends Context.Service<Ledger, {
  /** Adds entries, to be called inside of the transaction of what they tell of; entries of 0 are left out. */
  readonly post: (
    postings: ReadonlyArray<Posting>
  ) => Effect.Effect<ReadonlyArray<RowOf<typeof ledgerEntries>>, never, CurrentActor>
  /** Locks a vendor's account until the caller's transaction ends, making it if need be; gives its balance. */
  readonly lock: (vendorId: string, currency: string) => Effect.Effect<number, never, CurrentActor>
}>()("stoa/plugins/marketplace/ledger/Ledger") {}
