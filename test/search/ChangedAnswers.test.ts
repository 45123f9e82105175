import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { changedAnswer } from "../../src/domain/search/ChangedAnswerRepo.ts"
import { SearchChangesRepo } from "../../src/domain/search/SearchChangesRepo.ts"
import type { SearchQuery } from "../../src/domain/search/SearchQuery.ts"
import { searchStatement } from "../../src/domain/search/SearchStatementRepo.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { as, ask, askAnew, aStore, engineLayer } from "./Questions.ts"

/** Things of a store, `thing-1` and on, all of one kind and colour, with two words in their titles. */
const things = (organization: string, count: number) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* aStore(organization)
    yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible, metadata)
      select gen_random_uuid(), ${organization}, 'product', 'thing-' || n, 'active', true, '{"color":"red"}'
      from generate_series(1, ${count}) n`
    yield* sql`insert into entity_attributes (id, organization_id, entity_id, locale, title, description)
      select gen_random_uuid(), organization_id, id, 'en', 'Oak ' || slug, 'round' from catalog_entities
      where organization_id = ${organization}`
  })

/** Paints some things of the organization, by one statement. */
const paint = (organization: string, color: string, slugs: ReadonlyArray<string>) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`update catalog_entities set metadata = jsonb_build_object('color', ${color}::text)
        where organization_id = ${organization} and slug = any(${slugs}::text[])`
  )

const oak = { q: "oak", facets: ["color", "type"] } satisfies Partial<SearchQuery>

/** How an answer came about, by its statements. */
const wayOf = (query: Partial<SearchQuery>) =>
  Effect.map(
    statementsOf(ask(query)),
    (sent) =>
      sent.map(([text]) =>
        text.includes("search_former") ? "changes" : text.includes("search_words") ? "index" : "a look"
      )
  )

const isRight = Effect.fnUntraced(function*(query: Partial<SearchQuery>, publicOnly = true) {
  assert.deepStrictEqual(yield* ask(query, publicOnly), yield* askAnew(query, publicOnly), JSON.stringify(query))
})

/** Whether the answer is corrected by what has changed, and is the one that would be found anew. */
const isCorrected = Effect.fnUntraced(function*(query: Partial<SearchQuery>) {
  assert.deepStrictEqual(yield* wayOf(query), ["a look", "changes"])
  yield* isRight(query)
})

const slugs = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => `thing-${from + n}`)

it.layer(engineLayer, { excludeTestServices: true })("a search answered before a change", (it) => {
  it.effect("is brought up to date by what has changed, and looks for no word among all", () =>
    Effect.gen(function*() {
      yield* things("org_kept", 30)
      yield* ask(oak)
      yield* paint("org_kept", "blue", ["thing-3", "thing-30"])
      yield* isCorrected(oak)
      assert.deepStrictEqual((yield* ask(oak)).facets, { color: { red: 28, blue: 2 }, type: { product: 30 } })
      assert.deepStrictEqual(yield* wayOf(oak), ["a look"])
    }).pipe(as("org_kept")))

  it.effect("counts what a transaction has changed once, however often it did", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* things("org_often", 5)
      yield* ask(oak)
      yield* sql.withTransaction(
        Effect.andThen(paint("org_often", "blue", ["thing-1"]), paint("org_often", "green", slugs(1, 2)))
      )
      yield* paint("org_often", "white", ["thing-1"])
      yield* isCorrected(oak)
    }).pipe(as("org_often")))

  it.effect("counts by the order of changes, which is not that of the transactions' numbers", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* things("org_order", 3)
      yield* ask(oak)
      const [numbered, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const first = yield* Effect.forkChild(sql.withTransaction(
        sql`select pg_current_xact_id()::text`.pipe(
          Effect.andThen(Deferred.succeed(numbered, undefined)),
          Effect.andThen(Deferred.await(goOn)),
          Effect.andThen(paint("org_order", "green", ["thing-1"]))
        )
      ))
      yield* Effect.raceFirst(Deferred.await(numbered), Fiber.join(first))
      yield* paint("org_order", "blue", ["thing-1"])
      yield* Deferred.succeed(goOn, undefined)
      yield* Fiber.join(first)
      yield* isCorrected(oak)
    }).pipe(as("org_order")))

  it.effect("is asked anew where words mean more since, because a language came", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* things("org_words", 3)
      const title = (slug: string, locale: string, text: string) =>
        sql`insert into entity_attributes (id, organization_id, entity_id, locale, title)
          select gen_random_uuid(), organization_id, id, ${locale}, ${text} from catalog_entities
          where organization_id = 'org_words' and slug = ${slug}
          on conflict (entity_id, locale) do update set title = excluded.title`
      yield* title("thing-1", "en", "Haus")
      yield* title("thing-2", "en", "Häuser")
      assert.strictEqual((yield* ask({ q: "häuser" })).total, 1)
      yield* title("thing-3", "de", "Baum")
      assert.strictEqual((yield* ask({ q: "häuser" })).total, 2)
    }).pipe(as("org_words")))

  it.effect("is asked anew where another word may have been mistyped since", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* things("org_typed", 3)
      // A word with which nothing that was typed is compared, as long as it is in no name.
      yield* sql`update entity_attributes set description = 'candlesticks' where organization_id = 'org_typed'`
      assert.strictEqual((yield* ask({ q: "candlestikcs" })).total, 0)
      yield* sql`update entity_attributes a set title = 'Candlesticks' from catalog_entities e
        where a.entity_id = e.id and e.organization_id = 'org_typed' and e.slug = 'thing-2'`
      assert.strictEqual((yield* ask({ q: "candlestikcs" })).total, 3)
    }).pipe(as("org_typed")))

  // The page has one hit, `thing-1`, which stays as it is: so it is not because of the page.
  it.effect("is asked anew after more changes than are looked at one by one", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* things("org_many", 300)
      const first = { ...oak, limit: 1 }
      const many: ReadonlyArray<readonly [string, Effect.Effect<unknown, unknown, SqlClient.SqlClient>]> = [
        ["in one statement", paint("org_many", "blue", slugs(2, 102))],
        [
          "in few statements",
          Effect.forEach([0, 1, 2], (n) => paint("org_many", "green", slugs(90 * n + 2, 90 * n + 91)))
        ],
        ["in many transactions", Effect.forEach(slugs(2, 102), (slug) => paint("org_many", "white", [slug]))],
        [
          "in a transaction that told only some",
          sql.withTransaction(
            Effect.andThen(paint("org_many", "black", slugs(102, 103)), paint("org_many", "pink", slugs(2, 102)))
          )
        ]
      ]
      for (const [how, change] of many) {
        yield* ask(first)
        yield* change
        assert.include(yield* wayOf(first), "index", how)
        yield* isRight(first)
      }
      yield* paint("org_many", "blue", slugs(2, 101))
      assert.deepStrictEqual(yield* wayOf(first), ["a look", "changes"], "as many as are")
      yield* isRight(first)
    }).pipe(as("org_many")))

  it.effect("is asked anew where a bulk change comes between the look and the statement that follows it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* things("org_between", 102)
      const asked = {
        organization: "org_between",
        query: { page: 1, limit: 1, attributes: [], ...oak },
        publicOnly: true,
        isForgiving: false
      }
      const [found] = yield* searchStatement(sql, asked)
      assert.isDefined(found)
      const places = found.hits.map(({ id, score }) => ({ id, score }))
      const known = { ...found, total: Number(found.total), places }
      const [unchanged] = yield* changedAnswer(sql, asked, known)
      yield* paint("org_between", "blue", slugs(2, 102))
      const [changed] = yield* changedAnswer(sql, asked, known)
      assert.deepStrictEqual([unchanged?.holds, changed?.holds], [true, false])
    }).pipe(as("org_between")))

  it.effect("counts nothing of another organization, nor what it changed in the same transaction", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* Effect.all([things("org_mine", 3), things("org_theirs", 3)])
      yield* ask(oak)
      yield* sql`update catalog_entities set metadata = '{"color":"blue"}'
        where organization_id in ('org_mine', 'org_theirs') and slug = 'thing-1'`
      yield* isCorrected(oak)
      const byThem = as("org_theirs")
      yield* ask(oak).pipe(byThem)
      yield* sql`update catalog_entities set organization_id = 'org_theirs', slug = 'moved'
        where organization_id = 'org_mine' and slug = 'thing-2'`
      yield* isCorrected(oak)
      yield* isCorrected(oak).pipe(byThem)
      assert.strictEqual((yield* ask(oak).pipe(byThem)).total, 4)
    }).pipe(as("org_mine")))

  it.effect("is asked anew when the record of changes was cleared since, which leaves nothing of it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* things("org_cleared", 3)
      yield* ask(oak)
      for (const color of ["blue", "green"]) yield* paint("org_cleared", color, ["thing-1"])
      yield* (yield* SearchChangesRepo).purge(1000)
      assert.deepStrictEqual(yield* wayOf(oak), ["a look", "index"])
      assert.deepStrictEqual(yield* sql`select 1 from search_former where organization_id = 'org_cleared'`, [])
      yield* isRight(oak)
    }).pipe(as("org_cleared")))

  it.effect("is brought up to date when the record was cleared for another organization alone", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* Effect.all([things("org_whole", 3), things("org_tidy", 3)])
      // As if nothing had changed before: one row is left as it is.
      yield* sql`delete from search_changes where organization_id = 'org_whole'`
      yield* ask(oak)
      yield* sql`update catalog_entities set metadata = '{"color":"blue"}'
        where organization_id in ('org_whole', 'org_tidy') and slug = 'thing-1'`
      assert.isAbove(yield* (yield* SearchChangesRepo).purge(1000), 1)
      yield* isCorrected(oak)
    }).pipe(as("org_whole")))
})
