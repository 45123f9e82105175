import { integerBetween, oneOf, table, text, timestamp, uuid } from "stoa/plugin"
import { vendors } from "../vendors/VendorTables.ts"

/** What buyers say of a vendor (contract, plugins §1.1). */
export const reviews = table("marketplace_vendor_reviews", {
  vendorId: uuid.references(vendors),
  customerId: uuid.nullable,
  orderId: uuid.nullable,
  rating: integerBetween(1, 5),
  title: text.nullable,
  body: text.nullable,
  status: oneOf(["pending", "published", "hidden", "flagged"]).default("published"),
  vendorResponse: text.nullable,
  vendorRespondedAt: timestamp.nullable
}, {
  unique: [{ columns: ["orderId", "vendorId"] }],
  indexes: [{ columns: ["vendorId", "status", "createdAt"], descending: true }]
})
