import { Schema } from "effect"
import { amount, integerBetween, json, jsonOf, longText, oneOf, table, text, timestamp, uuid } from "stoa/plugin"

export const vendorStatuses = ["pending", "approved", "suspended", "rejected"] as const
export const tiers = ["standard", "silver", "gold", "platinum"] as const
export const payoutSchedules = ["daily", "weekly", "biweekly", "monthly", "manual"] as const

export const documentTypes = ["business_license", "tax_form", "bank_proof", "identity", "other"] as const
export const memberRoles = ["owner", "manager", "staff"] as const

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

/** What of a vendor is shown to nobody: where its money goes, and keys of its own shop. */
export const vendorSecrets = table("marketplace_vendor_secrets", {
  vendorId: uuid.references(vendors).unique(),
  bankAccount: json.nullable,
  storeAccessToken: longText.nullable,
  storeConsumerSecret: longText.nullable,
  storeWebhookSecret: longText.nullable
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
  role: oneOf(memberRoles).default("staff")
})

export const vendorDocuments = table("marketplace_vendor_documents", {
  vendorId: uuid.references(vendors),
  type: oneOf(documentTypes),
  fileUrl: longText,
  status: oneOf(["pending", "approved", "rejected"]).default("pending"),
  reviewerNotes: longText.nullable,
  uploadedAt: timestamp.defaultNow,
  reviewedAt: timestamp.nullable
}, { indexes: [{ columns: ["vendorId", "createdAt"], descending: true }] })
