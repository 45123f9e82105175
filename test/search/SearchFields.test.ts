import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import {
  Conflict,
  definePlugin,
  EntityId,
  group,
  idOf,
  integer,
  type PluginContext,
  type SearchField,
  table,
  Text,
  text
} from "stoa/plugin"
import type { Actor } from "../../src/domain/platform/access/Actor.ts"
import { change, entities, make, onDatabase, refused, searching } from "../catalog/CatalogCalls.ts"
import { eventually } from "../support/Eventually.ts"
import { anOrganization } from "../support/Organizations.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

const ratings = table("ratings_ratings", { entityId: idOf(EntityId), stars: integer, badge: text, said: text }, {
  unique: [{ columns: ["entityId"] }]
})

const Rating = Schema.Struct({
  entityId: EntityId,
  stars: Schema.Int,
  badge: Text,
  said: Text,
  fail: Schema.optional(Schema.Boolean)
})

/** How often the next jobs fail. */
let failures = 0
/** The next job that has read its values says so, and stores them once it may. */
let pause: { readonly reached: Deferred.Deferred<void>; readonly go: Deferred.Deferred<void> } | undefined

const fieldsOf = ({ db }: PluginContext): ReadonlyArray<SearchField> => {
  const values = <A>(pick: (row: { stars: number; badge: string; said: string }) => A) =>
    Effect.fnUntraced(function*(ids: ReadonlyArray<EntityId>) {
      const rows = yield* db.table(ratings).list({ entityId: { in: ids } }, { limit: ids.length })
      return new Map(rows.map((row) => [row.entityId, pick(row)]))
    })
  const stars = values(({ stars }) => stars)
  return [
    {
      name: "stars",
      kind: "number",
      facet: true,
      of: Effect.fnUntraced(function*(ids) {
        if (failures-- > 0) return yield* Effect.die(new Error("not now"))
        const found = yield* stars(ids)
        const paused = pause
        pause = undefined
        if (paused !== undefined) {
          yield* Deferred.succeed(paused.reached, undefined)
          yield* Deferred.await(paused.go)
        }
        return found
      })
    },
    { name: "badge", kind: "keyword", of: values(({ badge }) => [badge]) },
    { name: "said", kind: "text", of: values(({ said }) => said) }
  ]
}

const plugin = (id: string, searchDocuments: (context: PluginContext) => ReadonlyArray<SearchField>) =>
  definePlugin({
    id,
    version: "1.0.0",
    schema: () => [ratings],
    searchDocuments,
    routes: () => [
      group("Ratings", "/ratings").post("/", { auth: true, input: Rating }).handle(
        ({ db, input: { fail, ...row }, services }) =>
          db.transaction(Effect.gen(function*() {
            yield* db.table(ratings).upsert(row, ["entityId"])
            yield* services.search.changed([row.entityId])
            return fail === true ? yield* Conflict.of("No.") : {}
          }))
      ),
      group("Ratings", "/ratings").post("/all", { auth: true }).handle(({ services }) =>
        Effect.as(services.search.changedAll(), {})
      )
    ]
  })

const rate = (entityId: string, stars: number, rest: object = {}, as: Partial<Actor> = asAdmin) =>
  api("POST", "/api/ratings", { as, body: { entityId, stars, badge: "plain", said: "fine", ...rest } })

const named = (title: string) => make({ status: "active", attributes: { title } })

/** Waits until a search finds so many. */
const found = (query: string, total: number) =>
  eventually(
    `${total} of ${query}`,
    Effect.map(searching(query), (one) => one.total === total ? one : undefined)
  )

/** Waits until a statement gives so many rows. */
const once = (
  description: string,
  statement: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>,
  count: number
) =>
  eventually(
    description,
    Effect.orDie(onDatabase((sql) => Effect.map(statement(sql), (rows) => rows.length === count)))
  )

const settled = once(
  "no job waits or runs",
  (sql) => sql`select from commerce_jobs where task_slug = 'search/update' and status in ('pending', 'processing')`,
  0
)

