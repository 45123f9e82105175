import { Effect, Schema } from "effect"
import {
  type Actor,
  EntityId,
  group,
  holds,
  isAnonymous,
  listOf,
  Moment,
  type PluginCall,
  requireWindow,
  Text,
  Until,
  type Visible,
  visibleRows
} from "stoa/plugin"
import { ImportQuery, importReviews } from "./Imports.ts"
import { JsonLd, jsonLdOf } from "./JsonLd.ts"
import { Summary, summaryOf } from "./Ratings.ts"
import {
  counters,
  NewReview,
  own,
  PublicReview,
  Reply,
  type Review,
  ReviewChange,
  reviews,
  ReviewView
} from "./Review.ts"
import { change, moderate, remove, reply, submit, unvote, vote, whole, withPhotos } from "./Reviews.ts"

const routes = group("Reviews", "/reviews")
const write = "reviews:write"
const admin = "reviews:admin"
const authorOrModerator = {
  rule: (actor: Actor) => !isAnonymous(actor) && (holds(actor, write) || holds(actor, admin)),
  missing: write
}
const everybody = "Shoppers read reviews before they sign in; only published ones are shown."

const show = (rows: ReadonlyArray<Review>, call: PluginCall) => withPhotos(call, rows)

const Asked = Schema.Struct({
  status: Schema.optional(
    Schema.Literals(["pending", "approved", "rejected", "all"]).annotate({ description: "Default: pending." })
  )
})

/** Moderators see one status at a time, so the indexes of the list begin with it. */
const moderated: Visible<typeof reviews> = {
  columns: ["status"],
  seesAll: false,
  isFew: false,
  whereOf: ({ query }) => {
    const { status = "pending" } = Schema.is(Asked)(query) ? query : {}
    return Effect.succeed(status === "all" ? {} : { status })
  }
}

/** The published reviews of an entity; 404 for one that the caller does not see. */
const ofEntity = visibleRows(["entityId", "isPublished"], ({ params, services }) => {
  const entityId = EntityId.make(params["entityId"] ?? "")
  return Effect.as(services.catalog.get(entityId, []), { entityId, isPublished: true })
})

const mine = visibleRows(
  ["customerId"],
  ({ services }) =>
    Effect.map(services.customers.existingProfile, (profile) => ({
      customerId: { in: profile === null ? [] : [profile.id] }
    }))
)

const sorts = {
  newest: ["-createdAt"],
  helpful: ["-helpfulCount", "-createdAt"],
  highest: ["-rating", "-createdAt"],
  lowest: ["rating", "-createdAt"]
} as const

