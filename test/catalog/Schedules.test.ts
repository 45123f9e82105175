import { assert, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Catalog } from "../../src/domain/catalog/Catalog.ts"
import { CatalogReads } from "../../src/domain/catalog/CatalogReads.ts"
import { CatalogSettings } from "../../src/domain/catalog/CatalogSettings.ts"
import { Schedules } from "../../src/domain/catalog/schedules/Schedules.ts"
import { HookRefusal } from "../../src/domain/platform/hooks/Hook.ts"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"
import { type EntityId, newId } from "../../src/domain/platform/ids/Id.ts"
import { JobSchedules } from "../../src/layers/jobs/QueuedJobs.ts"
import { catalog } from "../../src/layers/modules/catalog.ts"
import { queueLayer, run } from "../jobs/Queue.ts"
import { asShopkeeper, asShopper, catalogLayer, eventsOf } from "./CatalogServices.ts"

/** Moments so many hours from now, by the clock of the test; a jump to our years would hang the pool of connections. */
const hours = Effect.map(Clock.currentTimeMillis, (now) => (count: number) => new Date(now + count * 3_600_000))

/** Schedules an entity to be published and archived in so many hours; undefined for never. */
const schedule = Effect.fnUntraced(function*(id: EntityId, publish?: number, unpublish?: number) {
  const [schedules, inHours] = [yield* Schedules, yield* hours]
  const at = (count: number | undefined) => count === undefined ? null : inHours(count)
  return yield* schedules.set(id, { publishAt: at(publish), unpublishAt: at(unpublish) })
})

const due = Effect.flatMap(Schedules, ({ runDue }) => runDue)

const given = (type = "product") =>
  Effect.flatMap(Catalog, (catalog) => catalog.create({ type, slug: newId(), attributes: { title: "Beryl" } }))

const statusOf = (id: EntityId) =>
  Effect.map(Effect.flatMap(CatalogReads, (reads) => reads.get(id, [])), ({ isVisible, status }) => [status, isVisible])

/** What a shopper is shown of it: by itself, in lists and in the index of search. */
const isShown = Effect.fnUntraced(function*(id: EntityId) {
  const [reads, sql] = [yield* CatalogReads, yield* SqlClient.SqlClient]
  const query = { page: 1, limit: 100, include: [], sort: { field: "createdAt", ascending: false } } as const
  const found = yield* Effect.isSuccess(reads.get(id, []))
  const listed = (yield* reads.list(query)).items.some((item) => item.id === id)
  const [indexed] = yield* sql<{ is_public: boolean }>`select is_public from search_documents
    where entity_id = ${id}::uuid`
  return [found, listed, indexed?.is_public]
}, asShopper)

const refusing = {
  key: "catalog.frozen.beforeUpdate",
  before: () => Effect.fail(new HookRefusal("It is frozen."))
}

const recorded: Array<string> = []
const listening = {
  key: "catalog.afterUpdate",
  after: ({ result }: { readonly result: object }) =>
    Effect.sync(() => recorded.push(String(Reflect.get(result, "status"))))
}

