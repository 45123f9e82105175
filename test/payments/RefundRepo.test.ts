import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RefundRepo } from "../../src/domain/payments/RefundRepo.ts"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { newId, type RefundId } from "../../src/domain/platform/ids/Id.ts"
import { plansOf } from "../pricing/Statements.ts"
import { waiting } from "../support/AtOnce.ts"
import { buildOrder, type BuiltOrder, manager, type OrderSpec } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"

/** Refunds that wait for their provider, whose attempt has been due for so many minutes. */
const pendingRefunds = Effect.fnUntraced(function*(order: BuiltOrder, count: number, minutesDue: number) {
  const sql = yield* SqlClient.SqlClient
  const ids = Array.from({ length: count }, () => newId())
  yield* sql`insert into refunds (id, organization_id, order_id, amount, reason, status, next_attempt_at)
    select id, 'org_default', ${order.id}::uuid, 0, 'test', 'pending', now() - make_interval(mins => ${minutesDue})
    from unnest(${ids}::uuid[]) id`
  return ids
})

const takeDue = (limit: number) =>
  Effect.map(
    Effect.flatMap(RefundRepo, (refunds) => refunds.takeDue(limit)),
    (taken) => taken.map(({ refundId }) => refundId)
  )

const inStore = Effect.provideService(CurrentActor, manager())
const returnLate = ({ id }: BuiltOrder) =>
  inStore(Effect.flatMap(RefundRepo, (refunds) => refunds.returnLate(id, 1_000, "pi_1")))
const send = (refundId: RefundId) => inStore(Effect.flatMap(RefundRepo, (refunds) => refunds.send(refundId)))
const complete = (refundId: RefundId) =>
  inStore(Effect.flatMap(RefundRepo, (refunds) => refunds.complete(refundId, null)))

const secondsPass = (seconds: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`update refunds set next_attempt_at = next_attempt_at - make_interval(secs => ${seconds})`
  )

const settleAll = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`update refunds set status = 'failed'`)

/** A cancelled order that was not paid, and a void of its payment in this state. */
const aVoidedOrder = Effect.fnUntraced(function*(status: "pending" | "completed" | "failed", spec: OrderSpec = {}) {
  const sql = yield* SqlClient.SqlClient
  const order = yield* buildOrder({ captured: null, status: "cancelled", ...spec })
  const refundId = newId<RefundId>()
  yield* sql`insert into refunds (id, organization_id, order_id, amount, reason, status)
    values (${refundId}::uuid, 'org_default', ${order.id}::uuid, 0, 'order_cancelled', ${status})`
  return { order, refundId }
})

const moneyOf = (order: BuiltOrder) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ captured: number | null; refunded: number; waiting: number }>`
      select amount_captured::float8 as captured, refunded_total::float8 as refunded, (select count(*)::int4 from refunds
        where order_id = o.id and status = 'pending') as waiting from orders o where id = ${order.id}::uuid`
    return row
  })

describe("refunds", () => {
  it.layer(Layer.provideMerge(RefundRepo.layer, TestDatabase), { excludeTestServices: true })((it) => {
    it.effect("takes new refunds although many can never be settled", () =>
      Effect.gen(function*() {
        const order = yield* buildOrder()
        const hopeless = yield* pendingRefunds(order, 250, 60)
        const young = yield* pendingRefunds(order, 5, 1)
        const turns = yield* Effect.all([takeDue(100), takeDue(100), takeDue(100)])
        assert.deepStrictEqual(turns.map((taken) => taken.length), [100, 100, 55])
        assert.deepStrictEqual(turns.flat().sort(), [...hopeless, ...young].sort())
        assert.deepStrictEqual(yield* takeDue(100), [])
        yield* settleAll
      }))

    it.effect("takes a refund again after 1, 2, 4, ... minutes and then every hour", () =>
      Effect.gen(function*() {
        const [refund = ""] = yield* pendingRefunds(yield* buildOrder(), 1, 0)
        for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60, 60]) {
          assert.deepStrictEqual(yield* takeDue(10), [refund])
          yield* secondsPass(minutes * 60 - 30)
          assert.deepStrictEqual(yield* takeDue(10), [], `before ${minutes} minutes`)
          yield* secondsPass(30)
        }
        yield* settleAll
      }))

    it.effect("gives a refund to one of two concurrent runs of the job", () =>
      Effect.gen(function*() {
        const refunds = yield* pendingRefunds(yield* buildOrder(), 20, 5)
        const turns = yield* Effect.all([takeDue(20), takeDue(20)], { concurrency: 2 })
        assert.deepStrictEqual(turns.flat().sort(), [...refunds].sort())
        yield* settleAll
      }))

    it.effect("finds due refunds among 20,000 others by their index", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const order = yield* buildOrder()
        yield* sql`insert into refunds (id, organization_id, order_id, amount, reason, status)
          select gen_random_uuid(), 'org_default', ${order.id}::uuid, 0, 'test', 'completed' from generate_series(1, 20000)`
        yield* sql`analyze refunds`
        const [plan = ""] = yield* plansOf(takeDue(100))
        assert.include(plan, "refunds_pending")
        assert.notMatch(plan, /Seq Scan|Sort/)
      }))
  })
})

