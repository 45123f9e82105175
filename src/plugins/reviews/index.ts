import { Effect, Schema } from "effect"
import {
  type AnalyticsModel,
  CustomerId,
  defineTask,
  MediaAssetId,
  modelOf,
  type PluginContext,
  pluginWith
} from "stoa/plugin"
import { guestRoutes } from "./GuestRoutes.ts"
import { reviewMigrations } from "./migrations.ts"
import { ratingFields, ratingHooks } from "./Ratings.ts"
import { counters, photos, reviews, votes } from "./Review.ts"
import { askForReviews, awaitRequest, requestMail, requests, ReviewSettings } from "./ReviewRequests.ts"
import { reviewRoutes } from "./ReviewRoutes.ts"
import { forget } from "./Reviews.ts"

const base = modelOf(reviews, {
  name: "Reviews",
  sums: ["helpfulCount"],
  dims: ["entityId", "rating", "status", "isVerified", "createdAt"]
})
const model: AnalyticsModel = {
  ...base,
  measures: { ...base.measures, averageRating: { type: "avg", sql: "customer_reviews.rating", decimals: 2 } }
}

const Files = Schema.Struct({ ids: Schema.Array(MediaAssetId) })

/** Removes media that no review has any more, unless an entity shows them. A repeat finds them gone. */
const removePhotos = (host: PluginContext) =>
  defineTask({
    slug: "reviews/remove-photos",
    retries: { attempts: 5, backoff: { type: "exponential", delay: 1_000 } },
    handler: Effect.fnUntraced(function*({ input }) {
      const { db, services: { media } } = host
      const ids = Schema.is(Files)(input) ? input.ids : []
      const used = new Set((yield* db.table(photos).list({ mediaAssetId: { in: ids } })).map((row) => row.mediaAssetId))
      // A job of the version before has released none.
      yield* media.release(ids.filter((id) => !used.has(id)))
      yield* media.removeFiles(1_000)
    })
  })

/** Reviews of things by their buyers, moderated and found (contract, plugins §10): `plugins: [reviewsPlugin({ … })]`. */
export const reviewsPlugin = pluginWith("reviews", ReviewSettings, (settings) => ({
  version: "1.0.0",
  examples: new URL("./examples.json", import.meta.url),
  permissions: [
    { scope: "reviews:read", description: "See published reviews", roles: ["customer"] },
    { scope: "reviews:write", description: "Write, change and delete own reviews, and vote", roles: ["customer"] },
    { scope: "reviews:admin", description: "Moderate and answer reviews" }
  ],
  schema: () => ({ reviews, photos, votes, counters, requests }),
  events: ["submitted", "approved", "rejected", "replied", "removed", "imported"].map((name) => `reviews.${name}`),
  migrations: reviewMigrations,
  routes: (context) => [...reviewRoutes, ...guestRoutes(context, settings)],
  hooks: ratingHooks,
  searchDocuments: ratingFields,
  mailTemplates: [requestMail],
  onEvents: {
    "orders.statusChange": {
      only: { record: `$ ? (@.status == "fulfilled")` },
      handler: awaitRequest(settings)
    },
    "customers.update": {
      // An erased profile has neither.
      only: { record: "$ ? (@.email == null && @.userId == null)" },
      handler: ({ event, ...tools }) => forget(tools, CustomerId.make(event.entityId))
    }
  },
  tasks: (context) => [removePhotos(context), askForReviews(context, settings)],
  analyticsModels: () => [model]
}))

export { reviewsPlugin as reviews }
