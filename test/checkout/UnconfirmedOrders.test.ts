import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Hook } from "../../src/domain/hooks/Hook.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { signTestEvent, testProvider } from "../../src/layers/payments/TestProvider.ts"
import { UnpaidOrders } from "../../src/workflows/payments/UnpaidOrders.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, at, type TestApp, testAppLayer } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"
import { onDatabase, stockOf } from "./CheckoutFixtures.ts"
import { operationsFor, recorder } from "./PaymentRecorder.ts"

/** The recorder, with events signed as those of the built-in provider are. */
const provider = { ...recorder, verifyWebhook: testProvider({ webhookSecret: "test" }).verifyWebhook }

/** Orders that a hook of the deployment does not let go. */
const kept = new Set<unknown>()

const hook: Hook = {
  key: "orders.beforeStatusChange",
  before: ({ data }) => kept.has(at(data, "orderId")) ? Effect.die(new Error("not this one")) : Effect.succeed(data)
}

const withShoppers = layer(testAppLayer({ payments: { adapters: [provider] }, hooks: [hook] }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})

let instruments = 0

/** An order whose shopper still has to confirm: the answer of its checkout, its goods, its cart and its instrument. */
const anUnconfirmedOrder = Effect.fnUntraced(function*(body: object = {}) {
  const token = `3ds_unconfirmed_${++instruments}`
  const entityId = yield* aProduct({ stock: 5 })
  const cart = yield* aCartWith(entityId, 2)
  const made = yield* checkOut(cart, { paymentMethodId: "recorder", paymentMethodToken: token, ...body })
  assert.deepStrictEqual([made.status, made.at("data.status")], [201, "pending"], JSON.stringify(made.body))
  return { id: made.text("data.id"), intent: made.text("data.paymentIntentId"), cart, entityId, token }
})

type Unconfirmed = Effect.Success<ReturnType<typeof anUnconfirmedOrder>>

const timeIsOver = ({ id }: Unconfirmed) =>
  onDatabase((sql) =>
    sql`update orders set payment_due_at = payment_due_at - interval '60 minutes' where id = ${id}::uuid`
  )

const cancelUnconfirmed = Effect.flatMap(UnpaidOrders, (unpaid) => unpaid.cancelUnconfirmed)

const read = ({ id }: Unconfirmed) => api("GET", `/api/orders/${id}`, { as: asAdmin })

const confirm = ({ id, intent }: Unconfirmed) => {
  const object = { id: intent, amount: 2_000, currency: "usd", metadata: { orderId: id } }
  const body = JSON.stringify({ id: newId(), type: "payment_intent.succeeded", data: { object } })
  return api("POST", "/api/payments/webhook", { body, headers: { "x-payment-signature": signTestEvent("test", body) } })
}

const stockAfter = ({ entityId }: Unconfirmed) => Effect.map(stockOf(entityId), ({ reserved }) => reserved)

const money = (
  order: Answer
) => [order.at("data.status"), order.at("data.amountCaptured"), order.at("data.refundedTotal")]

/** Waits until the order says so; voids are settled by a durable process behind the job. */
const until = Effect.fnUntraced(function*(what: string, order: Unconfirmed, is: (order: Answer) => boolean) {
  const context = yield* Effect.context<TestApp>()
  return yield* Effect.promise(() =>
    waitFor(what, async () => {
      const answer = await Effect.runPromiseWith(context)(read(order))
      return is(answer) ? answer : undefined
    })
  )
})

/** Waits until the void is not only asked for, but written down too: one that is under way gives back by itself. */
const untilVoided = Effect.fnUntraced(function*({ id }: Unconfirmed) {
  const context = yield* Effect.context<TestApp>()
  const voids = onDatabase((sql) => sql`select 1 from refunds where order_id = ${id}::uuid and status = 'completed'`)
  yield* Effect.promise(() =>
    waitFor("the void", async () => (await Effect.runPromiseWith(context)(voids)).length === 1)
  )
})

const cancels = ({ token }: Unconfirmed) => operationsFor(token).filter((operation) => operation === "cancel").length