describe("a payment that was taken after its order was cancelled", () => {
  it.layer(Layer.provideMerge(RefundRepo.layer, TestDatabase), { excludeTestServices: true })((it) => {
    const wholly = { captured: 1_000, refunded: 1_000, waiting: 0 }

    it.effect("refunds a late capture by a new void when the first one has ended, well or not", () =>
      Effect.gen(function*() {
        for (const status of ["completed", "failed"] as const) {
          const { order } = yield* aVoidedOrder(status)
          const refundId = yield* returnLate(order)
          assert.deepStrictEqual(yield* moneyOf(order), { captured: 1_000, refunded: 0, waiting: 1 })
          yield* complete(refundId ?? assert.fail("no refund"))
          assert.deepStrictEqual(yield* moneyOf(order), wholly)
          assert.isNull(yield* returnLate(order))
        }
      }))

    it.effect("refunds a late capture by the void that was not sent yet", () =>
      Effect.gen(function*() {
        const { order, refundId } = yield* aVoidedOrder("pending")
        assert.isNull(yield* returnLate(order))
        yield* complete(refundId)
        assert.deepStrictEqual(yield* moneyOf(order), wholly)
      }))

    it.effect("refunds a late capture by a new void when the first one was sent, no matter which ends first", () =>
      Effect.gen(function*() {
        for (const inOrder of [true, false]) {
          const { order, refundId } = yield* aVoidedOrder("pending")
          yield* send(refundId)
          const later = (yield* returnLate(order)) ?? assert.fail("no refund")
          assert.deepStrictEqual(yield* moneyOf(order), { captured: 1_000, refunded: 0, waiting: 2 })
          yield* complete(inOrder ? refundId : later)
          assert.deepStrictEqual(yield* moneyOf(order), { captured: 1_000, refunded: inOrder ? 0 : 1_000, waiting: 1 })
          yield* complete(inOrder ? later : refundId)
          assert.deepStrictEqual(yield* moneyOf(order), wholly)
        }
      }))

    it.effect("does not count a late capture as refunded by a void that ends during its report", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { order, refundId } = yield* aVoidedOrder("pending")
        yield* send(refundId)
        const [noted, commit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const report = yield* Effect.forkChild(sql.withTransaction(Effect.tap(
          returnLate(order),
          () => Effect.andThen(Deferred.succeed(noted, undefined), Deferred.await(commit))
        )))
        yield* Deferred.await(noted)
        const first = yield* Effect.forkChild(complete(refundId))
        yield* waiting(1)
        yield* Deferred.succeed(commit, undefined)
        yield* Fiber.join(first)
        assert.deepStrictEqual(yield* moneyOf(order), { captured: 1_000, refunded: 0, waiting: 1 })
        yield* complete((yield* Fiber.join(report)) ?? assert.fail("no refund"))
        assert.deepStrictEqual(yield* moneyOf(order), wholly)
      }))

    it.effect("refunds a late capture by a new void when the first one ends at the same moment", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { order, refundId } = yield* aVoidedOrder("pending")
        const [ended, commit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const first = yield* Effect.forkChild(sql.withTransaction(Effect.tap(
          complete(refundId),
          () => Effect.andThen(Deferred.succeed(ended, undefined), Deferred.await(commit))
        )))
        yield* Deferred.await(ended)
        // It begins before the end of the void can be seen, and waits for it.
        const late = yield* Effect.forkChild(returnLate(order))
        yield* waiting(1)
        yield* Deferred.succeed(commit, undefined)
        yield* Fiber.join(first)
        yield* complete((yield* Fiber.join(late)) ?? assert.fail("no refund"))
        assert.deepStrictEqual(yield* moneyOf(order), wholly)
      }))

    it.effect("voids nothing for an order that is not cancelled or was paid before", () =>
      Effect.gen(function*() {
        const alive = yield* buildOrder({ captured: null })
        const paid = yield* buildOrder({ status: "cancelled", captured: 1_000 })
        assert.isNull(yield* returnLate(alive))
        assert.isNull(yield* returnLate(paid))
        assert.deepStrictEqual(yield* moneyOf(alive), { captured: null, refunded: 0, waiting: 0 })
        assert.deepStrictEqual(yield* moneyOf(paid), { captured: 1_000, refunded: 0, waiting: 0 })
      }))
  })
})
