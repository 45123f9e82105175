import { amount, boolean, integer, integerBetween, oneOf, table, text, timestamp, uuid } from "stoa/plugin"
import { tiers, vendors } from "../vendors/VendorTables.ts"

export const ruleTypes = ["category", "volume_tier", "vendor_tier", "promotional"] as const

/** What share of a sale the store keeps (contract, plugins §1.4): basis points, and amounts in minor units. */
export const commissionRules = table("marketplace_commission_rules", {
  name: text,
  type: oneOf(ruleTypes),
  categorySlug: text.nullable,
  vendorId: uuid.references(vendors).nullable,
  vendorTier: oneOf(tiers).nullable,
  minVolumeCents: amount.nullable,
  maxVolumeCents: amount.nullable,
  rateBps: integerBetween(0, 10_000),
  /** On top of the share, for each line. */
  fixedFeeCents: amount.default(0),
  minFeeCents: amount.nullable,
  maxFeeCents: amount.nullable,
  validFrom: timestamp.nullable,
  validUntil: timestamp.nullable,
  priority: integer.default(0),
  isActive: boolean.default(true)
}, { indexes: [{ columns: ["isActive", "createdAt"] }, { columns: ["priority", "createdAt"], descending: true }] })
