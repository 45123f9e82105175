import { DateTime, Effect, Schema, Struct } from "effect"
import {
  about,
  conflict,
  type EntityId,
  invalid,
  NotFound,
  notFound,
  type PluginCall,
  type PluginContext
} from "stoa/plugin"
import { NewReview, PublicReview, type Review, ReviewChange, reviews } from "./Review.ts"
import { daysAfter, requests, type ReviewSettings } from "./ReviewRequests.ts"
import { announce, changeWhich, removeWhich, whole, withPhotos } from "./Reviews.ts"
import { type LinkedOrder, linkedOrder } from "./ReviewsRepo.ts"

class LinkEnded
  extends notFound("ReviewLink", "This link is not one of a mail that asks for reviews, or it has ended.")
{}
class NotDelivered
  extends invalid("NotDelivered", "entityId", "entityId must be one of the delivered goods of the order.")
{}
class NoReview extends notFound("Review", "You have not reviewed this with the link.") {}
class AlreadyReviewed extends conflict("AlreadyReviewed", "This was reviewed already. Change that review instead.") {}

/** Guests upload no photos. */
export const GuestReview = Schema.Struct(
  Struct.pick(NewReview.fields, ["entityId", "rating", "title", "body", "authorName"])
)
export const GuestChange = Schema.Struct(Struct.pick(ReviewChange.fields, ["rating", "title", "body", "authorName"]))

/** The goods of an order with their reviews. */
export const GuestOrder = Schema.Struct({
  number: Schema.String.pipe(about("Number of the order.")),
  things: Schema.Array(Schema.Struct({
    entityId: NewReview.fields.entityId,
    title: Schema.String,
    review: Schema.NullOr(PublicReview).pipe(about("Review of the guest; null: not written yet."))
  })).pipe(about("Goods of the order, each once."))
}).annotate({ identifier: "ReviewsOfOrder" })

/** An order that a link has opened, and a call in its organization. */
interface Opened {
  readonly call: PluginCall
  readonly order: LinkedOrder
}

/** Reviews of the goods of one order, by the link of its mail; 404 for every token that opens nothing. */
export const guestReviews = ({ digests, ofRecord }: PluginContext, { linkDays }: ReviewSettings) => {
  /** The order stays locked, so that an erasure finds what is written here. */
  const opened = Effect.fnUntraced(function*(call: PluginCall, requestId: string) {
    const { orderId, sentAt } = yield* call.db.table(requests).get(requestId)
    const now = yield* DateTime.nowAsDate
    if (sentAt === null || daysAfter(sentAt, linkDays) <= now) return yield* new LinkEnded()
    const order = yield* call.db.use(linkedOrder)(orderId)
    return order === undefined ? yield* new LinkEnded() : order
  })

  const withLink = <A, E, R>(token: string | undefined, work: (opened: Opened) => Effect.Effect<A, E, R>) =>
    Effect.gen(function*() {
      const [requestId = "", ...signature] = (token ?? "").split(".")
      if (!digests(`link ${requestId}`).includes(signature.join("."))) return yield* new LinkEnded()
      const inRecord = ofRecord(requests, requestId)
      return yield* inRecord((call) =>
        call.db.transaction(Effect.gen(function*() {
          const order = yield* Effect.catchIf(opened(call, requestId), Schema.is(NotFound), () => new LinkEnded())
          return yield* work({ call, order })
        }))
      )
    })

  const reviewOf = Effect.fnUntraced(function*({ call, order }: Opened, entityId: EntityId) {
    return (yield* call.db.table(reviews).first({ orderId: order.id, entityId })) ?? (yield* new NoReview())
  })

  return {
    list: (token: string | undefined) =>
      withLink(token, ({ call, order: { id, number, things } }) =>
        Effect.gen(function*() {
          const found = yield* withPhotos(call, yield* call.db.table(reviews).list({ orderId: id }))
          const by = new Map(found.map((review) => [review.entityId, review]))
          return { number, things: things.map((one) => ({ ...one, review: by.get(one.entityId) ?? null })) }
        })),
    submit: (token: string | undefined, sent: typeof GuestReview.Type) =>
      withLink(token, ({ call, order: { customerId, id, things } }) =>
        Effect.gen(function*() {
          if (!things.some(({ entityId }) => entityId === sent.entityId)) return yield* new NotDelivered()
          const table = call.db.table(reviews)
          if (yield* table.first({ orderId: id, entityId: sent.entityId })) return yield* new AlreadyReviewed()
          const review: Review = yield* table.insert({ ...sent, customerId, orderId: id, isVerified: true })
          yield* announce(call, "submitted", review)
          return yield* whole(call, review)
        })),
    change: (token: string | undefined, entityId: EntityId, sent: typeof GuestChange.Type) =>
      withLink(
        token,
        (opened) => Effect.flatMap(reviewOf(opened, entityId), ({ id }) => changeWhich(opened.call, id, sent))
      ),
    withdraw: (token: string | undefined, entityId: EntityId) =>
      withLink(token, (opened) =>
        Effect.gen(function*() {
          const { id } = yield* reviewOf(opened, entityId)
          return { ...yield* removeWhich(opened.call, id), photoIds: [] }
        }))
  }
}
