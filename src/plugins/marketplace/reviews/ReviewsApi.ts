import { Schema } from "effect"
import { FreeText, group, OrderId, Text } from "stoa/plugin"
import { portal, sellers } from "../parties/VendorPortal.ts"
import { reviews, reviewStatuses } from "./ReviewTables.ts"

const said = FreeText.check(Schema.isBetweenLength(1, 5_000))

/** What a buyer says of a vendor. `customerId` is not read: it is the caller. */
export const NewReview = Schema.Struct({
  rating: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 })),
  orderId: Schema.optional(OrderId.annotate({ description: "Default: the last delivered order that has no review." })),
  title: Schema.optional(Text),
  body: Schema.optional(said)
})

const Moderation = Schema.Struct({ status: Schema.Literals(reviewStatuses) })

const g = group("Marketplace reviews", "/marketplace")
const success = reviews.Row

export const writeReview = g.post("/vendors/:id/reviews", {
  auth: true,
  summary: "Review a vendor that delivered",
  input: NewReview,
  success
})
export const listReviews = g.list("/vendors/:id/reviews", {
  auth: true,
  summary: "List the published reviews of a vendor",
  success
})
export const moderateReview = g.patch("/reviews/:id", {
  permission: "marketplace:admin",
  summary: "Publish, hide or flag a review",
  input: Moderation,
  success
})
export const moderateVendorReview = g.patch("/vendors/:id/reviews/:reviewId", {
  permission: "marketplace:admin",
  summary: "Publish, hide or flag a review of a vendor",
  input: Moderation,
  success
})
export const vendorReviews = g.list("/vendor/me/reviews", {
  ...portal,
  summary: "List the reviews of the own vendor, also those that are not published",
  query: { status: Schema.optional(Schema.Literals(reviewStatuses)) },
  success
})
export const respondToReview = g.post("/vendor/me/reviews/:id/respond", {
  ...sellers,
  summary: "Answer a review of the own vendor; a second answer takes the place of the first",
  input: Schema.Struct({ response: said }),
  success
})
