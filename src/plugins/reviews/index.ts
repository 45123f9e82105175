import { Effect, Schema } from "effect"
import { afterHook, type EntityId, option, type PluginContext, pluginWith, setting } from "stoa/plugin"
import { requests, reviewModel, reviews, summaries, type Summary, summaryView, votes } from "./Review.ts"
import { askForReviews, requestMail } from "./ReviewRequests.ts"
import { reviewRoutes } from "./ReviewRoutes.ts"

const Options = Schema.Struct({
  requestAfterDays: setting(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 365 })),
    7,
    "Days from the fulfillment of an order to the mail that asks for reviews; 0: none is sent"
  ),
  reviewPage: option(
    Schema.String.check(Schema.isPattern(/^https?:\/\//)),
    "Page of the shop where reviews are written"
  )
})

const summariesOf = ({ db }: Pick<PluginContext, "db">, ids: ReadonlyArray<EntityId>) =>
  db.table(summaries).list({ entityId: { in: ids } }, { limit: ids.length })

/** Lays ratings upon entities as they are read; one statement for a page. */
const show = Effect.fnUntraced(function*(
  host: PluginContext,
  entities: ReadonlyArray<
    { readonly id: EntityId; readonly extensions?: Readonly<Record<string, unknown>> | undefined }
  >
) {
  const found = new Map((yield* summariesOf(host, entities.map(({ id }) => id))).map((row) => [row.entityId, row]))
  for (const entity of entities) {
    const summary = found.get(entity.id)
    if (summary !== undefined) {
      Object.assign(entity, { extensions: { ...entity.extensions, reviews: summaryView(summary) } })
    }
  }
})

const numberOf = (host: PluginContext, name: string, value: (summary: Summary) => number) => ({
  name,
  kind: "number" as const,
  facet: name === "rating",
  of: (ids: ReadonlyArray<EntityId>) =>
    Effect.map(summariesOf(host, ids), (rows) => new Map(rows.map((row) => [row.entityId, value(row)])))
})

/** Customers' reviews of what they bought (contract, plugins §10): `plugins: [reviews()]`. */
export const reviewsPlugin = pluginWith("reviews", Options, ({ requestAfterDays, reviewPage }) => ({
  version: "1.0.0",
  permissions: [
    { scope: "reviews:read", description: "Read reviews", roles: ["customer"] },
    { scope: "reviews:write", description: "Review things, and say that reviews are helpful", roles: ["customer"] },
    { scope: "reviews:admin", description: "Publish, reject, answer and remove reviews" }
  ],
  schema: () => ({ reviews, votes, summaries, requests }),
  routes: () => reviewRoutes,
  mailTemplates: [requestMail],
  hooks: (host) => [
    afterHook("catalog.afterRead", ({ result }) => show(host, [result]), { entitiesIn: summaries }),
    afterHook("catalog.afterList", ({ result }) => show(host, result.items), { entitiesIn: summaries })
  ],
  searchDocuments: (host) => [
    numberOf(host, "rating", (summary) => summaryView(summary).averageRating),
    numberOf(host, "reviews", (summary) => summaryView(summary).totalCount)
  ],
  analyticsModels: () => [reviewModel],
  tasks: (host) => [askForReviews(host, requestAfterDays, reviewPage)]
}))

export { reviewsPlugin as reviews }
