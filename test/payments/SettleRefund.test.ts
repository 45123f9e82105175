import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { WorkflowEngine } from "effect/workflow"
import { undoCreateOrderRepoLayer } from "../../src/domain/checkout/CreateOrderRepo.ts"
import { handoverLayer } from "../../src/domain/fulfillment/ShipmentRepo.ts"
import { HoldRepo } from "../../src/domain/inventory/HoldRepo.ts"
import { OrderStock } from "../../src/domain/inventory/Inventory.ts"
import { OrderHoldRepo } from "../../src/domain/inventory/OrderHoldRepo.ts"
import { OrderStatusRepo } from "../../src/domain/orders/OrderStatusRepo.ts"
import {
  type PaymentAdapter,
  PaymentAdapters,
  PaymentDeclined,
  PaymentUnknown
} from "../../src/domain/payments/PaymentAdapter.ts"
import { RefundPartRepo } from "../../src/domain/payments/RefundPartRepo.ts"
import { RefundRepo } from "../../src/domain/payments/RefundRepo.ts"
import { RefundReversalRepo } from "../../src/domain/payments/RefundReversalRepo.ts"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { testProvider } from "../../src/layers/payments/TestProvider.ts"
import { RefundSettlement } from "../../src/workflows/payments/RefundSettlement.ts"
import { FullRefunds, SettleRefund, settleRefundLayer } from "../../src/workflows/payments/SettleRefund.ts"
import { eventually } from "../support/Eventually.ts"
import { buildOrder, manager, type OrderSpec } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { waitFor } from "../support/waitFor.ts"

/** A provider that moves money once per key, as real ones do; `before` may fail its calls. */
const providerOf = (
  before: (call: number) => Effect.Effect<void, PaymentUnknown | PaymentDeclined> = () => Effect.void
) => {
  const moved = new Map<string, number>()
  const voided: Array<string> = []
  let calls = 0
  const adapter: PaymentAdapter = {
    ...testProvider({ webhookSecret: "test" }),
    refund: (_intentId, amount, _reason, key) =>
      Effect.suspend(() => before(++calls)).pipe(Effect.map(() => {
        if (!moved.has(key)) moved.set(key, amount)
        return `re_${key}`
      })),
    cancel: (intentId) => Effect.sync(() => void voided.push(intentId))
  }
  return { adapter, moved, voided, calls: () => calls }
}

/** A process with the workflow in it; another one on the same database is what a restart finds. */
const processWith = (
  adapter: PaymentAdapter,
  around: Layer.Layer<PaymentAdapters, never, PaymentAdapters> = Layer.effect(PaymentAdapters, PaymentAdapters)
) =>
  RefundSettlement.layer.pipe(
    Layer.provideMerge(settleRefundLayer),
    Layer.provideMerge(Layer.fresh(WorkflowEngine.layerMemory)),
    Layer.provide(Layer.provide(around, PaymentAdapters.layerOf([adapter], new Map()))),
    Layer.provide(NodeCrypto.layer)
  )

/** Settles a refund in a separate process. */
const settle = (refund: Parameters<typeof SettleRefund.execute>[0], adapter: PaymentAdapter) =>
  Effect.provide(SettleRefund.execute(refund), processWith(adapter))

const aRefund = Effect.fnUntraced(function*(spec: OrderSpec = {}) {
  const built = yield* buildOrder(spec)
  const repo = yield* OrderStatusRepo
  const cancelled = repo.transition({ orderId: built.id, from: "pending", to: "cancelled", reason: null })
  const { refundId } = yield* Effect.provideService(cancelled, CurrentActor, manager())
  assert.isNotNull(refundId)
  return { built, refund: { refundId: refundId ?? "", organizationId: "org_default" } }
})

