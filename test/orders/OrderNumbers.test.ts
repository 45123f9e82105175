import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { OrderNumbers } from "../../src/domain/orders/OrderNumbers.ts"
import { OrderRepo } from "../../src/domain/orders/OrderRepo.ts"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { manager } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"

/** The numbers of one process, which has a separate block. */
const process = Effect.gen(function*() {
  const { next } = yield* OrderNumbers
  return (organization: string) => Effect.provideService(next, CurrentActor, manager(organization))
}).pipe(Effect.provide(Layer.fresh(OrderNumbers.layer)))

/**
 * A clock per test. The client of the database has the real one: its pool checks itself every few seconds, and years of
 * the test clock would be millions of checks.
 */
const withClock = Effect.provide(TestClock.layer())

const at = (time: string) => TestClock.setTime(Date.parse(time))

describe("OrderNumbers", () => {
  it.layer(OrderRepo.layer.pipe(Layer.provideMerge(TestDatabase)), { excludeTestServices: true })((it) => {
    it.effect("starts each organization at 000001 and counts on without gaps in one process", () =>
      Effect.gen(function*() {
        yield* at("2026-03-01T12:00:00Z")
        const next = yield* process
        const first = yield* Effect.all([next("org_a"), next("org_a"), next("org_b"), next("org_a")])
        assert.deepStrictEqual(first, ["ORD-2026-000001", "ORD-2026-000002", "ORD-2026-000001", "ORD-2026-000003"])
      }).pipe(withClock))

    it.effect("begins again at 000001 in a new year of UTC, in the middle of a block", () =>
      Effect.gen(function*() {
        yield* at("2026-12-31T23:59:59Z")
        const next = yield* process
        for (let n = 0; n < 5; n++) yield* next("org_year")
        yield* at("2027-01-01T00:00:00Z")
        assert.strictEqual(yield* next("org_year"), "ORD-2027-000001")
        assert.strictEqual(yield* next("org_year"), "ORD-2027-000002")
      }).pipe(withClock))

    it.effect("gives 200 concurrent callers of two processes 200 different numbers", () =>
      Effect.gen(function*() {
        yield* at("2026-05-01T00:00:00Z")
        const [one, other] = [yield* process, yield* process]
        const numbers = yield* Effect.forEach(
          Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? one : other)),
          (next) => next("org_busy"),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(numbers).size, 200)
      }).pipe(withClock))

    it.effect("asks the table seldom while orders come fast", () =>
      Effect.gen(function*() {
        yield* at("2026-05-01T00:00:00Z")
        let fetches = 0
        const repo = yield* OrderRepo
        const counting = Layer.succeed(OrderRepo, {
          ...repo,
          takeNumbers: (year, count) =>
            Effect.suspend(() => {
              fetches += 1
              return repo.takeNumbers(year, count)
            })
        })
        const { next } = yield* Effect.provide(
          OrderNumbers,
          Layer.fresh(OrderNumbers.layer).pipe(Layer.provide(counting))
        )
        yield* Effect.forEach(Array.from({ length: 127 }), () => next, { concurrency: "unbounded" }).pipe(
          Effect.provideService(CurrentActor, manager("org_fast"))
        )
        // 1 + 2 + 4 + 8 + 16 + 32 + 64 numbers
        assert.strictEqual(fetches, 7)
      }).pipe(withClock))

    it.effect("leaves no gap behind a quiet shop whose process ends", () =>
      Effect.gen(function*() {
        yield* at("2026-06-01T00:00:00Z")
        const before = yield* process
        for (let day = 1; day <= 5; day++) {
          yield* TestClock.adjust("1 day")
          yield* before("org_quiet")
        }
        const after = yield* process
        assert.strictEqual(yield* after("org_quiet"), "ORD-2026-000006")
      }).pipe(withClock))

    it.effect("grows past six digits", () =>
      Effect.gen(function*() {
        yield* at("2026-06-01T00:00:00Z")
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into order_counters (organization_id, year, last_number) values ('org_large', 2026, 999999)`
        const next = yield* process
        assert.strictEqual(yield* next("org_large"), "ORD-2026-1000000")
      }).pipe(withClock))

    it.effect("refuses to take a block inside a transaction, whose rollback would give its numbers out twice", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const next = yield* process
        const exit = yield* Effect.exit(sql.withTransaction(next("org_transaction")))
        assert.strictEqual(exit._tag, "Failure")
      }).pipe(withClock))
  })
})
