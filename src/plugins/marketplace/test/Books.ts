import { Effect } from "effect"
import { onDatabase } from "../../../../test/checkout/CheckoutFixtures.ts"
import { ledgerEntries, vendorAccounts } from "../ledger/Ledger.ts"
import { onTables } from "./Market.ts"

/** A vendor's account: balance, number of entries, and whether these are numbered and added up without a gap. */
export const accountOf = Effect.fnUntraced(function*(vendorId: string, currency = "USD", within?: string) {
  const [account, entries] = yield* onTables((db) =>
    Effect.all([
      db.table(vendorAccounts).first({ vendorId, currency }),
      db.table(ledgerEntries).list({ vendorId, currency }, { order: ["entryNumber"] })
    ]), within)
  let sum = 0
  const exact = entries.every(({ amountCents, entryNumber, runningBalanceCents }, at) =>
    entryNumber === at + 1 && runningBalanceCents === (sum += amountCents)
  )
  const [balance, count] = [account?.balanceCents ?? 0, account?.entryCount ?? 0]
  return { balance, entries: count, exact: exact && balance === sum && count === entries.length }
})

export const balanceOf = (vendorId: string, currency?: string) =>
  Effect.map(accountOf(vendorId, currency), ({ balance, exact }) => exact ? balance : "not the sum of its entries")

/** Entries of a vendor's ledger in their order: type and amount. */
export const entriesOf = (vendorId: string) =>
  Effect.map(
    onTables((db) => db.table(ledgerEntries).list({ vendorId }, { order: ["currency", "entryNumber"] })),
    (rows) => rows.map(({ amountCents, type }) => [type, amountCents] as const)
  )

/** How often an event of a record was announced. */
export const announced = (type: string, id: string) =>
  Effect.map(
    onDatabase((sql) => sql`select 1 from outbox_events where type = ${type} and entity_id = ${id}`),
    ({ length }) => length
  )
