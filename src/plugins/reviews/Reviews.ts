import { Array, DateTime, Effect } from "effect"
import {
  type Actor,
  conflict,
  CurrentActor,
  type CustomerId,
  holds,
  invalid,
  isSignedIn,
  type MediaAssetId,
  notFound,
  type PluginCall,
  type Which
} from "stoa/plugin"
import { settle } from "./Ratings.ts"
import type { NewReview, Reply, ReviewChange } from "./Review.ts"
import { own, photos, type Review, reviews, votes } from "./Review.ts"
import { isErased, purchaseOf, reviewsOf } from "./ReviewsRepo.ts"

type Tools = Pick<PluginCall, "db" | "jobs" | "services">

class ForeignOrder extends invalid("ForeignOrder", "orderId", "orderId must be an order of the customer.") {}
class CustomerMissing
  extends invalid("CustomerMissing", "customerId", "customerId is required of callers without a profile.")
{}
class NoPhoto extends invalid(
  "NoPhoto",
  "photoIds",
  "photoIds must be private images that you uploaded and that nothing else uses."
) {}
class OwnReview extends invalid("OwnReview", "", "Your own review can only be found helpful by others.") {}
class AlreadyHelpful extends conflict("AlreadyHelpful", "You have found this review helpful already.") {}
class NoVote extends notFound("Vote", "You have not found this review helpful.") {}

/** Roles that may write in the name of a customer (contract, plugins §10). */
const onBehalf: ReadonlyArray<string> = ["staff", "admin", "owner", "ai_agent", "service"]

const customerFor = Effect.fnUntraced(function*({ services }: Tools, actor: Actor, named: CustomerId | undefined) {
  const mayName = onBehalf.includes(actor.role) || holds(actor, "reviews:admin")
  if (mayName && named !== undefined) return yield* services.customers.mustExist(named)
  return isSignedIn(actor) ? (yield* services.customers.ownProfile).id : yield* new CustomerMissing()
})

/** Reviews with the ids of their photos, in one statement. */
export const withPhotos = Effect.fnUntraced(function*({ db }: Pick<Tools, "db">, found: ReadonlyArray<Review>) {
  const rows = found.length === 0 ? [] : yield* db.table(photos).list(
    { reviewId: { in: found.map(({ id }) => id) } },
    { order: ["position"] }
  )
  const by = Array.groupBy(rows, ({ reviewId }) => reviewId)
  return found.map((review) => ({ ...review, photoIds: (by[review.id] ?? []).map(({ mediaAssetId }) => mediaAssetId) }))
})

/** A review with the ids of its photos. */
export const whole = (tools: Pick<Tools, "db">, review: Review) =>
  Effect.map(withPhotos(tools, [review]), ([view]) => view ?? { ...review, photoIds: [] })

/** What events have of a review, without texts: what a person wrote can be erased, and the change log stays. */
type Announced = Pick<Review, "customerId" | "entityId" | "id" | "isVerified" | "rating" | "status">

export const announce = ({ db }: Tools, event: string, ...reviews: ReadonlyArray<Announced>) =>
  db.announce(
    `reviews.${event}`,
    reviews.map(({ customerId, entityId, id, isVerified, rating, status }) => ({
      entityType: "review",
      entityId: id,
      payload: { id, customerId, entityId, rating, status, isVerified }
    }))
  )

const photosOf = ({ db }: Tools, { id }: Review) => db.table(photos).list({ reviewId: id }, { order: ["position"] })

/** A photo that was removed elsewhere is nothing to show or hide. */
const showPhotos = Effect.fnUntraced(function*(tools: Tools, review: Review, isPublic: boolean) {
  for (const { mediaAssetId } of yield* photosOf(tools, review)) {
    yield* Effect.catchTag(tools.services.media.update(mediaAssetId, { isPublic }), "NotFound/Media", () => Effect.void)
  }
})

const dropFiles = ({ jobs, services }: Tools, ids: ReadonlyArray<MediaAssetId>) =>
  ids.length === 0
    ? Effect.void
    : Effect.andThen(services.media.release(ids), jobs.enqueue("reviews/remove-photos", { ids }))

/** The review has these photos and no others; files of those that it had before are removed once this is committed. */
const setPhotos = Effect.fnUntraced(function*(tools: Tools, review: Review, ids: ReadonlyArray<MediaAssetId>) {
  const before = yield* photosOf(tools, review)
  const known = new Set(before.map(({ mediaAssetId }) => mediaAssetId))
  for (const id of ids.filter((id) => !known.has(id))) {
    if (!(yield* tools.services.media.claim(id))) return yield* new NoPhoto()
  }
  const table = tools.db.table(photos)
  for (const { id } of before) yield* table.delete(id)
  yield* table.insertMany(ids.map((mediaAssetId, position) => ({ reviewId: review.id, mediaAssetId, position })))
  yield* dropFiles(tools, [...known].filter((id) => !ids.includes(id)))
})

/**
 * Submits a review, which waits for a moderator. It is verified by a fulfilled order of its customer that contains the entity.
 * 409 for a second review of the entity; 422 for an unknown entity or photo and an order of another customer.
 */
export const submit = Effect.fn("Reviews.submit")(
  function*(tools: Tools, { customerId: named, orderId, photoIds = [], ...sent }: typeof NewReview.Type) {
    const actor = yield* CurrentActor
    const customerId = yield* customerFor(tools, actor, named)
    const purchase = yield* tools.db.use(purchaseOf)(customerId, sent.entityId, orderId)
    if (purchase === undefined && orderId !== undefined) return yield* new ForeignOrder()
    const review = yield* tools.db.table(reviews).insert({ ...sent, ...purchase, customerId })
    yield* setPhotos(tools, review, photoIds)
    yield* announce(tools, "submitted", review)
    return yield* whole(tools, review)
  },
  (work, { db }) => db.transaction(work)
)

