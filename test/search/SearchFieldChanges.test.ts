import { assert, it } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { definePlugin, type SearchField } from "stoa/plugin"
import { make } from "../catalog/CatalogCalls.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { anOrganization } from "../support/Organizations.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { api, asAdmin, servicesBeside, type TestApp, testAppOn } from "../support/TestApp.ts"

/** A deployment that adds these numbers to each entity. */
const adding = (numbers: Readonly<Record<string, number>>) => ({
  plugins: [definePlugin({
    id: "numbers",
    version: "1.0.0",
    searchDocuments: () =>
      Object.entries(numbers).map(([name, value]): SearchField => ({
        name,
        kind: "number",
        of: (ids) => Effect.succeed(new Map(ids.map((id) => [id, value])))
      }))
  })]
})

/** Does something with a process that starts on this database, and ends with it. */
const started =
  (url: string, numbers: Readonly<Record<string, number>>) =>
  <A, E>(work: Effect.Effect<A, E, Scope.Scope | TestApp>) =>
    Effect.scoped(Effect.flatMap(Layer.build(testAppOn(url, adding(numbers))), (app) => Effect.provide(work, app)))

/** The organizations whose values were asked for as a whole, once for each time. */
const refills = onDatabase((sql) =>
  Effect.map(
    sql`select organization_id as id from commerce_jobs where task_slug = 'search/update' and input ? 'after' order by 1`,
    (rows) => rows.map(({ id }) => id)
  )
)

const found = (query: string, total: number, as = asAdmin) =>
  eventually(
    `${total} of ${query}`,
    Effect.map(api("GET", `/api/search?${query}`, { as }), (answer) => answer.at("meta.total") === total)
  )

const aProduct = make({ status: "active", attributes: { title: "Alba" } })

it.live(
  "a field that is added, or removed, is so for the entities of all organizations after the start",
  () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const other = yield* started(url, {})(Effect.gen(function*() {
        const other = yield* anOrganization
        yield* aProduct
        yield* api("POST", "/api/catalog/entities", {
          as: other,
          body: { type: "product", slug: "b", status: "active" }
        })
        assert.deepStrictEqual(yield* refills, [])
        return other
      }))
      for (const _ of ["first", "same again"]) {
        yield* started(url, { stars: 5 })(Effect.gen(function*() {
          yield* found("attr.stars=5", 1)
          yield* found("attr.stars=5", 1, other)
          assert.deepStrictEqual(yield* refills, ["org_default", other.organizationId])
        }))
      }
      yield* started(url, { stars: 5, sales: 3 })(found("attr.sales=3&attr.stars=5", 1, other))
      yield* started(url, {})(Effect.gen(function*() {
        yield* eventually(
          "nothing to be added",
          Effect.map(onDatabase((sql) => sql`select from search_documents where sort_values is not null`), (rows) =>
            rows.length === 0)
        )
      }))
    }))
)

it.live(
  "values are asked for once by processes that start at once, and stored by none with other fields",
  () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      yield* started(url, { stars: 5 })(Effect.gen(function*() {
        yield* aProduct
        const begin = (numbers: Readonly<Record<string, number>>) => servicesBeside(adding(numbers))
        // Of a rolling update: this process still has the old field.
        yield* Effect.all([1, 2, 3].map(() => begin({ stars: 5, sales: 3 })), { concurrency: "unbounded" })
        assert.deepStrictEqual(yield* refills, ["org_default"])
        yield* eventually(
          "the job to be left for later",
          Effect.map(
            onDatabase((sql) => sql`select error from commerce_jobs where status = 'pending' and attempts > 0`),
            ([job]) => String(job?.["error"]).includes("search fields")
          )
        )
        assert.strictEqual((yield* api("GET", "/api/search?attr.stars=5", { as: asAdmin })).at("meta.total"), 0)
        yield* begin({ stars: 5 })
        yield* found("attr.stars=5", 1)
      }))
    }))
)