export const reviewRoutes = [
  routes.post("/", {
    summary: "Review an entity",
    description:
      "It is shown once a moderator has approved it, and verified by a fulfilled order of the customer. 404 for an unknown "
      + "customer; 409 for a second review of the entity; 422 for an unknown entity or photo and an order of another customer.",
    permission: write,
    input: NewReview,
    success: ReviewView
  }).handle((call) => submit(call, call.input)),
  routes.raw("POST", "/import", {
    summary: "Import reviews from a CSV file of another shop",
    description:
      "The columns are those of exports of Judge.me: `rating` and one of `product_handle` (a slug), `product_sku` and `product_id` are "
      + "required. The file has at most 1 MB: send a longer one in parts, each with its header. A file that is sent again writes "
      + "nothing. `data` of the answer has `created`, `skipped` (there already, or the second one of a customer and an entity), `refused` with `line` and "
      + "`message`, and `warnings`. 413 for a longer file; 422 for one that cannot be read.",
    permission: admin,
    accepts: "text/csv",
    produces: "application/json",
    idempotent: true,
    query: ImportQuery
  }, (call) =>
    Effect.map(
      importReviews(call, call.body, call.query),
      (data) => ({ status: 201, body: JSON.stringify({ data }) })
    )),
  listOf(routes, "/", reviews, {
    summary: "List reviews for moderators, the oldest first",
    permission: admin,
    filters: ["rating", "isVerified", "entityId", "customerId"],
    order: ["createdAt"],
    visible: moderated,
    query: {
      ...Asked.fields,
      search: Schema.optional(Text.annotate({ description: "A part of the title." })),
      from: Schema.optional(Moment),
      to: Schema.optional(Until)
    },
    view: { success: ReviewView, show },
    answer: ({ db, page, query: { from, search, to }, where }) => {
      const text = search && { title: { contains: search } }
      const written = (from ?? to) && { createdAt: { ...(from && { gte: from }), ...(to && { lt: to }) } }
      return Effect.andThen(
        requireWindow({ from, to }, "from", "to"),
        db.table(reviews).page({ ...where, ...text, ...written }, page, ["createdAt"])
      )
    }
  }),
  listOf(routes, "/mine", reviews, {
    summary: "List the caller's reviews",
    permission: write,
    visible: mine,
    view: { success: ReviewView, show }
  }),
  listOf(routes, "/entity/:entityId", reviews, {
    summary: "List the published reviews of an entity",
    description: "404 for an entity that the caller does not see.",
    public: everybody,
    params: { entityId: EntityId },
    filters: ["rating", "isVerified"],
    visible: ofEntity,
    query: { sort: Schema.optional(Schema.Literals(["newest", "helpful", "highest", "lowest"])) },
    view: { success: PublicReview, show },
    answer: ({ db, page, query: { sort = "newest" }, where }) => db.table(reviews).page(where, page, sorts[sort])
  }),
  routes.get("/entity/:entityId/summary", {
    summary: "Get a summary of the published ratings of an entity",
    description: "404 for an entity that the caller does not see.",
    public: everybody,
    params: { entityId: EntityId },
    success: Summary
  }).handle(({ db, params, services }) => {
    const entityId = EntityId.make(params.entityId)
    return Effect.andThen(
      services.catalog.get(entityId, []),
      Effect.map(db.table(counters).first({ entityId }), summaryOf)
    )
  }),
  routes.get("/entity/:entityId/json-ld", {
    summary: "Get the ratings of an entity as schema.org data for search engines, with its ten newest reviews",
    description:
      "For a script of the type application/ld+json: write each < as \\u003c. 404 for an entity that the caller does not see.",
    public: everybody,
    params: { entityId: EntityId },
    success: JsonLd
  }).handle(({ db, params, services }) =>
    Effect.gen(function*() {
      const entityId = EntityId.make(params.entityId)
      const { attributes, slug } = yield* services.catalog.get(entityId, ["attributes"])
      const summary = summaryOf(yield* db.table(counters).first({ entityId }))
      const newest = yield* db.table(reviews).list({ entityId, isPublished: true }, {
        order: ["-createdAt"],
        limit: 10
      })
      return jsonLdOf(attributes?.[0]?.title ?? slug, summary, newest)
    })
  ),
  routes.get("/:id", {
    summary: "Get a review, for its author and moderators",
    description: "404 without it.",
    admits: authorOrModerator,
    success: ReviewView
  }).handle((call) => Effect.flatMap(call.db.use(own).get(call.params.id), (review) => whole(call, review))),
  routes.patch("/:id", {
    summary: "Change a review, for its author",
    description: "It waits for a moderator again. 404 for another one's; 422 for unknown photos.",
    permission: write,
    input: ReviewChange,
    success: ReviewView
  }).handle((call) => change(call, call.params.id, call.input)),
  routes.delete("/:id", {
    summary: "Delete a review with its photos, for its author and moderators",
    description: "404 without it.",
    admits: authorOrModerator,
    success: reviews.Row
  }).handle((call) => remove(call, call.params.id)),
  ...(["approve", "reject"] as const).map((verb) =>
    routes.patch(`/:id/${verb}`, {
      summary: verb === "approve" ? "Publish a review with its photos" : "Reject a review",
      description: "From any status; again, it changes nothing. 404 without it.",
      permission: admin,
      success: ReviewView
    }).handle((call) => moderate(call, call.params.id, verb === "approve" ? "approved" : "rejected"))
  ),
  routes.post("/:id/reply", {
    summary: "Reply to a review in the name of the store",
    description: "A second answer takes the place of the first. 404 without the review.",
    permission: admin,
    input: Reply,
    success: ReviewView
  }).handle((call) => reply(call, call.params.id, call.input)),
  routes.post("/:id/helpful", {
    summary: "Vote for a review as helpful",
    description: "404 for one that is not published; 409 for the second time; 422 for one's own.",
    permission: write,
    success: PublicReview
  }).handle((call) => vote(call, call.params.id)),
  routes.delete("/:id/helpful", {
    summary: "Remove a vote for a review",
    description: "404 without a vote.",
    permission: write,
    success: PublicReview
  }).handle((call) => unvote(call, call.params.id))
]