/** Moves a review between its states: rating of the entity, photos and event change with it. */
const become = Effect.fnUntraced(function*(tools: Tools, before: Review, status: Review["status"], event: string) {
  const isPublished = status === "approved"
  const after = yield* tools.db.table(reviews).update(before.id, { status, isPublished })
  yield* settle(tools, before, after)
  if (before.isPublished !== isPublished) yield* showPhotos(tools, after, isPublished)
  yield* announce(tools, event, after)
  return after
})

/** Approves or rejects a review in any state (contract, plugins §10); again, it changes nothing. 404 without it. */
export const moderate = Effect.fn("Reviews.moderate")(
  function*(tools: Tools, id: string, status: "approved" | "rejected") {
    const review = yield* tools.db.table(reviews).lock(id)
    return yield* whole(tools, review.status === status ? review : yield* become(tools, review, status, status))
  },
  (work, { db }) => db.transaction(work)
)

/** Changes a review, which waits for a moderator again. 404 without it. */
export const changeWhich = Effect.fnUntraced(
  function*(tools: Tools, which: Which<typeof reviews>, { photoIds, ...sent }: typeof ReviewChange.Type) {
    const review = yield* tools.db.table(reviews).lock(which)
    const hidden = yield* become(tools, review, "pending", "submitted")
    if (photoIds !== undefined) yield* setPhotos(tools, hidden, photoIds)
    return yield* whole(tools, yield* tools.db.table(reviews).update(review.id, sent))
  },
  (work, { db }) => db.transaction(work)
)

/** Changes the caller's review. 404 for another one's. */
export const change = Effect.fn("Reviews.change")(
  function*(tools: Tools, id: string, sent: typeof ReviewChange.Type) {
    return yield* changeWhich(tools, yield* tools.db.use(own).which(id), sent)
  }
)

/** Deletes a review with its votes and photos. 404 without it. */
export const removeWhich = Effect.fnUntraced(
  function*(tools: Tools, which: Which<typeof reviews>) {
    const review = yield* tools.db.table(reviews).lock(which)
    yield* dropFiles(tools, (yield* photosOf(tools, review)).map(({ mediaAssetId }) => mediaAssetId))
    yield* tools.db.table(reviews).delete(review.id)
    yield* settle(tools, review, undefined)
    yield* announce(tools, "removed", review)
    return review
  },
  (work, { db }) => db.transaction(work)
)

/** The author, or a moderator, removes a review. 404 for another one's. */
export const remove = Effect.fn("Reviews.remove")(function*(tools: Tools, id: string) {
  return yield* removeWhich(tools, yield* tools.db.use(own).which(id))
})

/** The store's answer to a review in any state; a second one takes the place of the first. */
export const reply = Effect.fn("Reviews.reply")(
  function*(tools: Tools, id: string, sent: typeof Reply.Type) {
    const at = yield* DateTime.nowAsDate
    const review = yield* tools.db.table(reviews).update(id, { ...sent, responseAt: at })
    yield* announce(tools, "replied", review)
    return yield* whole(tools, review)
  },
  (work, { db }) => db.transaction(work)
)

/** A vote, counted under the lock of its review. */
const counted = Effect.fnUntraced(function*(tools: Tools, review: Review, by: 1 | -1) {
  return yield* tools.db.table(reviews).update(review.id, { helpfulCount: review.helpfulCount + by })
})

/** Finds a published review helpful, once; 404 for one that is not published, 409 for the second time and one's own. */
export const vote = Effect.fn("Reviews.vote")(
  function*(tools: Tools, id: string) {
    const { id: customerId } = yield* tools.services.customers.ownProfile
    const review = yield* tools.db.table(reviews).lock({ id, isPublished: true })
    if (review.customerId === customerId) return yield* new OwnReview()
    if (yield* tools.db.table(votes).first({ reviewId: id, customerId })) return yield* new AlreadyHelpful()
    yield* tools.db.table(votes).insert({ reviewId: id, customerId })
    return yield* whole(tools, yield* counted(tools, review, 1))
  },
  (work, { db }) => db.transaction(work)
)

const takeBack = Effect.fnUntraced(
  function*(tools: Tools, id: string, customerId: CustomerId) {
    const review = yield* tools.db.table(reviews).lock(id)
    const given = yield* tools.db.table(votes).first({ reviewId: id, customerId })
    if (given === undefined) return yield* new NoVote()
    yield* tools.db.table(votes).delete(given.id)
    return yield* whole(tools, yield* counted(tools, review, -1))
  },
  (work, { db }) => db.transaction(work)
)

/** Takes a vote back; 404 without one. */
export const unvote = Effect.fn("Reviews.unvote")(function*(tools: Tools, id: string) {
  return yield* takeBack(tools, id, (yield* tools.services.customers.ownProfile).id)
})

/** A customer whose personal data were erased leaves no review, photo or vote, also of orders as a guest. Safe to repeat. */
export const forget = Effect.fn("Reviews.forget")(function*(tools: Tools, customerId: CustomerId) {
  if (!(yield* tools.db.use(isErased)(customerId))) return
  for (const { reviewId } of yield* tools.db.table(votes).list({ customerId })) {
    yield* Effect.ignore(takeBack(tools, reviewId, customerId))
  }
  for (const id of yield* tools.db.use(reviewsOf)(customerId)) yield* removeWhich(tools, id)
})
