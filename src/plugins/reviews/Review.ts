import { Schema } from "effect"
import {
  boolean,
  childOf,
  CustomerId,
  EntityId,
  FreeText,
  idOf,
  inputOf,
  integer,
  integerBetween,
  list,
  longText,
  MediaAssetId,
  modelOf,
  oneOf,
  OrderId,
  type RowOf,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"

/** What a customer says of a thing (contract, plugins §10): one of each, so that no one's voice counts twice. */
export const reviews = table("customer_reviews", {
  customerId: idOf(CustomerId).existing("customer").nullable,
  entityId: idOf(EntityId).existing("entity"),
  /** The fulfilled order that makes it verified, or the one that it names. */
  orderId: idOf(OrderId).existing("order").nullable,
  rating: integerBetween(1, 5),
  title: text.nullable,
  body: longText.nullable,
  /** Pictures that the shopper has sent, as assets of the core's media. */
  photoIds: list(idOf(MediaAssetId)).default([]),
  status: oneOf(["pending", "approved", "rejected"]).default("pending"),
  isVerified: boolean.default(false),
  isPublished: boolean.default(false),
  helpfulCount: integer.default(0),
  response: longText.nullable,
  responseBy: text.nullable,
  responseAt: timestamp.nullable
}, {
  unique: [{ columns: ["customerId", "entityId"], where: "customer_id is not null" }],
  indexes: [
    { columns: ["entityId", "isPublished", "createdAt"], descending: true },
    { columns: ["entityId", "isPublished", "helpfulCount"], descending: true },
    { columns: ["status", "createdAt"], descending: true },
    { columns: ["customerId", "createdAt"], descending: true }
  ],
  checks: { published: "not is_published or status = 'approved'", photos: "cardinality(photo_ids) <= 6" }
})
export type Review = RowOf<typeof reviews>

/** Who found a review helpful. */
export const votes = childOf(reviews, "reviewId", "customer_review_votes", {
  reviewId: uuid.references(reviews),
  customerId: idOf(CustomerId)
}, { unique: [{ columns: ["reviewId", "customerId"] }] })

/** How many published reviews of a thing give so many stars. Changed with them, so that no page of a shop counts reviews. */
export const summaries = table("review_summaries", {
  entityId: idOf(EntityId).unique(),
  star1: integer.default(0),
  star2: integer.default(0),
  star3: integer.default(0),
  star4: integer.default(0),
  star5: integer.default(0)
}, { changeLog: false })
export type Summary = RowOf<typeof summaries>

/** Orders whose customers were asked for reviews. */
export const requests = table("review_requests", { orderId: idOf(OrderId).unique() }, { changeLog: false })

const Words = FreeText.check(Schema.isBetweenLength(1, 10_000))
const Photos = Schema.Array(MediaAssetId).check(Schema.isMaxLength(6)).annotate({
  description: "Ids of pictures at /api/media, at most 6."
})
const said = { title: Schema.optional(inputOf(reviews).fields.title), body: Schema.optional(Schema.NullOr(Words)) }

export const NewReview = Schema.Struct({
  ...inputOf(reviews, { required: ["entityId", "rating"] }).fields,
  ...said,
  orderId: Schema.optional(OrderId.annotate({ description: "Default: a fulfilled order of the customer's with it." })),
  photoIds: Schema.optional(Photos),
  customerId: Schema.optional(CustomerId.annotate({ description: "For staff (`reviews:admin`). Default: the caller." }))
})

export const ReviewChange = Schema.Struct({
  ...inputOf(reviews, { optional: ["rating"] }).fields,
  ...said,
  photoIds: Schema.optional(Photos)
})

export const Reply = Schema.Struct({
  response: Words,
  responseBy: inputOf(reviews, { required: ["title"] }).fields.title
})

export const SummaryView = Schema.Struct({
  averageRating: Schema.Finite.annotate({ description: "Of published reviews, two decimals; 0 without any." }),
  totalCount: Schema.Int,
  distribution: Schema.Record(Schema.Literals(["1", "2", "3", "4", "5"]), Schema.Int)
})

type Stars = Pick<Summary, "star1" | "star2" | "star3" | "star4" | "star5">

export const summaryView = ({ star1, star2, star3, star4, star5 }: Stars): typeof SummaryView.Type => {
  const totalCount = star1 + star2 + star3 + star4 + star5
  const sum = star1 + 2 * star2 + 3 * star3 + 4 * star4 + 5 * star5
  return {
    averageRating: totalCount === 0 ? 0 : Math.round((100 * sum) / totalCount) / 100,
    totalCount,
    distribution: { 1: star1, 2: star2, 3: star3, 4: star4, 5: star5 }
  }
}

/** A review as visitors see it: who wrote it, and in which order it was bought, is not shown. */
export const shownToAll = (review: Review): Review => ({ ...review, customerId: null, orderId: null })

const model = modelOf(reviews, {
  name: "Reviews",
  sums: ["helpfulCount"],
  dims: ["entityId", "rating", "status", "isVerified", "isPublished", "createdAt"]
})

/** Reviews by thing, stars and state. */
export const reviewModel = {
  ...model,
  measures: { ...model.measures, averageRating: { type: "avg", sql: "customer_reviews.rating", decimals: 2 } }
} as const