layer(testAppLayer({ plugins: [plugin("ratings", fieldsOf)] }), live)(
  "what a plugin adds to search documents",
  (it) => {
    it.effect("is found by its words, filtered, counted and sorted by", () =>
      Effect.gen(function*() {
        const [low, high, none] = [yield* named("Alba one"), yield* named("Alba two"), yield* named("Alba three")]
        yield* rate(low.id, 2, { badge: "eco", said: "Wonderfully Crisp!" })
        yield* rate(high.id, 5, { badge: "eco" })
        yield* found("attr.badge=eco", 2)
        assert.deepStrictEqual((yield* searching("q=crisp")).slugs, [low.slug])
        assert.deepStrictEqual((yield* searching("q=crsip")).slugs, [low.slug], "with a typing error")
        assert.deepStrictEqual((yield* searching("attr.stars=4..5")).slugs, [high.slug])
        assert.deepStrictEqual((yield* searching("attr.stars=..2")).slugs, [low.slug])
        assert.deepStrictEqual((yield* searching("attr.stars=2&attr.stars=5..&sort=stars:asc")).slugs, [
          low.slug,
          high.slug
        ])
        assert.deepStrictEqual((yield* searching("q=alba&sort=stars:desc")).slugs, [high.slug, low.slug, none.slug])
        assert.deepStrictEqual((yield* searching("q=alba&sort=stars:asc&limit=1&page=2")).slugs, [high.slug])
        const counted = yield* searching("q=alba&facets=badge,stars", "visitor")
        assert.deepStrictEqual(counted.facets, { badge: { eco: 2 }, stars: { 2: 1, 5: 1 } })
      }))

    it.effect("is kept by a change of the catalog, and replaced by a later value", () =>
      Effect.gen(function*() {
        const { id, slug } = yield* named("Berta")
        yield* rate(id, 3, { badge: "berta", said: "velvety" })
        yield* found("attr.badge=berta", 1)
        yield* change("PATCH", `${entities}/${id}`, { metadata: { color: "red" } })
        assert.deepStrictEqual((yield* searching("q=velvety&attr.stars=3&attr.color=red&attr.badge=berta")).slugs, [
          slug
        ])
        yield* rate(id, 4, { badge: "other", said: "rough" })
        yield* found("q=rough&attr.stars=4", 1)
        assert.strictEqual((yield* searching("q=velvety")).total, 0)
        assert.strictEqual((yield* searching("attr.badge=berta")).total, 0)
      }))

    it.effect("is unchanged when the transaction of the change rolls back", () =>
      Effect.gen(function*() {
        const [kept, later] = [yield* named("Cara"), yield* named("Cara")]
        assert.strictEqual((yield* rate(kept.id, 1, { badge: "cara", fail: true })).status, 409)
        yield* rate(later.id, 1, { badge: "cara" })
        assert.deepStrictEqual((yield* found("attr.badge=cara", 1)).slugs, [later.slug])
      }))

    it.effect("is stored by a job that runs again after it failed", () =>
      Effect.gen(function*() {
        const { id } = yield* named("Dora")
        failures = 1
        yield* rate(id, 1, { badge: "dora" })
        yield* found("attr.badge=dora", 1)
      }))

    it.effect("is the last value when two changes are stored at once", () =>
      Effect.gen(function*() {
        const { id } = yield* named("Enna")
        const paused = { reached: yield* Deferred.make<void>(), go: yield* Deferred.make<void>() }
        pause = paused
        yield* rate(id, 1, { badge: "enna" })
        yield* Deferred.await(paused.reached)
        yield* rate(id, 2, { badge: "enna" })
        yield* once(
          "the second job waits for the first",
          (sql) => sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          1
        )
        yield* Deferred.succeed(paused.go, undefined)
        yield* settled
        assert.strictEqual((yield* searching("attr.badge=enna&attr.stars=2")).total, 1)
      }))

    it.effect("is of one organization", () =>
      Effect.gen(function*() {
        const { id } = yield* named("Fara")
        const other = yield* anOrganization
        yield* rate(id, 4, { badge: "fara" })
        yield* found("attr.badge=fara", 1)
        yield* rate(id, 5, { badge: "foreign" }, other)
        yield* settled
        assert.strictEqual((yield* searching("attr.badge=foreign")).total, 0)
        assert.strictEqual((yield* searching("attr.badge=fara")).total, 1)
      }))

    it.effect("is asked for again for all entities of an organization, page by page", () =>
      Effect.gen(function*() {
        const as = yield* anOrganization
        const { organizationId } = as
        yield* onDatabase((sql) =>
          sql`with made as (insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
              select gen_random_uuid(), ${organizationId}, 'product', 'many-' || n, 'active', true
              from generate_series(1, 501) n returning id)
            insert into ratings_ratings (id, organization_id, entity_id, stars, badge, said)
            select gen_random_uuid(), ${organizationId}, id, 3, 'many', '' from made`
        )
        yield* api("POST", "/api/ratings/all", { as })
        yield* eventually(
          "all of them",
          Effect.map(api("GET", "/api/search?attr.stars=3", { as }), (answer) => answer.at("meta.total") === 501)
        )
      }))

    it.effect("refuses orders and ranges that are none", () =>
      Effect.gen(function*() {
        for (const query of ["sort=badge:asc", "sort=price:asc", "sort=stars", "sort=stars:up"]) {
          const answer = yield* refused("GET", `/api/search?q=a&${query}`, undefined, 422)
          assert.strictEqual(answer.at("error.details.issues.0.path"), "sort")
        }
        for (const range of ["many", "..", "4...5", "1e9", ""]) {
          const answer = yield* refused("GET", `/api/search?attr.stars=${range}`, undefined, 422)
          assert.strictEqual(answer.at("error.details.issues.0.path"), "attr.stars")
        }
      }))
  }
)
