import { DateTime, Effect, Schema } from "effect"
import {
  about,
  CurrentActor,
  CustomerId,
  forbidden,
  group,
  idOf,
  inputOf,
  integerBetween,
  invalid,
  isSignedIn,
  listOf,
  longText,
  notFound,
  oneOf,
  OrderId,
  table,
  Text,
  text,
  timestamp,
  uuid,
  visibleRows
} from "stoa/plugin"
import { said } from "../disputes/Dispute.ts"
import { Market, permission } from "../Market.ts"
import { ownVendor, portal, sellers } from "../parties/VendorPortal.ts"
import { ofOwnVendor, ofVendor } from "../parties/VendorRows.ts"
import { vendors } from "../vendors/Vendor.ts"
import { purchaseOf } from "./ReviewRepo.ts"

/** What buyers say of a vendor (contract, plugins §1.1). */
export const reviews = table("marketplace_vendor_reviews", {
  vendorId: uuid.references(vendors),
  customerId: idOf(CustomerId).nullable,
  orderId: idOf(OrderId).nullable,
  rating: integerBetween(1, 5).about("Stars, 1 to 5."),
  title: text.nullable,
  body: longText.nullable,
  status: oneOf(["pending", "published", "hidden", "flagged"]).default("published").about(
    "Only published reviews are shown and count. flagged: the marketplace looks at it."
  ),
  vendorResponse: longText.nullable.about("Answer of the vendor."),
  vendorRespondedAt: timestamp.nullable
}, {
  unique: [
    { columns: ["orderId", "vendorId"] },
    { columns: ["customerId", "vendorId"], where: "order_id is null" }
  ],
  personal: { of: "customerId", onErase: ["title", "body", "vendorResponse"] },
  atMost: { unbounded: "One for each order." }
})

/** What a buyer says of a vendor. `customerId` is not read: it is the caller. */
const NewReview = Schema.Struct({
  ...inputOf(reviews, { required: ["rating"] }).fields,
  orderId: Schema.optional(OrderId.annotate({ description: "Default: the last delivered order that has no review." })),
  title: Schema.optional(Text),
  body: Schema.optional(said)
})

const Moderation = inputOf(reviews, { required: ["status"] })

class NothingDelivered
  extends invalid("NothingDelivered", "orderId", "orderId must be an order with a delivery to you by this vendor.")
{}
class NotDelivered
  extends invalid("NotDelivered", "orderId", "orderId must be delivered before its vendor can be reviewed.")
{}
class OrderNotFound extends notFound("Order", "Order not found.") {}
class SignedInOnly extends forbidden("SignedInOnly", "Reviews are written by people who have signed in.") {}

/** The order that a review is about, where it has to be about one or names one. */
const purchaseFor = Effect.fnUntraced(function*(userId: string, vendorId: string, orderId?: OrderId) {
  const { db, settings: { requireVerifiedPurchase } } = yield* Market
  if (orderId === undefined && !requireVerifiedPurchase) return undefined
  const found = yield* db.use(purchaseOf)(userId, vendorId, orderId)
  if (found === undefined) return yield* orderId === undefined ? new NothingDelivered() : new OrderNotFound()
  return found.isDelivered || !requireVerifiedPurchase ? found : yield* new NotDelivered()
})

/**
 * Writes a review (contract, plugins §1.6, §1.9): one of a vendor for each order that it delivered. 404 for an order that is
 * not the actor's, 422 before delivery, 409 for a second one.
 */
const writeReview = Effect.fn("Reviews.write")(function*(vendorId: string, sent: typeof NewReview.Type) {
  const { db, host, settings } = yield* Market
  const actor = yield* CurrentActor
  yield* db.table(vendors).get(vendorId)
  if (!isSignedIn(actor)) return yield* new SignedInOnly()
  const purchase = yield* purchaseFor(actor.userId, vendorId, sent.orderId)
  return yield* db.table(reviews).insert({
    ...sent,
    vendorId,
    orderId: purchase?.orderId ?? null,
    customerId: purchase?.customerId ?? (yield* host.services.customers.ownProfileId),
    status: settings.reviewModerationEnabled ? "pending" : "published"
  })
})

/** As the vendor that it is of; 404 for a review of another one. */
const respondToReview = Effect.fn("Reviews.respond")(
  function*(which: { readonly id: string; readonly vendorId: string }, vendorResponse: string) {
    const { db } = yield* Market
    return yield* db.table(reviews).update(which, { vendorResponse, vendorRespondedAt: yield* DateTime.nowAsDate })
  }
)

const published = visibleRows(
  ["vendorId", "status"],
  (call) => Effect.map(ofVendor.whereOf(call), (own) => ({ ...own, status: "published" as const }))
)

const g = group("Marketplace reviews", "/marketplace")
const success = reviews.Row

export const reviewRoutes = [
  g.post("/vendors/:id/reviews", { auth: true, summary: "Review a vendor that delivered", input: NewReview, success })
    .handle(({ input, params }) => writeReview(params.id, input)),
  listOf(g, "/vendors/:id/reviews", reviews, {
    auth: true,
    summary: "List the published reviews of a vendor",
    visible: published
  }),
  g.patch("/reviews/:id", { permission, summary: "Change the status of a review", input: Moderation, success })
    .handle(({ db, input, params }) => db.table(reviews).update(params.id, input)),
  g.patch("/vendors/:id/reviews/:reviewId", {
    permission,
    summary: "Change the status of a review of a vendor",
    input: Moderation,
    success
  }).handle(({ db, input, params }) => db.table(reviews).update({ id: params.reviewId, vendorId: params.id }, input)),
  listOf(g, "/vendor/me/reviews", reviews, {
    ...portal,
    summary: "List the reviews of the own vendor, also those that are not published",
    filters: ["status"],
    visible: ofOwnVendor
  }),
  g.post("/vendor/me/reviews/:id/respond", {
    ...sellers,
    summary: "Reply to a review of the own vendor; a second reply replaces the first",
    input: Schema.Struct({ response: said.pipe(about("Answer that is shown below the review.")) }),
    success
  }).handle(({ actor, input, params }) =>
    respondToReview({ id: params.id, vendorId: ownVendor(actor) }, input.response)
  )
]
