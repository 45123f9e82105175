import { Schema } from "effect"
import { amount, integerBetween, json, jsonOf, oneOf, table, text, timestamp, uuid } from "stoa/plugin"

export const vendorStatuses = ["pending", "approved", "suspended", "rejected"] as const
export const tiers = ["standard", "silver", "gold", "platinum"] as const
export const payoutSchedules = ["daily", "weekly", "biweekly", "monthly", "manual"] as const

/** Who sells through the store (contract, plugins §1.1). */
export const vendors = table("marketplace_vendors", {
  name: text,
  slug: text.unique(),
  email: text.nullable,
  description: text.nullable,
  logoUrl: text.nullable,
  bannerUrl: text.nullable,
  contactPhone: text.nullable,
  taxId: text.nullable,
  businessAddress: json.nullable,
  status: oneOf(vendorStatuses).default("pending"),
  verificationStatus: oneOf(["unverified", "documents_submitted", "verified", "rejected"]).default("unverified"),
  rejectionReason: text.nullable,
  suspensionReason: text.nullable,
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
  storeConnectionUrl: text.nullable,
  lastSyncAt: timestamp.nullable,
  syncStatus: oneOf(["healthy", "stale", "error", "disconnected"]).default("disconnected")
}, { indexes: [{ columns: ["status", "createdAt"], descending: true }] })

/** What of a vendor is shown to nobody: where its money goes, and keys of its own shop. */
export const vendorSecrets = table("marketplace_vendor_secrets", {
  vendorId: uuid.references(vendors).unique(),
  bankAccount: json.nullable,
  storeAccessToken: text.nullable,
  storeConsumerSecret: text.nullable,
  storeWebhookSecret: text.nullable
}, { journal: false })

/** Whose thing an entity of the catalog is; an entity without a row belongs to the store itself. */
export const vendorEntities = table("marketplace_vendor_entities", {
  vendorId: uuid.references(vendors),
  entityId: uuid.unique()
}, { indexes: [{ columns: ["vendorId", "createdAt"], descending: true }] })

/** People who act for a vendor; a person acts for one. */
export const vendorMembers = table("marketplace_vendor_members", {
  vendorId: uuid.references(vendors),
  userId: text.unique(),
  role: oneOf(["owner", "manager", "staff"]).default("staff")
})

export const vendorDocuments = table("marketplace_vendor_documents", {
  vendorId: uuid.references(vendors),
  type: oneOf(["business_license", "tax_form", "bank_proof", "identity", "other"]),
  fileUrl: text,
  status: oneOf(["pending", "approved", "rejected"]).default("pending"),
  reviewerNotes: text.nullable,
  uploadedAt: timestamp.defaultNow,
  reviewedAt: timestamp.nullable
}, { indexes: [{ columns: ["vendorId", "createdAt"], descending: true }] })
