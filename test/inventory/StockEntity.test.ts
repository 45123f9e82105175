import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Layer, Result } from "effect"
import { Entity, ShardingConfig } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { ReservationRepo } from "../../src/domain/inventory/ReservationRepo.ts"
import { EntityId } from "../../src/domain/platform/ids/Id.ts"
import { StockEntity, stockEntityActor } from "../../src/entities/StockEntity.ts"
import { TestDatabase } from "../support/Postgres.ts"
import {
  addWarehouse,
  heldUnits,
  inStock,
  organization,
  restockBehindTheEntity,
  stockUp,
  unitsOf
} from "./StockRows.ts"

const Rows = ReservationRepo.layer.pipe(Layer.provideMerge(Layer.merge(TestDatabase, ShardingConfig.layer())))

/** A stock entity with a separate cache, as in another process. */
const openStockEntity = Effect.gen(function*() {
  const repo = yield* ReservationRepo
  const make = yield* Entity.makeTestClient(
    StockEntity,
    stockEntityActor().pipe(Layer.provide(Layer.succeed(ReservationRepo, repo)))
  )
  return yield* make(organization)
})

type TestEntity = Effect.Success<typeof openStockEntity>

interface Wish {
  readonly holder?: string
  readonly pricing?: string
  readonly deadline?: number
}

const ask = Effect.fnUntraced(
  function*(
    entity: TestEntity,
    lines: ReadonlyArray<readonly [sellable: EntityId, quantity: number]>,
    wish: Wish = {}
  ) {
    return yield* entity.reserve({
      holder: wish.holder ?? randomUUID(),
      lines: lines.map(([sellableId, quantity]) => ({ sellableId, entityId: sellableId, quantity, title: "Mug" })),
      ttlSeconds: 900,
      pricing: wish.pricing ?? `{"total":100}`,
      deadline: wish.deadline ?? (yield* Clock.currentTimeMillis) + 10_000
    })
  }
)

const times = <A, E, R>(count: number, effect: Effect.Effect<A, E, R>) =>
  Effect.all(Array.from({ length: count }, () => Effect.result(effect)), { concurrency: "unbounded" })

const granted = (results: ReadonlyArray<Result.Result<unknown, unknown>>) => results.filter(Result.isSuccess).length

/** Statements that `effect` sent to the database. */
const counted = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const repo = yield* ReservationRepo
  let calls = 0
  const count = <B, E2, R2>(body: Effect.Effect<B, E2, R2>) => Effect.suspend(() => (calls += 1, body))
  const counting = ReservationRepo.of({
    load: (ids) => count(repo.load(ids)),
    begin: (ids) => count(repo.begin(ids)),
    holds: (ids) => count(repo.holds(ids)),
    reserve: (fences, reservations) => count(repo.reserve(fences, reservations)),
    alone: repo.alone
  })
  const result = yield* Effect.provideService(effect, ReservationRepo, counting)
  return { result, calls }
})

