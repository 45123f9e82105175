import { amount, integer, oneOf, table, text, uuid } from "stoa/plugin"
import { vendors } from "../vendors/VendorTables.ts"

export const entryTypes = [
  "sale",
  "commission",
  "refund_deduction",
  "commission_reversal",
  "adjustment",
  "payout",
  "payout_reversal"
] as const

/** What a vendor is owed in a currency, minor units: the sum of its entries. Its row is locked by whoever adds one. */
export const vendorAccounts = table("marketplace_vendor_accounts", {
  vendorId: uuid.references(vendors, "restrict"),
  currency: text,
  balanceCents: amount.default(0),
  /** Number of the last entry. */
  entryCount: integer.default(0)
}, { unique: [{ columns: ["vendorId", "currency"] }], journal: false })

/** Entries of the ledger (contract, plugins §1.5). They are added and never changed, but for the payout that takes them. */
export const ledgerEntries = table("marketplace_vendor_balances", {
  vendorId: uuid.references(vendors, "restrict"),
  currency: text,
  type: oneOf(entryTypes),
  /** Signed, minor units. */
  amountCents: amount,
  runningBalanceCents: amount,
  /** Place in the account, from 1. */
  entryNumber: integer,
  subOrderId: uuid.nullable,
  referenceType: oneOf(["sub_order", "refund", "payout", "dispute", "return", "adjustment"]),
  referenceId: uuid,
  description: text.nullable,
  /** The payout that took it; null: not paid out. */
  payoutId: uuid.nullable
}, {
  unique: [{ columns: ["vendorId", "currency", "entryNumber"] }],
  indexes: [
    { columns: ["vendorId", "createdAt"], descending: true },
    { columns: ["subOrderId"] },
    { columns: ["payoutId"] },
    { columns: ["vendorId", "currency"], where: "payout_id is null" }
  ],
  journal: false
})
