import { DateTime, Effect } from "effect"
import {
  type Actor,
  type ChangeOf,
  conflict,
  type CustomerId,
  forbidden,
  holds,
  invalid,
  isSignedIn,
  MediaAssetId,
  notFound,
  type PluginTools
} from "stoa/plugin"
import { type NewReview, type Reply, type Review, type ReviewChange, reviews, votes } from "./Review.ts"
import { countStars, purchaseOf } from "./ReviewsRepo.ts"

type Tools = Pick<PluginTools, "db" | "services">

class NotSignedIn extends forbidden("NotSignedIn", "Reviews are written by people who have signed in.") {}
class ForeignOrder extends invalid("ForeignOrder", "orderId", "is no order of the customer's with this thing") {}
class UnknownPhoto extends invalid("UnknownPhoto", "photoIds", "names a picture that is not there", "not_found") {}
class ReviewNotFound extends notFound("Review", "Review not found.") {}
class OwnReview extends invalid("OwnReview", "", "a review is found helpful by others") {}
class AlreadyHelpful extends conflict("AlreadyHelpful", "You found this review helpful already.") {}

/** The profile of the caller, which is made if there is none. */
const profileOf = Effect.fnUntraced(function*({ services }: Tools, actor: Actor) {
  return isSignedIn(actor) ? (yield* services.customers.ownProfile).id : yield* new NotSignedIn()
})

const knownPhotos = ({ services }: Tools, ids: ReadonlyArray<string> = []) =>
  Effect.forEach(ids, (id) => services.media.record(MediaAssetId.make(id)), { discard: true }).pipe(
    Effect.mapError(() => new UnknownPhoto())
  )

/** Moves the counters of the thing from what a review was to what it is, and its search document with them. */
const counted = Effect.fnUntraced(
  function*({ db, services }: Tools, before: Review | undefined, after: Review | undefined) {
    const [was, is] = [before, after].map((review) => review?.isPublished === true ? review : undefined)
    if (was?.rating === is?.rating) return
    for (const [review, step] of [[was, -1], [is, 1]] as const) {
      if (review !== undefined) yield* countStars(db, review.entityId, review.rating, step)
    }
    const entityId = (was ?? is)?.entityId
    if (entityId !== undefined) yield* services.search.changed([entityId])
  }
)

/** Changes a review with its counters; the row is locked, so that of two decisions at once the later one counts. */
const changed = (tools: Tools, which: Parameters<typeof locked>[1], change: ChangeOf<typeof reviews>) =>
  tools.db.transaction(Effect.gen(function*() {
    const before = yield* locked(tools, which)
    const after = yield* tools.db.table(reviews).update(before.id, change)
    yield* counted(tools, before, after)
    return after
  }))

const locked = ({ db }: Tools, which: string | { readonly id: string; readonly customerId: CustomerId }) =>
  db.table(reviews).lock(which)

/**
 * Writes a review, to be approved. Verified if the customer has a fulfilled order with the thing. 409 for a second one of the
 * customer; 422 for an unknown thing or picture, or an order that is not theirs.
 */
export const submit = Effect.fn("Reviews.submit")(
  function*(tools: Tools, actor: Actor, { customerId: named, ...sent }: typeof NewReview.Type) {
    const { entityId, orderId } = sent
    const customerId = named !== undefined && holds(actor, "reviews:admin") ? named : yield* profileOf(tools, actor)
    yield* knownPhotos(tools, sent.photoIds)
    const purchase = yield* purchaseOf(tools.db, { customerId, entityId, orderId })
    if (orderId !== undefined && purchase === undefined) return yield* new ForeignOrder()
    const isVerified = purchase?.isFulfilled === true
    const ofOrder = isVerified ? purchase.orderId : orderId ?? null
    return yield* tools.db.table(reviews).insert({ ...sent, customerId, isVerified, orderId: ofOrder })
  }
)

/** Changes the caller's review, which has to be approved again. 404 for one of others. */
export const change = Effect.fn("Reviews.change")(
  function*(tools: Tools, actor: Actor, id: string, sent: typeof ReviewChange.Type) {
    const customerId = yield* profileOf(tools, actor)
    yield* knownPhotos(tools, sent.photoIds)
    return yield* changed(tools, { id, customerId }, { ...sent, status: "pending", isPublished: false })
  }
)

/** Publishes a review, or takes it off. */
export const decide = (tools: Tools, id: string, status: "approved" | "rejected") =>
  changed(tools, id, { status, isPublished: status === "approved" })

/** Answers a review for the store; a second answer takes the place of the first. */
export const reply = Effect.fn("Reviews.reply")(function*({ db }: Tools, id: string, sent: typeof Reply.Type) {
  return yield* db.table(reviews).update(id, { ...sent, responseAt: yield* DateTime.nowAsDate })
})

/** Removes a review: the caller's, or any for those who moderate. 404 for one of others. */
export const remove = Effect.fn("Reviews.remove")(function*(tools: Tools, actor: Actor, id: string) {
  const which = holds(actor, "reviews:admin") ? id : { id, customerId: yield* profileOf(tools, actor) }
  return yield* tools.db.transaction(Effect.gen(function*() {
    const before = yield* locked(tools, which)
    yield* tools.db.table(reviews).delete(before.id)
    yield* counted(tools, before, undefined)
    return before
  }))
})

/** Says that a published review of others was helpful, once, or takes it back. 409 when it was said, 404 when it was not. */
export const vote = Effect.fn("Reviews.vote")(function*(tools: Tools, actor: Actor, id: string, isHelpful: boolean) {
  const { db } = tools
  const customerId = yield* profileOf(tools, actor)
  return yield* db.transaction(Effect.gen(function*() {
    const review = yield* locked(tools, id)
    if (!review.isPublished) return yield* new ReviewNotFound()
    if (review.customerId === customerId) return yield* new OwnReview()
    const given = yield* db.table(votes).first({ reviewId: id, customerId })
    if (isHelpful) {
      if (given !== undefined) return yield* new AlreadyHelpful()
      yield* db.table(votes).insert({ reviewId: id, customerId })
    } else {
      if (given === undefined) return yield* new ReviewNotFound()
      yield* db.table(votes).delete(given.id)
    }
    return yield* db.table(reviews).update(id, { helpfulCount: review.helpfulCount + (isHelpful ? 1 : -1) })
  }))
})
