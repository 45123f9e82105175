import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { WorkflowEngine } from "effect/workflow"
import { CreateOrderRepo } from "../../src/domain/checkout/CreateOrderRepo.ts"
import { Fulfillments } from "../../src/domain/fulfillment/Fulfillments.ts"
import { OrderRepo } from "../../src/domain/orders/OrderRepo.ts"
import { Orders } from "../../src/domain/orders/Orders.ts"
import { OrderStatusRepo } from "../../src/domain/orders/OrderStatusRepo.ts"
import { CaptureRepo, type DueCapture } from "../../src/domain/payments/CaptureRepo.ts"
import { PaymentAdapters } from "../../src/domain/payments/PaymentAdapter.ts"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { InvalidTransition } from "../../src/domain/platform/errors/ApiErrors.ts"
import { newId, OrderId } from "../../src/domain/platform/ids/Id.ts"
import { testProvider } from "../../src/layers/payments/TestProvider.ts"
import { CaptureOrder, captureOrderLayer, Captures } from "../../src/workflows/checkout/Captures.ts"
import { plansOf } from "../pricing/Statements.ts"
import { buildOrder, type BuiltOrder, manager } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"

const inStore = Effect.provideService(CurrentActor, manager())

/** An authorized order whose capture was claimed by somebody of whom nothing was heard for a minute. */
const aClaimedOrder = Effect.fnUntraced(function*(amount?: number) {
  const order = yield* buildOrder({ captured: null })
  yield* inStore((yield* CaptureRepo).claim(order.id, amount))
  yield* aMinuteLater(order)
  return order
})

const aMinuteLater = ({ id }: BuiltOrder) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`update orders set capture_due_at = capture_due_at - interval '1 minute' where id = ${id}::uuid`
  )

const takeDue = (limit = 100) => Effect.flatMap(CaptureRepo, (repo) => repo.takeDue(limit))

const dueIn = ({ id }: BuiltOrder) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ minutes: number | null }>`select
      round(extract(epoch from capture_due_at - now()) / 60)::float8 as minutes from orders where id = ${id}::uuid`
    return row?.minutes
  })

/** What the scheduled job starts of what is due, where every start dies. */
const begunByJob = Effect.fnUntraced(function*(due: ReadonlyArray<DueCapture>) {
  const begun: Array<unknown> = []
  const engine = Layer.mock(WorkflowEngine.WorkflowEngine, {
    execute: (_workflow, { payload }) => {
      begun.push(Reflect.get(Object(payload), "orderId"))
      return Effect.die("cannot be begun")
    }
  })
  const found = Layer.mock(CaptureRepo, { takeDue: () => Effect.succeed(due) })
  const sweeper = Captures.layer.pipe(Layer.provide(Layer.mergeAll(engine, found, Layer.mock(OrderRepo, {}))))
  const looked = yield* Effect.provide(Effect.flatMap(Captures, ({ startDue }) => startDue), sweeper)
  return { begun, looked }
})

