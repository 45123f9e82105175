import { Schema } from "effect"
import { amount, integerBetween, json, jsonOf, longText, oneOf, table, text, timestamp, uuid } from "stoa/plugin"

export const vendorStatuses = ["pending", "approved", "suspended", "rejected"] as const
export const tiers = ["standard", "silver", "gold", "platinum"] as const
export const payoutSchedules = ["daily", "weekly", "biweekly", "monthly", "manual"] as const

/** Who sells through the store (contract, plugins §1.1). */
export const vendors = table("marketplace_vendors", {
  name: text,
  slug: text.unique(),
  email: text.nullable,
  description: longText.nullable,
  logoUrl: longText.nullable,
  bannerUrl: longText.nullable,
  contactPhone: text.nullable,
  taxId: text.nullable,
  businessAddress: json.nullable,
  /** When its bank account was given last: the account itself is shown nowhere, and who changed it the audit trail tells. */
  bankAccountChangedAt: timestamp.nullable,
  status: oneOf(vendorStatuses).default("pending"),
  verificationStatus: oneOf(["unverified", "documents_submitted", "verified", "rejected"]).default("unverified"),
  rejectionReason: longText.nullable,
  suspensionReason: longText.nullable,
  suspendedAt: timestamp.nullable,
  approvedCategories: jsonOf(Schema.Array(Schema.String)).nullable,
  tier: oneOf(tiers).default("standard"),
  /** 0 to 100; `marketplace/score-vendors` computes it. */
  performanceScore: integerBetween(0, 100).default(100),
  commissionRateBps: integerBetween(0, 10_000).default(1000),
  payoutSchedule: oneOf(payoutSchedules).default("weekly"),
  payoutMinimumCents: amount.default(5000),
  holdbackDays: integerBetween(0, 365).default(7),
  metadata: json.default({}),
  storeConnectionProvider: oneOf(["shopify", "woocommerce"]).nullable,
  storeConnectionUrl: longText.nullable,
  lastSyncAt: timestamp.nullable,
  syncStatus: oneOf(["healthy", "stale", "error", "disconnected"]).default("disconnected")
}, { indexes: [{ columns: ["status", "createdAt"], descending: true }] })

/** Fields of a vendor that no response shows: the bank account, and keys of the vendor's shop. */
export const vendorSecrets = table("marketplace_vendor_secrets", {
  vendorId: uuid.references(vendors).unique(),
  bankAccount: json.nullable,
  storeAccessToken: longText.nullable,
  storeConsumerSecret: longText.nullable,
  storeWebhookSecret: longText.nullable
}, { changeLog: false })