it.layer(catalogLayer([refusing, listening]))("a schedule", (it) => {
  it.effect("a schedule publishes when its time comes and archives when its end does, for everybody at once, and once", () =>
    Effect.gen(function*() {
      const inHours = yield* hours
      const schedules = yield* Schedules
      const { id } = yield* given()
      yield* schedule(id, 1, 3)
      assert.strictEqual(yield* due, 0)
      assert.deepStrictEqual(yield* isShown(id), [false, false, false])
      yield* TestClock.adjust("1 hour")
      recorded.length = 0
      assert.strictEqual(yield* due, 1)
      assert.deepStrictEqual(recorded, ["active"])
      assert.deepStrictEqual(yield* isShown(id), [true, true, true])
      assert.strictEqual(yield* due, 0)
      const half = yield* schedules.get(id)
      assert.deepStrictEqual([half.publishAt, half.unpublishAt], [null, inHours(3)])
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(yield* due, 1)
      assert.deepStrictEqual(yield* isShown(id), [false, false, false])
      assert.deepStrictEqual((yield* statusOf(id))[0], "archived")
      const events = yield* eventsOf(id)
      assert.deepStrictEqual(events.map(({ type }) => type), [
        "catalog.create",
        "catalog.schedule",
        "catalog.update",
        "catalog.update"
      ])
    }).pipe(asShopkeeper))

  it.effect("a schedule that came and ended while nothing ran is carried out in its order", () =>
    Effect.gen(function*() {
      const made = yield* Effect.forEach(Array.from({ length: 130 }), () => given())
      yield* Effect.forEach(made, ({ id }) => schedule(id, 1, 2))
      yield* TestClock.adjust("2 days")
      assert.strictEqual(yield* due, 260)
      const { id = "" } = made.at(-1) ?? {}
      const changes = (yield* eventsOf(id)).filter(({ type }) => type === "catalog.update")
      assert.deepStrictEqual(changes.map(({ payload }) => payload["status"]), ["active", "archived"])
    }).pipe(asShopkeeper))

  it.effect("a schedule is carried out once by many processes", () =>
    Effect.gen(function*() {
      const made = yield* Effect.forEach(Array.from({ length: 20 }), () => given())
      yield* Effect.forEach(made, ({ id }) => schedule(id, 1))
      yield* TestClock.adjust("1 hour")
      const counts = yield* Effect.all([due, due, due, due], { concurrency: "unbounded" })
      assert.strictEqual(counts.reduce((sum, count) => sum + count, 0), 20)
      for (const { id } of made) {
        const changes = (yield* eventsOf(id)).filter(({ type }) => type === "catalog.update")
        assert.strictEqual(changes.length, 1)
      }
    }).pipe(asShopkeeper))

  it.effect("a schedule applies the latest version of a changed schedule, and never a deleted one", () =>
    Effect.gen(function*() {
      const [later, never] = [yield* given(), yield* given()]
      for (const { id } of [later, never]) yield* schedule(id, 1)
      yield* schedule(later.id, 5)
      yield* schedule(never.id)
      yield* TestClock.adjust("4 hours")
      assert.strictEqual(yield* due, 0)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* due, 1)
      assert.deepStrictEqual([(yield* statusOf(later.id))[0], (yield* statusOf(never.id))[0]], ["active", "draft"])
    }).pipe(asShopkeeper))

  it.effect("a schedule that a hook refuses is not tried for ever and says why", () =>
    Effect.gen(function*() {
      const schedules = yield* Schedules
      const { id } = yield* given("frozen")
      yield* schedule(id, 1)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual([yield* due, yield* due], [0, 0])
      const after = yield* schedules.get(id)
      assert.deepStrictEqual([after.publishAt, after.refusal], [null, "It is frozen."])
      assert.deepStrictEqual(yield* statusOf(id), ["draft", false])
      assert.isNull((yield* schedule(id, 9)).refusal)
    }).pipe(asShopkeeper))

  it.effect("a schedule leaves nothing behind of an entity that is deleted", () =>
    Effect.gen(function*() {
      const [catalog, sql] = [yield* Catalog, yield* SqlClient.SqlClient]
      const { id } = yield* given()
      yield* schedule(id, 1)
      yield* catalog.remove(id)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* due, 0)
      assert.lengthOf(yield* sql`select 1 from entity_schedules where entity_id = ${id}::uuid`, 0)
    }).pipe(asShopkeeper))
})

/** The catalog and the queue of one deployment, over one database; only the test drives the queue. */
const withQueue = catalog.services.pipe(
  Layer.provideMerge(queueLayer({})),
  Layer.provide(Layer.mergeAll(CatalogSettings.layerOf({}), Hooks.layerNone))
)

/** A separate process that runs scheduled tasks. */
const another = Effect.map(
  Layer.build(Layer.fresh(JobSchedules.layer)),
  (context) => Effect.provideContext(Effect.flatMap(JobSchedules, ({ enqueueDue }) => enqueueDue), context)
)

it.layer(withQueue)("the task catalog/publish-due", (it) => {
  it.effect("the task catalog/publish-due carries out what came due while nothing ran, once, however many processes come back", () =>
    Effect.gen(function*() {
      const first = yield* another
      yield* first
      yield* TestClock.adjust("1 minute")
      yield* first
      yield* run()
      const { id } = yield* given()
      yield* schedule(id, 1, 30)
      yield* TestClock.adjust("5 hours")
      const [a, b] = [yield* another, yield* another]
      yield* Effect.all([a, b], { concurrency: 2 })
      yield* Effect.all([run(50), run(50)], { concurrency: 2 })
      assert.deepStrictEqual(yield* statusOf(id), ["active", true])
      yield* TestClock.adjust("1 minute")
      yield* Effect.all([a, b], { concurrency: 2 })
      yield* run(50)
      const changes = (yield* eventsOf(id)).filter(({ type }) => type === "catalog.update")
      assert.strictEqual(changes.length, 1)
      const sql = yield* SqlClient.SqlClient
      const jobs =
        yield* sql`select 1 from commerce_jobs where task_slug = 'catalog/publish-due' and status <> 'succeeded'`
      assert.lengthOf(jobs, 0)
    }).pipe(asShopkeeper))
})
