import { Schema } from "effect"
import { amount, integer, json, jsonOf, oneOf, table, text, timestamp, uuid } from "stoa/plugin"
import { vendors } from "../vendors/VendorTables.ts"

export const Deduction = Schema.Struct({
  type: Schema.String,
  amount: Schema.Int,
  reference: Schema.optional(Schema.String)
})

/** Money on its way to a vendor (contract, plugins §1.5), minor units of `currency`. */
export const payouts = table("marketplace_vendor_payouts", {
  vendorId: uuid.references(vendors, "restrict"),
  currency: text,
  amount,
  status: oneOf(["pending", "processing", "completed", "failed"]).default("pending"),
  payoutMethod: text.nullable,
  externalReference: text.nullable,
  periodStart: timestamp.nullable,
  periodEnd: timestamp.nullable,
  grossAmount: amount,
  deductions: jsonOf(Schema.Array(Deduction)).default([]),
  netAmount: amount,
  failedAt: timestamp.nullable,
  failureReason: text.nullable,
  retryCount: integer.default(0),
  processedAt: timestamp.nullable,
  metadata: json.default({})
}, {
  indexes: [{ columns: ["vendorId", "createdAt"], descending: true }, { columns: ["status", "createdAt"] }],
  checks: { positive: "net_amount > 0 and amount = net_amount" }
})
