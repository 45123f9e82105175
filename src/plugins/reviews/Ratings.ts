import { Effect, Schema } from "effect"
import {
  about,
  afterHook,
  type EntityId,
  type PluginCall,
  type PluginContext,
  type PluginDatabase,
  type PluginHook,
  type RowOf,
  type SearchField
} from "stoa/plugin"
import { counters, type Review } from "./Review.ts"

type Counters = RowOf<typeof counters>

const stars = [1, 2, 3, 4, 5] as const
type Stars = typeof stars[number]
const isStars = Schema.is(Schema.Literals(stars))
const countOf = (row: Counters | undefined, of: Stars) => row?.[`star${of}`] ?? 0

const reviewsOf = (of: number) => Schema.Int.pipe(about(`Reviews with a rating of ${of}.`))

/** Published ratings of an entity (contract, plugins §10). */
export const Summary = Schema.Struct({
  averageRating: Schema.Finite.pipe(about("Stars with two decimals; 0 without any review.")),
  totalCount: Schema.Int,
  distribution: Schema.Struct({ 1: reviewsOf(1), 2: reviewsOf(2), 3: reviewsOf(3), 4: reviewsOf(4), 5: reviewsOf(5) })
    .pipe(
      about("Published reviews by stars.")
    )
}).annotate({ identifier: "ReviewSummary" })

export const summaryOf = (row: Counters | undefined): typeof Summary.Type => {
  const totalCount = stars.reduce((sum, of) => sum + countOf(row, of), 0)
  const points = stars.reduce((sum, of) => sum + of * countOf(row, of), 0)
  return {
    averageRating: totalCount === 0 ? 0 : Math.round(points * 100 / totalCount) / 100,
    totalCount,
    distribution: {
      1: countOf(row, 1),
      2: countOf(row, 2),
      3: countOf(row, 3),
      4: countOf(row, 4),
      5: countOf(row, 5)
    }
  }
}

const publishedRating = (review: Review | undefined) =>
  review?.isPublished === true && isStars(review.rating) ? review.rating : undefined

/**
 * Counts what a change of a review has made of its entity's rating, in the transaction of the change, which holds the lock on
 * the review: of several reviews of an entity one after the other holds its counters.
 */
export const settle = Effect.fn("Ratings.settle")(
  function*(
    { db, services }: Pick<PluginCall, "db" | "services">,
    before: Review | undefined,
    after: Review | undefined
  ) {
    const [left, come] = [publishedRating(before), publishedRating(after)]
    const entityId = (after ?? before)?.entityId
    if (left === come || entityId === undefined) return
    const { row } = yield* db.table(counters).upsert({ entityId }, ["entityId"])
    yield* db.table(counters).update(row.id, {
      ...(left && { [`star${left}`]: countOf(row, left) - 1 }),
      ...(come && { [`star${come}`]: countOf(row, come) + 1 })
    })
    yield* services.search.changed([entityId])
  }
)

/** Summaries of entities that have published ratings, in one statement. */
const summaries = Effect.fnUntraced(function*(db: PluginDatabase, ids: ReadonlyArray<EntityId>) {
  const rows = ids.length === 0 ? [] : yield* db.table(counters).list({ entityId: { in: ids } })
  const all = rows.map((row) => [row.entityId, summaryOf(row)] as const)
  return new Map(all.filter(([, { totalCount }]) => totalCount > 0))
})

/** What searches of the catalog sort, filter and count by. */
export const ratingFields = ({ db }: PluginContext): ReadonlyArray<SearchField> => {
  const of = (value: (summary: typeof Summary.Type) => number) => (ids: ReadonlyArray<EntityId>) =>
    Effect.map(summaries(db, ids), (all) => new Map([...all].map(([id, summary]) => [id, value(summary)])))
  return [
    { name: "rating", kind: "number", facet: true, of: of(({ averageRating }) => averageRating) },
    { name: "ratingStars", kind: "number", facet: true, of: of(({ averageRating }) => Math.floor(averageRating)) },
    { name: "reviews", kind: "number", of: of(({ totalCount }) => totalCount) }
  ]
}

/** Lays ratings upon entities as they are read, as `extensions.reviews`; one statement for a page. */
export const ratingHooks = ({ db }: PluginContext): ReadonlyArray<PluginHook> => {
  const show = Effect.fnUntraced(function*(
    entities: ReadonlyArray<
      { readonly id: EntityId; readonly extensions?: Readonly<Record<string, unknown>> | undefined }
    >
  ) {
    const all = yield* summaries(db, entities.map(({ id }) => id))
    for (const entity of entities) {
      const found = all.get(entity.id)
      if (found) Object.assign(entity, { extensions: { ...entity.extensions, reviews: found } })
    }
  })
  const condition = { entitiesIn: counters }
  return [
    afterHook("catalog.afterRead", ({ result }) => show([result]), condition),
    afterHook("catalog.afterList", ({ result }) => show(result.items), condition)
  ]
}