describe("captures that were claimed", () => {
  it.effect("starts claimed captures without a result, and one that cannot start does not delay the others", () =>
    Effect.gen(function*() {
      const due = { organizationId: "org_default", amount: 1, refusals: 0, ended: false }
      const orders = [newId(), newId(), newId()] as const
      const found = yield* begunByJob([
        { ...due, orderId: OrderId.make(orders[0]) },
        { ...due, orderId: OrderId.make(orders[1]), ended: true },
        { ...due, orderId: OrderId.make(orders[2]) }
      ])
      assert.deepStrictEqual(found, { begun: [orders[0], orders[2]], looked: 3 })
    }))

  it.layer(Layer.provideMerge(CaptureRepo.layer, TestDatabase), { excludeTestServices: true })((it) => {
    it.effect("takes a claimed capture after a minute, the oldest first, and again after ten", () =>
      Effect.gen(function*() {
        const fresh = yield* buildOrder({ captured: null })
        yield* inStore((yield* CaptureRepo).claim(fresh.id, undefined))
        assert.strictEqual(yield* dueIn(fresh), 1)
        const [first, second] = [yield* aClaimedOrder(400), yield* aClaimedOrder()]
        yield* aMinuteLater(first)
        const due = { organizationId: "org_default", refusals: 0, ended: false }
        assert.deepStrictEqual(yield* takeDue(1), [{ ...due, orderId: first.id, amount: 400 }])
        assert.deepStrictEqual(yield* takeDue(), [{ ...due, orderId: second.id, amount: 1_000 }])
        assert.deepStrictEqual(yield* takeDue(), [])
        assert.deepStrictEqual([yield* dueIn(first), yield* dueIn(second)], [10, 10])
      }))

    it.effect("drops a claim once its order was captured, refused or cancelled", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const [captured, cancelled, refused] = [
          yield* aClaimedOrder(),
          yield* aClaimedOrder(),
          yield* aClaimedOrder()
        ]
        yield* sql`update orders set amount_captured = grand_total where id = ${captured.id}::uuid`
        yield* sql`update orders set status = 'cancelled' where id = ${cancelled.id}::uuid`
        yield* inStore((yield* CaptureRepo).release(refused.id, 0, []))
        const taken = yield* takeDue()
        assert.sameMembers(taken.map(({ orderId }) => orderId), [captured.id, cancelled.id])
        assert.isTrue(taken.every(({ ended }) => ended))
        for (const order of [captured, cancelled, refused]) assert.isNull(yield* dueIn(order))
      }))

    it.effect("releases a claim only for the refusal of that claim, and not once the order is captured", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { claim, release } = yield* CaptureRepo
        const order = yield* aClaimedOrder(300)
        yield* inStore(release(order.id, 0, []))
        assert.deepStrictEqual(yield* inStore(claim(order.id, 200)), { amount: 200, refusals: 1 })
        // The run of the first claim comes to its end a second time.
        yield* inStore(release(order.id, 0, []))
        assert.deepStrictEqual(yield* inStore(claim(order.id, 200)), { amount: 200, refusals: 1 })
        assert.strictEqual((yield* Effect.flip(inStore(claim(order.id, 300))))._tag, "Conflict/OtherCaptureRunning")
        yield* sql`update orders set amount_captured = 200 where id = ${order.id}::uuid`
        yield* inStore(release(order.id, 1, []))
        const [row] = yield* sql`select capture_amount, capture_refusals from orders where id = ${order.id}::uuid`
        assert.deepStrictEqual(row, { capture_amount: 200n, capture_refusals: 1 })
      }))

    it.effect("refuses to claim an order that has no authorized payment, has ended, or waits for its shopper", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { claim } = yield* CaptureRepo
        const refusals = {
          "paid otherwise": yield* buildOrder({ captured: null, intentId: null }),
          "captured": yield* buildOrder(),
          "cancelled": yield* buildOrder({ captured: null, status: "cancelled" }),
          "refunded": yield* buildOrder({ captured: null, status: "refunded" }),
          "without a provider": yield* buildOrder({ captured: null }),
          "without a payment": yield* buildOrder({ captured: null }),
          "waiting": yield* buildOrder({ captured: null })
        }
        yield* sql`update orders set payment_provider = null where id = ${refusals["without a provider"].id}::uuid`
        yield* sql`update orders set payment_intent_id = null where id = ${refusals["without a payment"].id}::uuid`
        yield* sql`update orders set payment_due_at = now() where id = ${refusals.waiting.id}::uuid`
        const refused = yield* Effect.forEach(
          Object.values(refusals),
          ({ id }) => Effect.map(Effect.flip(inStore(claim(id, undefined))), ({ _tag }) => _tag)
        )
        assert.deepStrictEqual(refused, [
          "Conflict/NothingAuthorized",
          "Conflict/AlreadyCaptured",
          "Conflict/CaptureAfterEnd",
          "Conflict/CaptureAfterEnd",
          "Conflict/NothingAuthorized",
          "Conflict/NothingAuthorized",
          "Conflict/PaymentUnconfirmed"
        ])
      }))

    it.effect("confirms an order whose capture succeeded before its process died, without asking the provider again", () =>
      Effect.gen(function*() {
        const { id } = yield* buildOrder()
        const done: Array<string> = []
        const around = Layer.mergeAll(
          CaptureRepo.layer,
          OrderRepo.layer,
          PaymentAdapters.layerOf([testProvider({ webhookSecret: "test" })], new Map()),
          Layer.mock(CreateOrderRepo, {}),
          Layer.mock(OrderStatusRepo, {}),
          Layer.mock(Orders, {
            changeStatus: (orderId) => {
              done.push(`asked to confirm ${orderId}`)
              return Effect.fail(InvalidTransition.of("Somebody else did."))
            }
          }),
          Layer.mock(Fulfillments, {
            deliver: (order) => Effect.sync(() => (done.push(`delivered ${order.id}`), order))
          })
        )
        const process = captureOrderLayer.pipe(Layer.provideMerge(WorkflowEngine.layerMemory), Layer.provide(around))
        const capture = CaptureOrder.execute({ orderId: id, amount: 1_000, refusals: 0, actor: manager() })
        assert.strictEqual((yield* Effect.provide(capture, process))._tag, "Captured")
        assert.deepStrictEqual(done, [`asked to confirm ${id}`, `delivered ${id}`])
      }))

    it.effect("finds due captures among 20,000 orders by their index", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into orders (id, organization_id, order_number, status, currency, subtotal, tax_total,
            shipping_total, discount_total, grand_total, amount_captured)
          select gen_random_uuid(), 'org_many', n::text, 'confirmed', 'USD', 1, 0, 0, 0, 1, 1 from generate_series(1, 20000) n`
        yield* sql`analyze orders`
        const [plan = ""] = yield* plansOf(takeDue())
        assert.include(plan, "orders_capture_due")
        assert.notMatch(plan, /Seq Scan|Sort/)
      }))
  })
})
