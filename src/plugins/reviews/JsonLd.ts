import { Schema } from "effect"
import type { Summary } from "./Ratings.ts"
import type { Review } from "./Review.ts"

const kind = <const Name extends string>(name: Name) => ({ "@type": Schema.Literal(name) })
const scale = { bestRating: Schema.Literal(5), worstRating: Schema.Literal(1) }

const Written = Schema.Struct({
  ...kind("Review"),
  name: Schema.optional(Schema.String),
  reviewBody: Schema.optional(Schema.String),
  author: Schema.Struct({ ...kind("Person"), name: Schema.String }),
  datePublished: Schema.String,
  reviewRating: Schema.Struct({ ...kind("Rating"), ratingValue: Schema.Int, ...scale })
})

/** Ratings of a product in the words of schema.org, which search engines show beside it. */
export const JsonLd = Schema.Struct({
  "@context": Schema.Literal("https://schema.org"),
  ...kind("Product"),
  name: Schema.String,
  aggregateRating: Schema.optional(
    Schema.Struct({ ...kind("AggregateRating"), ratingValue: Schema.Finite, reviewCount: Schema.Int, ...scale })
  ),
  review: Schema.Array(Written)
}).annotate({ identifier: "ReviewJsonLd" })

const range = { bestRating: 5, worstRating: 1 } as const

const writtenOf = ({ authorName, body, createdAt, rating, title }: Review): typeof Written.Type => ({
  "@type": "Review",
  ...(title === null ? {} : { name: title }),
  ...(body === null ? {} : { reviewBody: body }),
  author: { "@type": "Person", name: authorName ?? "Anonymous" },
  datePublished: createdAt.toISOString(),
  reviewRating: { "@type": "Rating", ratingValue: rating, ...range }
})

export const jsonLdOf = (
  name: string,
  { averageRating, totalCount }: typeof Summary.Type,
  newest: ReadonlyArray<Review>
): typeof JsonLd.Type => ({
  "@context": "https://schema.org",
  "@type": "Product",
  name,
  ...(totalCount === 0
    ? {}
    : {
      aggregateRating: { "@type": "AggregateRating", ratingValue: averageRating, reviewCount: totalCount, ...range }
    }),
  review: newest.map(writtenOf)
})
