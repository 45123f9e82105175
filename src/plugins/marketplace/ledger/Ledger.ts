import { amount, integer, longText, type NewRowOf, oneOf, type RowOf, table, text, uuid } from "stoa/plugin"
import { vendors } from "../vendors/Vendor.ts"

/** What a vendor is owed in a currency, minor units: the sum of its entries. Adding an entry locks this row. */
export const vendorAccounts = table("marketplace_vendor_accounts", {
  vendorId: uuid.references(vendors, "restrict"),
  currency: text,
  balanceCents: amount.default(0).about("Sum of all entries."),
  entryCount: integer.default(0).about("Number of entries.")
}, { unique: [{ columns: ["vendorId", "currency"] }], changeLog: false, counted: false })

/** Entries of the ledger (contract, plugins §1.5). They are added and never changed, but for the payout that takes them. */
export const ledgerEntries = table("marketplace_vendor_balances", {
  vendorId: uuid.references(vendors, "restrict"),
  currency: text,
  type: oneOf([
    "sale",
    "commission",
    "refund_deduction",
    "commission_reversal",
    "adjustment",
    "payout",
    "payout_reversal"
  ]).about("Reason of the change. commission_reversal and payout_reversal undo an earlier entry."),
  amountCents: amount.about("Change of the balance; negative: a debit."),
  runningBalanceCents: amount.about("Balance after the entry."),
  entryNumber: integer.about("Number of the entry within the account, from 1."),
  subOrderId: uuid.nullable.about("Id of the sub-order it is about."),
  referenceType: oneOf(["sub_order", "refund", "payout", "dispute", "return", "adjustment"]).about(
    "Kind of record that made the entry."
  ),
  referenceId: uuid.about("Id of the record that made the entry."),
  description: longText.nullable.about("Text for the vendor's statement."),
  payoutId: uuid.nullable.about("Payout that took it; null: it is not paid out.")
}, {
  unique: [{ columns: ["vendorId", "currency", "entryNumber"] }],
  indexes: [
    { columns: ["vendorId", "createdAt"], descending: true },
    { columns: ["subOrderId"] },
    { columns: ["payoutId"] },
    { columns: ["vendorId", "currency"], where: "payout_id is null" }
  ],
  changeLog: false,
  counted: false
})

/** What an operator added to a vendor's account or took off it, and why; each has one entry of the ledger. */
export const adjustments = table("marketplace_adjustments", {
  vendorId: uuid.references(vendors, "restrict"),
  currency: text,
  amountCents: amount.about("Change of the balance; negative: a debit."),
  reason: longText.about("Reason that the vendor reads.")
}, {
  checks: { not_nothing: "amount_cents <> 0" }
})

/** A vendor's money in one currency. */
export type Account = Pick<RowOf<typeof vendorAccounts>, "vendorId" | "currency">

/** An entry that is to be made: signed minor units. */
export type Posting = Omit<NewRowOf<typeof ledgerEntries>, "id" | "runningBalanceCents" | "entryNumber">
