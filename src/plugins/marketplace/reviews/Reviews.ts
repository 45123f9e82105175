import { DateTime, Effect, Schema } from "effect"
import {
  CurrentActor,
  CustomerId,
  forbidden,
  idOf,
  inputOf,
  integerBetween,
  invalid,
  isSignedIn,
  longText,
  notFound,
  oneOf,
  OrderId,
  table,
  Text,
  text,
  timestamp,
  uuid
} from "stoa/plugin"
import { said } from "../disputes/Dispute.ts"
import { Market } from "../Market.ts"
import { vendors } from "../vendors/Vendor.ts"
import { type Buying, purchaseOf } from "./ReviewRepo.ts"

/** What buyers say of a vendor (contract, plugins §1.1). */
export const reviews = table("marketplace_vendor_reviews", {
  vendorId: uuid.references(vendors),
  customerId: idOf(CustomerId).nullable,
  orderId: idOf(OrderId).nullable,
  rating: integerBetween(1, 5),
  title: text.nullable,
  body: longText.nullable,
  status: oneOf(["pending", "published", "hidden", "flagged"]).default("published"),
  vendorResponse: longText.nullable,
  vendorRespondedAt: timestamp.nullable
}, {
  unique: [
    { columns: ["orderId", "vendorId"] },
    { columns: ["customerId", "vendorId"], where: "order_id is null" }
  ],
  indexes: [{ columns: ["vendorId", "status", "createdAt"], descending: true }]
})

/** What a buyer says of a vendor. `customerId` is not read: it is the caller. */
export const NewReview = Schema.Struct({
  ...inputOf(reviews, { required: ["rating"] }).fields,
  orderId: Schema.optional(OrderId.annotate({ description: "Default: the last delivered order that has no review." })),
  title: Schema.optional(Text),
  body: Schema.optional(said)
})

class NothingDelivered extends invalid("NothingDelivered", "orderId", "nothing was delivered to you by this vendor") {}
class NotDelivered
  extends invalid("NotDelivered", "orderId", "is not delivered: its vendor can be reviewed once it is")
{}
class OrderNotFound extends notFound("Order", "Order not found.") {}
class SignedInOnly extends forbidden("SignedInOnly", "Reviews are written by people who have signed in.") {}

/** The order that a review is about, where it has to be about one or names one. */
const purchaseFor = Effect.fnUntraced(function*(buying: Buying, orderId: OrderId | undefined) {
  const { db, settings: { requireVerifiedPurchase } } = yield* Market
  if (orderId === undefined && !requireVerifiedPurchase) return undefined
  const found = yield* purchaseOf(db, buying, orderId)
  if (found === undefined) return yield* orderId === undefined ? new NothingDelivered() : new OrderNotFound()
  return found.isDelivered || !requireVerifiedPurchase ? found : yield* new NotDelivered()
})

/**
 * Writes a review (contract, plugins §1.6, §1.9): one of a vendor for each order that it delivered. 404 for an order that is
 * not the actor's, 422 before delivery, 409 for a second one.
 */
export const writeReview = Effect.fn("Reviews.write")(function*(vendorId: string, sent: typeof NewReview.Type) {
  const { db, host, settings } = yield* Market
  const actor = yield* CurrentActor
  yield* db.table(vendors).get(vendorId)
  if (!isSignedIn(actor)) return yield* new SignedInOnly()
  const { organizationId, userId } = actor
  const purchase = yield* purchaseFor({ organizationId, userId, vendorId }, sent.orderId)
  return yield* db.table(reviews).insert({
    ...sent,
    vendorId,
    orderId: purchase?.orderId ?? null,
    customerId: purchase?.customerId ?? (yield* host.services.customers.ownProfileId),
    status: settings.reviewModerationEnabled ? "pending" : "published"
  })
})

/** As the vendor that it is of; 404 for a review of another one. */
export const respondToReview = Effect.fn("Reviews.respond")(
  function*(which: { readonly id: string; readonly vendorId: string }, vendorResponse: string) {
    const { db } = yield* Market
    return yield* db.table(reviews).update(which, { vendorResponse, vendorRespondedAt: yield* DateTime.nowAsDate })
  }
)