withShoppers("an order whose shopper has to confirm the payment", (it) => {
  it.effect("is left alone while its time runs", () =>
    Effect.gen(function*() {
      const order = yield* anUnconfirmedOrder()
      yield* cancelUnconfirmed
      assert.deepStrictEqual(money(yield* read(order)), ["pending", null, 0])
      assert.strictEqual(yield* stockAfter(order), 2)
    }))

  it.effect("ends with its time: stock, usage, cart and authorization go back, and it is told", () =>
    Effect.gen(function*() {
      const code = `ONCE${newId().slice(-6).toUpperCase()}`
      const made = yield* api("POST", "/api/promotions", {
        as: asAdmin,
        body: { code, name: "Once", type: "percentage_off_order", value: 10, usageLimitTotal: 1 }
      })
      const order = yield* anUnconfirmedOrder({ promotionCodes: [code] })
      yield* timeIsOver(order)
      yield* cancelUnconfirmed
      assert.deepStrictEqual(money(yield* read(order)), ["cancelled", null, 0])
      assert.deepStrictEqual(yield* stockOf(order.entityId), { onHand: 5, reserved: 0 })
      const promotion = yield* api("PATCH", `/api/promotions/${made.text("data.id")}`, { as: asAdmin, body: {} })
      assert.strictEqual(promotion.at("data.usedCount"), 0)
      const recorded = yield* onDatabase((sql) =>
        sql`select h.reason, h.changed_by, e.payload->>'status' as announced
          from order_status_history h join outbox_events e on e.entity_id = h.order_id::text
          where h.order_id = ${order.id}::uuid and h.to_status = 'cancelled' and e.type = 'orders.statusChange'`
      )
      const expected = { reason: "payment_not_confirmed", changed_by: "system:internal", announced: "cancelled" }
      assert.deepStrictEqual(recorded, [expected])
      yield* Effect.promise(() => waitFor("the authorization to be voided", () => cancels(order) === 1))
      const again = yield* checkOut(order.cart, { promotionCodes: [code] })
      assert.deepStrictEqual([again.status, again.at("data.discountTotal")], [201, 200], JSON.stringify(again.body))
    }))

  it.effect("stays when it was confirmed in time", () =>
    Effect.gen(function*() {
      const order = yield* anUnconfirmedOrder()
      yield* confirm(order)
      yield* timeIsOver(order)
      yield* cancelUnconfirmed
      assert.deepStrictEqual(money(yield* read(order)), ["confirmed", 2_000, 0])
      assert.strictEqual(cancels(order), 0)
    }))

  it.effect("stays when it was paid and only its status has not moved", () =>
    Effect.gen(function*() {
      const order = yield* anUnconfirmedOrder()
      yield* onDatabase((sql) => sql`update orders set amount_captured = 2000 where id = ${order.id}::uuid`)
      yield* timeIsOver(order)
      yield* cancelUnconfirmed
      assert.deepStrictEqual(money(yield* read(order)), ["pending", 2_000, 0])
      assert.strictEqual(yield* stockAfter(order), 2)
    }))

  it.effect("that is confirmed while it ends is either paid and kept, or cancelled and refunded", () =>
    Effect.gen(function*() {
      const orders = yield* Effect.forEach(Array.from({ length: 10 }), () => anUnconfirmedOrder(), { concurrency: 4 })
      yield* Effect.forEach(orders, timeIsOver)
      const [answers] = yield* Effect.all([
        Effect.forEach(orders, confirm, { concurrency: 10 }),
        cancelUnconfirmed,
        cancelUnconfirmed
      ], {
        concurrency: 3
      })
      assert.deepStrictEqual(answers.map(({ status }) => status).filter((status) => status !== 200), [])
      for (const order of orders) {
        const settled = yield* until(
          "the money to be where it belongs",
          order,
          (one) => one.at("data.status") === "confirmed" || one.at("data.refundedTotal") === 2_000
        )
        const isKept = settled.at("data.status") === "confirmed"
        assert.deepStrictEqual(money(settled), isKept ? ["confirmed", 2_000, 0] : ["cancelled", 2_000, 2_000])
        assert.strictEqual(yield* stockAfter(order), isKept ? 2 : 0)
        assert.strictEqual(cancels(order) > 0, !isKept)
      }
    }))

  it.effect("that is confirmed after its end gets its money back, once, and stays cancelled", () =>
    Effect.gen(function*() {
      const order = yield* anUnconfirmedOrder()
      yield* timeIsOver(order)
      yield* cancelUnconfirmed
      yield* untilVoided(order)
      assert.strictEqual((yield* confirm(order)).status, 200)
      const refunded = yield* until("the refund", order, (one) => one.at("data.refundedTotal") === 2_000)
      assert.deepStrictEqual(money(refunded), ["cancelled", 2_000, 2_000])
      assert.strictEqual(cancels(order), 2)
      assert.strictEqual((yield* confirm(order)).status, 200)
      const refunds = yield* onDatabase((sql) =>
        sql`select reason, status from refunds where order_id = ${order.id}::uuid order by created_at`
      )
      assert.deepStrictEqual(refunds, [
        { reason: "payment_not_confirmed", status: "completed" },
        { reason: "paid_after_cancellation", status: "completed" }
      ])
    }))

  it.effect("that a hook does not let go keeps no other one from its end, and is tried again later", () =>
    Effect.gen(function*() {
      const [stuck, other] = [yield* anUnconfirmedOrder(), yield* anUnconfirmedOrder()]
      kept.add(stuck.id)
      yield* timeIsOver(stuck)
      yield* timeIsOver(other)
      yield* cancelUnconfirmed
      assert.strictEqual((yield* read(stuck)).at("data.status"), "pending")
      assert.strictEqual((yield* read(other)).at("data.status"), "cancelled")
      assert.strictEqual(yield* cancelUnconfirmed, 0)
      kept.delete(stuck.id)
      yield* timeIsOver(stuck)
      yield* cancelUnconfirmed
      assert.strictEqual((yield* read(stuck)).at("data.status"), "cancelled")
    }))
})
