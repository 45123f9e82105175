import { Effect, Schema } from "effect"
import { group, inputOf } from "stoa/plugin"
import { said } from "../disputes/Dispute.ts"
import { ownVendor, portal, sellers } from "../parties/VendorPortal.ts"
import { vendors } from "../vendors/Vendor.ts"
import { NewReview, respondToReview, reviews, writeReview } from "./Reviews.ts"

const Moderation = inputOf(reviews, { required: ["status"] })

const g = group("Marketplace reviews", "/marketplace")
const success = reviews.Row
const permission = "marketplace:admin"

export const reviewRoutes = [
  g.post("/vendors/:id/reviews", { auth: true, summary: "Review a vendor that delivered", input: NewReview, success })
    .handle(({ input, params }) => writeReview(params.id, input)),
  g.list("/vendors/:id/reviews", { auth: true, summary: "List the published reviews of a vendor", success })
    .handle(({ db, page, params: { id } }) =>
      Effect.andThen(db.table(vendors).get(id), db.table(reviews).page({ vendorId: id, status: "published" }, page))
    ),
  g.patch("/reviews/:id", { permission, summary: "Publish, hide or flag a review", input: Moderation, success })
    .handle(({ db, input, params }) => db.table(reviews).update(params.id, input)),
  g.patch("/vendors/:id/reviews/:reviewId", {
    permission,
    summary: "Publish, hide or flag a review of a vendor",
    input: Moderation,
    success
  }).handle(({ db, input, params }) => db.table(reviews).update({ id: params.reviewId, vendorId: params.id }, input)),
  g.list("/vendor/me/reviews", {
    ...portal,
    summary: "List the reviews of the own vendor, also those that are not published",
    query: { status: Schema.optional(reviews.columns.status.schema) },
    success
  }).handle(({ actor, db, page, query }) => db.table(reviews).page({ ...query, vendorId: ownVendor(actor) }, page)),
  g.post("/vendor/me/reviews/:id/respond", {
    ...sellers,
    summary: "Answer a review of the own vendor; a second answer takes the place of the first",
    input: Schema.Struct({ response: said }),
    success
  }).handle(({ actor, input, params }) =>
    respondToReview({ id: params.id, vendorId: ownVendor(actor) }, input.response)
  )
]
