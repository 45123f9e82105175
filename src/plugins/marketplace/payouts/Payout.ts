import { Schema } from "effect"
import {
  about,
  amount,
  integer,
  json,
  jsonOf,
  longText,
  machine,
  MinorUnits,
  oneOf,
  type RowOf,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"
import { ledgerEntries } from "../ledger/Ledger.ts"
import { vendors } from "../vendors/Vendor.ts"

const Deduction = Schema.Struct({
  type: Schema.String.pipe(about("Kind of the deduction, as in the ledger.")),
  amount: MinorUnits,
  reference: Schema.optional(Schema.String).pipe(about("Id of the record that it comes from."))
})

/** Money on its way to a vendor (contract, plugins §1.5), minor units of `currency`. */
export const payouts = table("marketplace_vendor_payouts", {
  vendorId: uuid.references(vendors, "restrict"),
  currency: text,
  amount,
  status: oneOf(["pending", "processing", "completed", "failed"]).default("pending").about(
    "processing: the money is on its way. failed: it is back on the balance of the vendor."
  ),
  payoutMethod: text.nullable.about("How the money is sent."),
  externalReference: longText.nullable.about("Reference of the transfer at the bank or provider."),
  periodStart: timestamp.nullable.about("First moment of the sales it pays."),
  periodEnd: timestamp.nullable.about("Moment before which the sales were made."),
  grossAmount: amount.about("Sales of the period."),
  deductions: jsonOf(Schema.Array(Deduction), 65_536).default([]).about("Amounts that are taken off, by kind."),
  netAmount: amount.about("Amount that is sent."),
  failedAt: timestamp.nullable,
  failureReason: longText.nullable.about("Words of the provider."),
  retryCount: integer.default(0).about("Number of repeats."),
  processedAt: timestamp.nullable,
  attempts: integer.default(0).about("Times that the adapter was asked for this try."),
  dueAt: timestamp.nullable.about("When the adapter is asked next; null: no more."),
  askedUntil: timestamp.nullable.about(
    "Until then a process may be asking the adapter, and no other one decides the outcome."
  ),
  metadata: json.default({})
}, {
  indexes: [{ columns: ["status", "dueAt"], where: "due_at is not null" }],
  checks: { positive: "net_amount > 0 and amount = net_amount" }
})

export type PayoutRow = RowOf<typeof payouts>

/** How payouts end, and are sent again (contract, plugins §1.5). */
export const payout = machine(payouts, {
  noun: "payout",
  moves: {
    complete: { from: ["processing"], to: "completed", stamp: "processedAt", emits: "payout.completed" },
    fail: { from: ["processing"], to: "failed", stamp: "failedAt" },
    retry: { from: ["failed"], to: "processing" }
  }
})

/** For which period of its schedule a vendor was last looked at by `marketplace/run-payouts`: the period's first moment. */
export const payoutPeriods = table("marketplace_payout_periods", {
  vendorId: uuid.references(vendors).unique(),
  periodStart: timestamp.about("First moment of the sales it pays.")
}, { changeLog: false, counted: false })

/** What the taken entries of one type add up to, minor units. */
export const TypeSum = Schema.Struct({ type: ledgerEntries.columns.type.schema, amount: MinorUnits })
export type TypeSum = typeof TypeSum.Type

/**
 * A payout as its vendor reads it: what came in, and by type what went off it. `gross` less all deductions is `net`, to the
 * unit, because both are sums of the same entries.
 */
export const amountsOf = (sums: ReadonlyArray<TypeSum>) => {
  const incoming = sums.filter(({ amount }) => amount > 0)
  const outgoing = sums.filter(({ amount }) => amount < 0)
  const gross = incoming.reduce((sum, { amount }) => sum + amount, 0)
  const deductions = outgoing.map(({ amount, type }) => ({ type, amount: -amount }))
  return { gross, deductions, net: deductions.reduce((sum, { amount }) => sum - amount, gross) }
}
