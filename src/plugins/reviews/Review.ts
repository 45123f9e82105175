import { Schema, Struct } from "effect"
import {
  about,
  boolean,
  childOf,
  CustomerId,
  EntityId,
  fieldsOf,
  FreeText,
  idOf,
  inputOf,
  integerBetween,
  longText,
  MediaAssetId,
  oneOf,
  OrderId,
  ownedBy,
  type RowOf,
  table,
  Text,
  text,
  timestamp,
  uuid
} from "stoa/plugin"

const units = integerBetween(0, 2_147_483_647).default(0)

/** What a customer says of an entity (contract, plugins §10). Its text is not kept in the change log: it can be erased. */
export const reviews = table("customer_reviews", {
  /** Null for a guest. */
  customerId: idOf(CustomerId).existing("customer").nullable,
  entityId: idOf(EntityId).existing("entity"),
  orderId: idOf(OrderId).nullable,
  rating: integerBetween(1, 5).about("Stars, 1 to 5."),
  title: text.nullable,
  body: longText.nullable,
  authorName: text.nullable.about("Name that is shown."),
  status: oneOf(["pending", "approved", "rejected"]).default("pending").about(
    "Decision of the moderators; only approved reviews are published."
  ),
  isVerified: boolean.default(false).about("The author bought the product."),
  isPublished: boolean.default(false).about("Shoppers see it."),
  helpfulCount: units.about("Shoppers whom it helped."),
  response: longText.nullable.about("Answer of the store."),
  responseBy: text.nullable.about("User who answered."),
  responseAt: timestamp.nullable,
  importKey: text.unique().nullable.about("Recognizes an imported review when its file comes again.")
}, {
  unique: [{ columns: ["customerId", "entityId"] }, { columns: ["orderId", "entityId"] }],
  checks: { published: "is_published = (status = 'approved')" },
  changeLog: false,
  personal: { exempt: "Reviews.forget deletes reviews with their photos, and corrects the sums." },
  atMost: [{
    per: "customerId",
    rows: 50,
    where: "status = 'pending'",
    except: "reviews:admin",
    refusal: "At most 50 of your reviews can wait to be read. Write the next one when some of them are published."
  }]
})
export type Review = RowOf<typeof reviews>

/** Photos are media of the core, each of one review. They are public exactly while the review is. */
export const photos = childOf(reviews, "reviewId", "customer_review_photos", {
  reviewId: uuid.references(reviews),
  mediaAssetId: idOf(MediaAssetId).unique(),
  position: integerBetween(0, 100)
}, { changeLog: false })

/** Who found a review helpful. */
export const votes = childOf(reviews, "reviewId", "customer_review_votes", {
  reviewId: uuid.references(reviews),
  customerId: idOf(CustomerId)
}, {
  unique: [{ columns: ["reviewId", "customerId"] }],
  indexes: [{ columns: ["customerId"] }],
  changeLog: false,
  personal: { exempt: "Reviews.forget takes votes back, and corrects the sums." }
})

/** How many published reviews of an entity give how many stars; changed in the transaction of each review. */
export const counters = table("review_summaries", {
  entityId: idOf(EntityId).unique(),
  star1: units,
  star2: units,
  star3: units,
  star4: units,
  star5: units
}, { changeLog: false, counted: false })

/** Reviews as their authors and moderators see them. */
export const own = ownedBy(reviews, { customer: "customerId", staff: "reviews:admin" })

const Photos = Schema.Array(MediaAssetId).check(Schema.isMaxLength(10), Schema.isUnique())
  .annotate({ description: "Private images that the caller uploaded and that nothing else uses." })

/** A review with its photos. */
export const ReviewView = Schema.Struct({ ...fieldsOf(reviews), photoIds: Schema.Array(MediaAssetId) })
  .annotate({ identifier: "Review" })

/** A published review as everybody sees it. */
export const PublicReview = Schema.Struct(Struct.pick(ReviewView.fields, [
  "id",
  "entityId",
  "rating",
  "title",
  "body",
  "authorName",
  "status",
  "isVerified",
  "isPublished",
  "helpfulCount",
  "response",
  "responseBy",
  "responseAt",
  "createdAt",
  "updatedAt",
  "photoIds"
])).annotate({ identifier: "PublicReview" })

const { authorName, body, rating, title } =
  inputOf(reviews, { optional: ["rating", "title", "body", "authorName"] }).fields
const written = { title, body, authorName, photoIds: Schema.optional(Photos) }

export const NewReview = Schema.Struct({
  ...inputOf(reviews, { required: ["entityId", "rating"] }).fields,
  ...written,
  orderId: Schema.optional(OrderId.annotate({ description: "Default: the last fulfilled order with the entity." })),
  customerId: Schema.optional(CustomerId.annotate({ description: "Read of staff and services only." }))
})
export const ReviewChange = Schema.Struct({ rating, ...written })
export const Reply = Schema.Struct({
  response: FreeText.check(Schema.isBetweenLength(1, 10_000)).pipe(about("Answer that is shown below the review.")),
  responseBy: Text.pipe(about("Name below the answer."))
})
