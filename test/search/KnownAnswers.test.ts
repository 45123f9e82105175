import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { SearchChangesRepo } from "../../src/domain/search/SearchChangesRepo.ts"
import type { SearchQuery } from "../../src/domain/search/SearchQuery.ts"
import { catalogStatements } from "./CatalogStatements.ts"
import { aLamp, as, ask, askAnew, aStore, engineLayer, isRemembered } from "./Questions.ts"

it.layer(engineLayer, { excludeTestServices: true })("a search that was answered before", (it) => {
  it.effect("looks for no word again, in whichever language its hits are shown", () =>
    Effect.gen(function*() {
      yield* aStore("org_twice")
      yield* aLamp("org_twice", "first")
      const found = yield* ask({ q: "lamp", locales: ["en"] })
      assert.isTrue(yield* isRemembered({ q: "lamp", locales: ["en"] }))
      assert.deepStrictEqual(yield* ask({ q: "lamp", locales: ["en"] }), found)
      const german = yield* ask({ q: "lamp", locales: ["de"] })
      assert.deepStrictEqual(german.hits.map(({ document }) => document.title), ["de lamp first"])
      assert.isFalse(yield* isRemembered({ q: "lamp", page: 2 }), "another page is another question")
      for (const time of ["first", "second"]) assert.strictEqual((yield* ask({ q: "lmap" })).total, 1, `${time} time`)
    }).pipe(as("org_twice")))

  it.effect("is answered as if it had not been, whatever was done to the catalog since", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* aStore("org_bulk")
      const questions: ReadonlyArray<readonly [Partial<SearchQuery>, boolean]> = [
        [{ type: "product" }, true],
        [{ q: "bulk" }, true],
        [{ q: "bulk" }, false],
        [{ q: "more" }, false],
        [{ q: "sku" }, false],
        [{ q: "bukl" }, true],
        [{ brand: "b", facets: ["brand", "size", "measure"] }, true]
      ]
      for (const statement of catalogStatements) {
        yield* Effect.forEach(questions, ([query, publicOnly]) => ask(query, publicOnly))
        yield* sql.unsafe(statement)
        for (const [query, publicOnly] of questions) {
          const found = yield* ask(query, publicOnly)
          assert.deepStrictEqual(
            found,
            yield* askAnew(query, publicOnly),
            `${JSON.stringify(query)} after ${statement}`
          )
        }
      }
    }).pipe(as("org_bulk")))

  it.effect("finds what a transaction brings that began before and ends after", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* aStore("org_slow")
      yield* aLamp("org_slow", "early")
      const [written, ending] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const slow = yield* Effect.forkChild(sql.withTransaction(
        aLamp("org_slow", "late").pipe(
          Effect.andThen(Deferred.succeed(written, undefined)),
          Effect.andThen(Deferred.await(ending))
        )
      ))
      yield* Effect.raceFirst(Deferred.await(written), Fiber.join(slow))
      // Others commit meanwhile, so that the snapshot of the answer is later than the transaction. Of another type, because
      // two writers of one kind may have to wait for each other (`catalog_totals`).
      yield* aLamp("org_slow", "between", "service")
      assert.strictEqual((yield* ask({ q: "lamp" })).total, 2)
      assert.isTrue(yield* isRemembered({ q: "lamp" }))
      yield* Deferred.succeed(ending, undefined)
      yield* Fiber.join(slow)
      assert.strictEqual((yield* ask({ q: "lamp" })).total, 3)
    }).pipe(as("org_slow")))

  it.effect("is not asked anew for changes of another organization", () =>
    Effect.gen(function*() {
      yield* Effect.all([aStore("org_still"), aStore("org_busy")])
      yield* aLamp("org_still", "one")
      for (const slug of ["two", "three"]) yield* aLamp("org_busy", slug)
      assert.strictEqual((yield* ask({ q: "lamp" })).total, 1)
      assert.strictEqual((yield* ask({ q: "lamp" }).pipe(as("org_busy"))).total, 2)
      yield* aLamp("org_busy", "four")
      assert.isTrue(yield* isRemembered({ q: "lamp" }))
    }).pipe(as("org_still")))

  it.effect("finds what came before the record of changes was cleared", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const changes = yield* SearchChangesRepo
      const rows = Effect.map(
        sql<{ n: number }>`select count(*)::int4 as n from search_changes where organization_id = 'org_purged'`,
        ([row]) => row?.n
      )
      yield* aStore("org_purged")
      for (let n = 0; n < 5; n++) yield* aLamp("org_purged", `lamp-${n}`)
      assert.strictEqual((yield* ask({ q: "lamp" })).total, 5)
      yield* aLamp("org_purged", "sixth")
      for (let time = 0, removed = 2; removed >= 2 && time < 200; time++) removed = yield* changes.purge(2)
      assert.strictEqual(yield* rows, 1)
      assert.strictEqual((yield* ask({ q: "lamp" })).total, 6)
      assert.strictEqual(yield* changes.purge(2), 0, "a single row stays, and what is remembered holds")
      assert.isTrue(yield* isRemembered({ q: "lamp" }))
    }).pipe(as("org_purged")))
})