const stateOf = Effect.fnUntraced(function*(refundId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ status: string; failure: string | null; reference: string | null; refunded: bigint }>`
    select r.status, r.failure, r.provider_reference as reference, o.refunded_total as refunded
    from refunds r join orders o on o.id = r.order_id where r.id = ${refundId}::uuid`
  const row = rows[0]
  return { status: row?.status, failure: row?.failure, reference: row?.reference, refunded: Number(row?.refunded) }
}, Effect.orDie)

/** The order's own status afterwards is tested over HTTP. */
const noConclusion = Layer.succeed(FullRefunds, { conclude: () => Effect.void })

const repos = Layer.mergeAll(
  OrderStatusRepo.layer,
  RefundPartRepo.layer,
  RefundRepo.layer,
  RefundReversalRepo.layer,
  noConclusion
).pipe(
  Layer.provide(Layer.mergeAll(OrderStock.layer, handoverLayer)),
  Layer.provide(Layer.mergeAll(HoldRepo.layer, OrderHoldRepo.layer, undoCreateOrderRepoLayer)),
  Layer.provideMerge(TestDatabase)
)

describe("SettleRefund", () => {
  it.layer(repos, { excludeTestServices: true })((it) => {
    it.effect("asks the order's provider with the refund's id and records the answer, also a refusal", () =>
      Effect.gen(function*() {
        const refusal = new PaymentDeclined({ code: "PAYMENT_REFUND_FAILED", message: "The card is closed." })
        const [given, refused] = [(yield* aRefund()).refund, (yield* aRefund()).refund]
        const provider = providerOf()
        assert.strictEqual(yield* settle(given, provider.adapter), "completed")
        assert.deepStrictEqual([...provider.moved], [[given.refundId, 1_000]])
        assert.strictEqual(yield* settle(refused, providerOf(() => Effect.fail(refusal)).adapter), "failed")
        assert.deepStrictEqual([yield* stateOf(given.refundId), yield* stateOf(refused.refundId)], [
          { status: "completed", failure: null, reference: `re_${given.refundId}`, refunded: 1_000 },
          { status: "failed", failure: "The card is closed.", reference: null, refunded: 0 }
        ])
      }))

    it.effect("moves money and total once when the process dies between the provider's answer and its record", () =>
      Effect.gen(function*() {
        const provider = providerOf()
        const { refund } = yield* aRefund()
        const reached = yield* Deferred.make<void>()
        const repo = yield* RefundRepo
        // The first process gives the money back and dies before it can record that.
        const dying = { ...repo, complete: () => Effect.andThen(Deferred.succeed(reached, undefined), Effect.never) }
        const first = yield* Effect.forkChild(
          SettleRefund.execute(refund).pipe(
            Effect.provideService(RefundRepo, dying),
            Effect.provide(processWith(provider.adapter))
          )
        )
        yield* Deferred.await(reached)
        yield* Fiber.interrupt(first)
        assert.strictEqual((yield* stateOf(refund.refundId)).status, "pending")
        // The third process finds it done.
        for (let process = 2; process <= 3; process++) {
          assert.strictEqual(yield* settle(refund, provider.adapter), "completed")
          assert.deepStrictEqual([provider.calls(), ...provider.moved.values()], [2, 1_000])
          assert.strictEqual((yield* stateOf(refund.refundId)).refunded, 1_000)
        }
      }))

    it.effect("moves the total once for concurrent processes that settle one refund", () =>
      Effect.gen(function*() {
        const provider = providerOf()
        const { refund } = yield* aRefund()
        const run = settle(refund, provider.adapter)
        yield* Effect.all([run, run, run], { concurrency: "unbounded" })
        assert.deepStrictEqual([...provider.moved.values()], [1_000])
        assert.strictEqual((yield* stateOf(refund.refundId)).refunded, 1_000)
      }))

    it.effect("keeps asking a provider that does not answer, with pauses, and settles when it does", () =>
      Effect.gen(function*() {
        const silent = new PaymentUnknown({ message: "no answer" })
        const times: Array<number> = []
        const provider = providerOf((call) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            times.push(now)
            return call < 9 ? Effect.fail(silent) : Effect.void
          })
        )
        const { refund } = yield* aRefund()
        yield* Effect.gen(function*() {
          const run = yield* Effect.forkChild(SettleRefund.execute(refund))
          // The clock is moved only once the workflow has asked, and so on: pauses are armed after each answer.
          for (let asked = 1; asked < 9; asked++) {
            yield* Effect.promise(() => waitFor(`call ${asked}`, () => provider.calls() >= asked))
            while (provider.calls() === asked) {
              yield* TestClock.adjust("1 minute")
              yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
            }
          }
          assert.strictEqual(yield* Fiber.join(run), "completed")
        }).pipe(Effect.provide(processWith(provider.adapter)), Effect.provide(TestClock.layer()))
        // The long pauses end a run of the process's body: waking up from them must not repeat the earlier calls.
        const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0))
        pauses.forEach((pause, index) => assert.isAtLeast(pause, 2_000 * 2 ** index))
        assert.strictEqual(provider.calls(), 9)
        assert.deepStrictEqual([...provider.moved.values()], [1_000])
        assert.strictEqual((yield* stateOf(refund.refundId)).status, "completed")
      }))

    it.effect("waits for a provider that is not configured until it is again, and never asks another one", () =>
      Effect.gen(function*() {
        const [another, back] = [providerOf(), providerOf()]
        const { refund } = yield* aRefund({ provider: "gone" })
        let looks = 0
        const counting = Layer.effect(
          PaymentAdapters,
          Effect.map(PaymentAdapters, (adapters) => ({
            ...adapters,
            byProvider: (id: string) => {
              looks++
              return adapters.byProvider(id)
            }
          }))
        )
        yield* Effect.gen(function*() {
          const waiting = yield* Effect.forkChild(SettleRefund.execute(refund))
          // A long pause is over once it looks for the provider a second time.
          for (let minute = 0; looks < 2 && minute < 2_000; minute++) {
            yield* TestClock.adjust("1 minute")
            yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
          }
          yield* Fiber.interrupt(waiting)
        }).pipe(Effect.provide(processWith(another.adapter, counting)), Effect.provide(TestClock.layer()))
        assert.isAtLeast(looks, 2)
        assert.strictEqual((yield* stateOf(refund.refundId)).status, "pending")
        const adapter = { ...back.adapter, providerId: "gone" }
        assert.strictEqual(yield* settle(refund, adapter), "completed")
        assert.deepStrictEqual([another.calls(), back.calls()], [0, 1])
      }))

    it.effect("voids an authorization that was never captured, and fails an order that no provider was paid for", () =>
      Effect.gen(function*() {
        const provider = providerOf()
        const { built, refund } = yield* aRefund({ captured: null })
        yield* settle(refund, provider.adapter)
        assert.deepStrictEqual([provider.voided, provider.calls()], [[built.intentId], 0])
        const expected = { status: "completed", failure: null, reference: null, refunded: 0 }
        assert.deepStrictEqual(yield* stateOf(refund.refundId), expected)
        assert.strictEqual(yield* settle((yield* aRefund({ intentId: null })).refund, provider.adapter), "failed")
      }))

    it.effect("starts refunds whose process died before it started them, and no fresh ones", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const provider = providerOf()
        const { refund: old } = yield* aRefund()
        const { refund: fresh } = yield* aRefund()
        yield* sql`update refunds set next_attempt_at = now() where id = ${old.refundId}::uuid`
        yield* Effect.gen(function*() {
          const { startDue } = yield* RefundSettlement
          assert.strictEqual(yield* startDue, 1)
          yield* eventually("the refund", Effect.map(stateOf(old.refundId), ({ status }) => status === "completed"))
        }).pipe(Effect.provide(processWith(provider.adapter)))
        assert.strictEqual((yield* stateOf(fresh.refundId)).status, "pending")
      }))
  })
})
