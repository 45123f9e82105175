import { Schema } from "effect"
import { amount, integer, json, jsonOf, longText, oneOf, table, text, timestamp, uuid } from "stoa/plugin"
import { vendors } from "../vendors/VendorTables.ts"

export const Deduction = Schema.Struct({
  type: Schema.String,
  amount: Schema.Int,
  reference: Schema.optional(Schema.String)
})

export const payoutStatuses = ["pending", "processing", "completed", "failed"] as const

/** Money on its way to a vendor (contract, plugins §1.5), minor units of `currency`. */
export const payouts = table("marketplace_vendor_payouts", {
  vendorId: uuid.references(vendors, "restrict"),
  currency: text,
  amount,
  status: oneOf(payoutStatuses).default("pending"),
  payoutMethod: text.nullable,
  externalReference: longText.nullable,
  periodStart: timestamp.nullable,
  periodEnd: timestamp.nullable,
  grossAmount: amount,
  deductions: jsonOf(Schema.Array(Deduction)).default([]),
  netAmount: amount,
  failedAt: timestamp.nullable,
  failureReason: longText.nullable,
  retryCount: integer.default(0),
  processedAt: timestamp.nullable,
  /** How often the adapter was asked for this try, and when it is asked (again); null: no more. */
  attempts: integer.default(0),
  dueAt: timestamp.nullable,
  /** Until then a process may be asking the adapter, and no other one decides the outcome. */
  askedUntil: timestamp.nullable,
  metadata: json.default({})
}, {
  indexes: [{ columns: ["vendorId", "createdAt"], descending: true }, { columns: ["status", "createdAt"] }, {
    columns: ["status", "dueAt"],
    where: "due_at is not null"
  }],
  checks: { positive: "net_amount > 0 and amount = net_amount" }
})

/** For which period of its schedule a vendor was last looked at by `marketplace/run-payouts`: the period's first moment. */
export const payoutPeriods = table("marketplace_payout_periods", {
  vendorId: uuid.references(vendors).unique(),
  periodStart: timestamp
}, { changeLog: false })
