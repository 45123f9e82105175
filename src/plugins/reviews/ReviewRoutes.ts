import { Effect, Schema } from "effect"
import { EntityId, group, notFound, ownedBy, resource } from "stoa/plugin"
import { NewReview, Reply, ReviewChange, reviews, shownToAll, SummaryView, summaryView } from "./Review.ts"
import { change, decide, remove, reply, submit, vote } from "./Reviews.ts"
import { summaryOf } from "./ReviewsRepo.ts"

const routes = group("Reviews", "/reviews")
const [write, admin] = ["reviews:write", "reviews:admin"]
const success = reviews.Row
const missing = "404 without it."
const reason = "Reviews are a part of the shop's pages."

class EntityNotFound extends notFound("Entity", "Entity not found.") {}

const mine = ownedBy(reviews, { customer: "customerId" })

const readRoutes = [
  ...resource(routes, "/", reviews, {
    noun: "review",
    read: admin,
    write: admin,
    filters: ["status", "rating", "entityId", "customerId", "isVerified", "isPublished"],
    search: ["title"],
    get: false,
    create: false,
    patch: false,
    remove: false
  }),
  routes.list("/entity/:entityId", {
    summary: "List the published reviews of a thing",
    description: "Newest first, or the most helpful first. Customers and orders are not shown.",
    public: reason,
    query: {
      rating: Schema.optional(Schema.Literals(["1", "2", "3", "4", "5"])),
      isVerified: Schema.optional(Schema.Literals(["true"])),
      sort: Schema.optional(Schema.Literals(["newest", "helpful"]))
    },
    success
  }).handle(({ db, page, params, query: { isVerified, rating, sort } }) => {
    const where = {
      entityId: EntityId.make(params.entityId),
      isPublished: true,
      ...(rating && { rating: Number(rating) }),
      ...(isVerified && { isVerified: true })
    }
    return db.table(reviews).page(where, page, sort === "helpful" ? ["-helpfulCount"] : undefined).pipe(
      Effect.map((found) => ({ ...found, items: found.items.map(shownToAll) }))
    )
  }),
  routes.get("/entity/:entityId/summary", {
    summary: "Get the rating of a thing",
    description: `Of its published reviews. ${missing}`,
    public: reason,
    success: SummaryView
  }).handle(({ db, params }) =>
    Effect.flatMap(
      summaryOf(db, EntityId.make(params.entityId)),
      (found) => found === undefined ? new EntityNotFound() : Effect.succeed(summaryView(found))
    )
  ),
  routes.list("/mine", { summary: "List the caller's reviews, in any state", permission: write, success })
    .handle((call) => mine.page(call, {}, call.page))
]

const authorRoutes = [
  routes.post("/", {
    summary: "Review a thing",
    description:
      "It is shown once it is approved. 409 when the customer has reviewed the thing; 422 for an unknown thing or picture, or " +
      "an order that is not theirs.",
    permission: write,
    input: NewReview,
    success
  }).handle((call) => submit(call, call.actor, call.input)),
  routes.patch("/:id", {
    summary: "Change one's review",
    description: `It has to be approved again. ${missing}`,
    permission: write,
    input: ReviewChange,
    success
  }).handle((call) => change(call, call.actor, call.params.id, call.input)),
  routes.delete("/:id", { summary: "Remove one's review", description: missing, permission: write, success })
    .handle((call) => remove(call, call.actor, call.params.id)),
  routes.post("/:id/helpful", {
    summary: "Find a review helpful",
    description: `${missing} 409 the second time; 422 for one's own.`,
    permission: write,
    success
  }).handle((call) => Effect.map(vote(call, call.actor, call.params.id, true), shownToAll)),
  routes.delete("/:id/helpful", {
    summary: "Take back that a review was helpful",
    description: "404 without it, and when it was not said.",
    permission: write,
    success
  }).handle((call) => Effect.map(vote(call, call.actor, call.params.id, false), shownToAll))
]

const moderatorRoutes = [
  routes.patch("/:id/approve", { summary: "Publish a review", description: missing, permission: admin, success })
    .handle((call) => decide(call, call.params.id, "approved")),
  routes.patch("/:id/reject", { summary: "Take a review off", description: missing, permission: admin, success })
    .handle((call) => decide(call, call.params.id, "rejected")),
  routes.post("/:id/reply", {
    summary: "Answer a review for the store",
    description: `A second answer takes the place of the first. ${missing}`,
    permission: admin,
    input: Reply,
    success
  }).handle((call) => reply(call, call.params.id, call.input))
]

export const reviewRoutes = [...readRoutes, ...authorRoutes, ...moderatorRoutes]
