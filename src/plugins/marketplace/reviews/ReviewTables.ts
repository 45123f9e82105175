import { CustomerId, idOf, integerBetween, longText, oneOf, OrderId, table, text, timestamp, uuid } from "stoa/plugin"
import { vendors } from "../vendors/VendorTables.ts"

export const reviewStatuses = ["pending", "published", "hidden", "flagged"] as const

/** What buyers say of a vendor (contract, plugins §1.1). */
export const reviews = table("marketplace_vendor_reviews", {
  vendorId: uuid.references(vendors),
  customerId: idOf(CustomerId).nullable,
  orderId: idOf(OrderId).nullable,
  rating: integerBetween(1, 5),
  title: text.nullable,
  body: longText.nullable,
  status: oneOf(reviewStatuses).default("published"),
  vendorResponse: longText.nullable,
  vendorRespondedAt: timestamp.nullable
}, {
  unique: [
    { columns: ["orderId", "vendorId"] },
    { columns: ["customerId", "vendorId"], where: "order_id is null" }
  ],
  indexes: [{ columns: ["vendorId", "status", "createdAt"], descending: true }]
})