it.layer(Rows)("the stock entity", (it) => {
  describe("stock", () => {
    it.effect("reserves for five of twelve simultaneous requests if five units are in stock", () =>
      Effect.gen(function*() {
        const { sellable, warehouse } = yield* inStock(5)
        const entity = yield* openStockEntity
        assert.strictEqual(granted(yield* times(12, ask(entity, [[sellable, 1]]))), 5)
        assert.deepStrictEqual(yield* unitsOf(sellable), { [warehouse]: { onHand: 5, reserved: 5 } })
      }))

    it.effect("refuses with the available and the requested units", () =>
      Effect.gen(function*() {
        const { sellable } = yield* inStock(3)
        const entity = yield* openStockEntity
        const error = yield* Effect.flip(ask(entity, [[sellable, 2], [sellable, 2]]))
        assert.deepInclude(error, {
          _tag: "StockShort",
          sellableId: sellable,
          title: "Mug",
          available: 3,
          requested: 4
        })
      }))

    it.effect("treats a sellable without stock as zero available", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(ask(yield* openStockEntity, [[EntityId.make(randomUUID()), 1]]))
        assert.deepInclude(error, { _tag: "StockShort", available: 0, requested: 1 })
      }))

    it.effect("reserves nothing for a checkout with one short line", () =>
      Effect.gen(function*() {
        const warehouse = yield* addWarehouse()
        const [plenty, scarce] = [yield* stockUp([[warehouse, 9]]), yield* stockUp([[warehouse, 1]])]
        const error = yield* Effect.flip(ask(yield* openStockEntity, [[plenty, 2], [scarce, 2]]))
        assert.deepInclude(error, { sellableId: scarce })
        assert.deepStrictEqual(yield* unitsOf(plenty), { [warehouse]: { onHand: 9, reserved: 0 } })
      }))

    it.effect("splits over warehouses by priority and leaves inactive ones alone", () =>
      Effect.gen(function*() {
        const closed = yield* addWarehouse({ priority: 0, isActive: false })
        const near = yield* addWarehouse({ priority: 1 })
        const far = yield* addWarehouse({ priority: 2 })
        const sellable = yield* stockUp([[far, 5], [near, 1], [closed, 9]])
        yield* ask(yield* openStockEntity, [[sellable, 3]])
        assert.deepStrictEqual(yield* unitsOf(sellable), {
          [closed]: { onHand: 9, reserved: 0 },
          [near]: { onHand: 1, reserved: 1 },
          [far]: { onHand: 5, reserved: 2 }
        })
      }))

    it.effect("corrects a refusal after another process restocked", () =>
      Effect.gen(function*() {
        const { sellable } = yield* inStock(1)
        const entity = yield* openStockEntity
        yield* ask(entity, [[sellable, 1]])
        assert.strictEqual((yield* Effect.flip(ask(entity, [[sellable, 1]])))._tag, "StockShort")
        yield* restockBehindTheEntity(sellable, 1)
        assert.isTrue((yield* ask(entity, [[sellable, 1]])).fresh)
      }))
  })

  describe("holders", () => {
    it.effect("reserves once for repeated calls of a holder, and returns the first pricing", () =>
      Effect.gen(function*() {
        const { sellable, warehouse } = yield* inStock(5)
        const entity = yield* openStockEntity
        const holder = randomUUID()
        const first = yield* ask(entity, [[sellable, 2]], { holder, pricing: `{"total":1}` })
        assert.deepStrictEqual(first, { _tag: "Reserved", pricing: `{"total":1}`, fresh: true })
        const second = yield* ask(entity, [[sellable, 2]], { holder, pricing: `{"total":2}` })
        assert.deepStrictEqual([JSON.parse(second.pricing), second.fresh], [{ total: 1 }, false])
        assert.deepStrictEqual(yield* unitsOf(sellable), { [warehouse]: { onHand: 5, reserved: 2 } })
      }))

    it.effect("reserves once for a holder who comes twice in one batch", () =>
      Effect.gen(function*() {
        const { sellable } = yield* inStock(5)
        const entity = yield* openStockEntity
        const results = yield* times(3, ask(entity, [[sellable, 1]], { holder: randomUUID() }))
        assert.strictEqual(granted(results), 3)
        assert.strictEqual(results.filter((one) => Result.isSuccess(one) && one.success.fresh).length, 1)
        assert.strictEqual(yield* heldUnits(sellable), 1)
      }))

    it.effect("confirms a repeated reservation at another entity although nothing is left", () =>
      Effect.gen(function*() {
        const { sellable } = yield* inStock(1)
        const holder = randomUUID()
        yield* ask(yield* openStockEntity, [[sellable, 1]], { holder })
        assert.isFalse((yield* ask(yield* openStockEntity, [[sellable, 1]], { holder })).fresh)
      }))

    it.effect("gives a unit to a new request when the other request of the batch is a repeat", () =>
      Effect.gen(function*() {
        const { sellable } = yield* inStock(2)
        const holder = randomUUID()
        yield* ask(yield* openStockEntity, [[sellable, 1]], { holder })
        const entity = yield* openStockEntity
        const [repeat, other] = yield* Effect.all(
          [ask(entity, [[sellable, 1]], { holder }), ask(entity, [[sellable, 1]])],
          {
            concurrency: "unbounded"
          }
        )
        assert.deepStrictEqual([repeat.fresh, other.fresh], [false, true])
      }))

    it.effect("drops a request that comes past its deadline", () =>
      Effect.gen(function*() {
        const { sellable, warehouse } = yield* inStock(1)
        const exit = yield* Effect.exit(ask(yield* openStockEntity, [[sellable, 1]], { deadline: -1 }))
        assert.isTrue(Exit.hasDies(exit))
        assert.deepStrictEqual(yield* unitsOf(sellable), { [warehouse]: { onHand: 1, reserved: 0 } })
      }))
  })

  describe("batches", () => {
    it.effect("serves the other requests of a batch when one of them fails", () =>
      Effect.gen(function*() {
        const { sellable } = yield* inStock(50)
        const entity = yield* openStockEntity
        const wishes = Array.from({ length: 20 }, (_, index) =>
          Effect.exit(ask(entity, [[sellable, 1]], index === 7 ? { pricing: "no JSON" } : {})))
        const exits = yield* Effect.all(wishes, { concurrency: "unbounded" })
        assert.deepStrictEqual(exits.flatMap((exit, index) => (Exit.isSuccess(exit) ? [] : [index])), [7])
        assert.strictEqual(yield* heldUnits(sellable), 19)
        assert.isTrue((yield* ask(entity, [[sellable, 1]])).fresh)
      }))

    it.effect("decides under locks after two writes on stale versions", () =>
      Effect.gen(function*() {
        const { sellable, warehouse } = yield* inStock(3)
        const sql = yield* SqlClient.SqlClient
        const repo = yield* ReservationRepo
        let [writes, locked] = [0, 0]
        const overtaken = ReservationRepo.of({
          ...repo,
          alone: (holders, sellables, body) =>
            Effect.andThen(Effect.sync(() => locked += 1), repo.alone(holders, sellables, body)),
          // Stock is added between the decision and the write, the first two times.
          reserve: (fences, reservations) =>
            (writes++ < 2
              ? Effect.provideService(restockBehindTheEntity(sellable, 1), SqlClient.SqlClient, sql)
              : Effect.void)
              .pipe(Effect.andThen(repo.reserve(fences, reservations)))
        })
        const entity = yield* Effect.provideService(openStockEntity, ReservationRepo, overtaken)
        assert.isTrue((yield* ask(entity, [[sellable, 3]])).fresh)
        assert.deepStrictEqual([writes, locked], [3, 1])
        assert.deepStrictEqual(yield* unitsOf(sellable), { [warehouse]: { onHand: 5, reserved: 3 } })
      }))

    it.effect("fails all requests at once while nothing can be written, and serves them afterwards", () =>
      Effect.gen(function*() {
        const { sellable } = yield* inStock(50)
        const repo = yield* ReservationRepo
        let [broken, writes] = [true, 0]
        const failing = ReservationRepo.of({
          ...repo,
          reserve: (fences, reservations) =>
            Effect.suspend(() => (writes += 1, broken ? Effect.die("no database") : repo.reserve(fences, reservations)))
        })
        const entity = yield* Effect.provideService(openStockEntity, ReservationRepo, failing)
        const rush = Effect.all(Array.from({ length: 20 }, () => Effect.exit(ask(entity, [[sellable, 1]]))), {
          concurrency: "unbounded"
        })
        assert.isTrue((yield* rush).every(Exit.hasDies))
        assert.isAtMost(writes, 5)
        broken = false
        assert.isTrue((yield* rush).every(Exit.isSuccess))
        assert.strictEqual(yield* heldUnits(sellable), 20)
      }))

    it.effect("sends as many statements for fifty lines as for one", () =>
      Effect.gen(function*() {
        const warehouse = yield* addWarehouse()
        const many = yield* Effect.forEach(Array.from({ length: 50 }), () => stockUp([[warehouse, 9]]))
        const cold = (lines: ReadonlyArray<EntityId>) =>
          counted(Effect.gen(function*() {
            const entity = yield* openStockEntity
            yield* ask(entity, lines.map((id) => [id, 1] as const))
            yield* ask(entity, lines.map((id) => [id, 1] as const))
          }))
        assert.strictEqual((yield* cold(many.slice(0, 1))).calls, 3)
        assert.strictEqual((yield* cold(many)).calls, 3)
      }))

    it.effect("works with a cache for a single sellable", () =>
      Effect.gen(function*() {
        const warehouse = yield* addWarehouse()
        const many = yield* Effect.forEach(Array.from({ length: 5 }), () => stockUp([[warehouse, 2]]))
        const repo = yield* ReservationRepo
        const make = yield* Entity.makeTestClient(
          StockEntity,
          stockEntityActor({ capacity: 1 }).pipe(Layer.provide(Layer.succeed(ReservationRepo, repo)))
        )
        const entity = yield* make(organization)
        yield* ask(entity, many.map((id) => [id, 1] as const))
        yield* ask(entity, many.map((id) => [id, 1] as const))
        assert.strictEqual((yield* Effect.flip(ask(entity, many.map((id) => [id, 1] as const))))._tag, "StockShort")
      }))

    it.effect("records a movement for every line", () =>
      Effect.gen(function*() {
        const { sellable } = yield* inStock(5)
        const holder = randomUUID()
        yield* ask(yield* openStockEntity, [[sellable, 2]], { holder })
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql`select type, quantity, reference_id, variant_id from stock_movements
          where entity_id = ${sellable}`
        assert.deepStrictEqual(rows, [{ type: "reservation", quantity: 2, reference_id: holder, variant_id: null }])
      }))
  })
})

it.layer(Layer.fresh(Rows))("two stock entities of one organization", (it) => {
  it.effect("sells exactly one hundred when two entities with separate caches serve six hundred", () =>
    Effect.gen(function*() {
      // Without the CHECK of the table only the version rows guard the stock against two entities.
      const sql = yield* SqlClient.SqlClient
      yield* sql`alter table stock_levels drop constraint no_oversell`
      const { sellable, warehouse } = yield* inStock(100)
      const blocks = [yield* openStockEntity, yield* openStockEntity]
      const results = yield* Effect.forEach(
        Array.from({ length: 30 }),
        () => Effect.forEach(blocks, (entity) => times(10, ask(entity, [[sellable, 1]])), { concurrency: 2 }),
        {
          concurrency: 10
        }
      )
      assert.strictEqual(granted(results.flat(2)), 100)
      assert.strictEqual(yield* heldUnits(sellable), 100)
      assert.deepStrictEqual(yield* unitsOf(sellable), { [warehouse]: { onHand: 100, reserved: 100 } })
    }))
})
