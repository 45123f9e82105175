import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Hook } from "../../src/domain/platform/hooks/Hook.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { UnpaidOrders } from "../../src/workflows/payments/UnpaidOrders.ts"
import { eventually } from "../support/Eventually.ts"
import { checkOut } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, at, live, testAppLayer } from "../support/TestApp.ts"
import { aFilledCart, assertTakenBack, onDatabase, stockOf } from "./CheckoutFixtures.ts"
import { scriptedProvider, silence } from "./ScriptedProvider.ts"

const provider = scriptedProvider("scripted")

/** Orders that a hook of the deployment does not let go. */
const kept = new Set<unknown>()

const hook: Hook = {
  key: "orders.beforeStatusChange",
  before: ({ data }) => kept.has(at(data, "orderId")) ? Effect.die(new Error("not this one")) : Effect.succeed(data)
}

/** A refund of a payment that `succeeded` reports, which this provider did not capture, succeeds. */
const adapter = { ...provider.adapter, refund: () => Effect.succeed("re_1") }

const withShoppers = layer(testAppLayer({ payments: { adapters: [adapter] }, hooks: [hook] }), live)

let instruments = 0

/** An order whose shopper still has to confirm: its goods, its cart and its instrument. */
const anUnconfirmedOrder = Effect.fnUntraced(function*(body: object = {}) {
  const token = `asks_${++instruments}`
  const { entityId, ...cart } = yield* aFilledCart(2, { stock: 5 })
  const made = yield* checkOut(cart, { paymentMethodId: "scripted", paymentMethodToken: token, ...body })
  assert.include(made.at("data"), { status: "pending", amountCaptured: null }, JSON.stringify(made.body))
  assert.strictEqual(provider.callsOf(token, "capture"), 0)
  return { id: made.text("data.id"), intent: made.text("data.paymentIntentId"), cart, entityId, token }
})

type Unconfirmed = Effect.Success<ReturnType<typeof anUnconfirmedOrder>>

/** The provider reports something about the payment of an order. */
const report = (type: string, { id, intent }: Unconfirmed, eventId: string) => {
  const metadata = { orderId: id, organizationId: "org_default" }
  const object = { id: intent, amount: 2_000, currency: "usd", metadata }
  const body = JSON.stringify({ id: eventId, type, data: { object } })
  const headers = { "x-payment-signature": signTestEvent("scripted", body) }
  return api("POST", "/api/payments/webhook", { body, headers })
}

const capturable = (order: Unconfirmed, eventId = newId()) =>
  report("payment_intent.amount_capturable_updated", order, eventId)
const succeeded = (order: Unconfirmed) => report("payment_intent.succeeded", order, newId())

const read = ({ id }: Unconfirmed) => api("GET", `/api/orders/${id}`, { as: asAdmin })

const until = (what: string, order: Unconfirmed, is: (order: Answer) => boolean) =>
  eventually(what, Effect.map(read(order), (answer) => is(answer) && answer))

const captured = (order: Unconfirmed) =>
  until("the capture", order, (answer) => answer.at("data.amountCaptured") === 2_000)

const timeIsOver = ({ id }: Unconfirmed) =>
  onDatabase((sql) =>
    sql`update orders set payment_due_at = payment_due_at - interval '60 minutes' where id = ${id}::uuid`
  )

const endOverdue = Effect.flatMap(UnpaidOrders, ({ cancelUnconfirmed }) => cancelUnconfirmed)

const stockAfter = ({ entityId }: Unconfirmed) => Effect.map(stockOf(entityId), ({ reserved }) => reserved)

const money = (order: Answer) => ["status", "amountCaptured", "refundedTotal"].map((field) => order.at(`data.${field}`))

const cancels = ({ token }: Unconfirmed) => provider.callsOf(token, "cancel")

withShoppers("a payment that its shopper confirms", (it) => {
  it.effect("is captured once the provider says that it can be, and once however often it says so", () =>
    Effect.gen(function*() {
      const order = yield* anUnconfirmedOrder()
      provider.confirm(order.token)
      const id = newId()
      assert.deepStrictEqual((yield* capturable(order, id)).at("data"), { received: true })
      yield* captured(order)
      assert.deepStrictEqual((yield* capturable(order, id)).at("data"), { received: true, duplicate: true })
      assert.deepStrictEqual((yield* capturable(order)).at("data"), { received: true })
      assert.strictEqual(provider.callsOf(order.token, "capture"), 1)
      assert.strictEqual(provider.paymentOf(order.token)?.captured, 2_000)
    }))

  it.effect("is captured also when the process that received the event first died", () =>
    Effect.gen(function*() {
      const order = yield* anUnconfirmedOrder()
      provider.confirm(order.token)
      const id = newId()
      yield* onDatabase((sql) =>
        sql`insert into payment_events (organization_id, provider, event_id, type, order_id)
          values ('org_default', 'scripted', ${id}, 'payment_intent.amount_capturable_updated', ${order.id}::uuid)`
      )
      assert.deepStrictEqual((yield* capturable(order, id)).at("data"), { received: true, duplicate: true })
      yield* captured(order)
    }))

  it.effect("is captured also when the provider is silent at first", () =>
    Effect.gen(function*() {
      const order = yield* anUnconfirmedOrder()
      provider.confirm(order.token)
      provider.obstruct(order.token, (operation, nth) => operation === "capture" && nth < 3 ? silence : Effect.void)
      yield* capturable(order)
      yield* captured(order)
    }))

  it.effect("that cannot be captured cancels the order and gives stock, cart and money back", () =>
    Effect.gen(function*() {
      // Not confirmed: the provider refuses to capture.
      const order = yield* anUnconfirmedOrder()
      yield* capturable(order)
      yield* until("the cancellation", order, (answer) => answer.at("data.status") === "cancelled")
      yield* assertTakenBack(order.cart.id, order.entityId)
      yield* eventually("the void", Effect.sync(() => provider.paymentOf(order.token)?.status === "canceled"))
    }))

  it.effect("is left alone when its order was cancelled before", () =>
    Effect.gen(function*() {
      const order = yield* anUnconfirmedOrder()
      const body = { status: "cancelled" }
      const answer = yield* api("PATCH", `/api/orders/${order.id}/status`, { as: asAdmin, body })
      assert.strictEqual(answer.at("data.status"), "cancelled")
      assert.strictEqual((yield* capturable(order)).status, 200)
      assert.strictEqual(provider.callsOf(order.token, "capture"), 0)
    }))
})

withShoppers("an order whose shopper has to confirm the payment", (it) => {
  it.effect("stays while its time runs, when it was confirmed in time, and when it was paid", () =>
    Effect.gen(function*() {
      const [waiting, confirmed, paid] = yield* Effect.replicateEffect(anUnconfirmedOrder(), 3)
      if (waiting === undefined || confirmed === undefined || paid === undefined) return assert.fail("no orders")
      yield* succeeded(confirmed)
      yield* onDatabase((sql) => sql`update orders set amount_captured = 2000 where id = ${paid.id}::uuid`)
      yield* Effect.forEach([confirmed, paid], timeIsOver)
      yield* endOverdue
      assert.deepStrictEqual(money(yield* read(waiting)), ["pending", null, 0])
      assert.deepStrictEqual(money(yield* read(confirmed)), ["confirmed", 2_000, 0])
      assert.deepStrictEqual(money(yield* read(paid)), ["pending", 2_000, 0])
      assert.deepStrictEqual([yield* stockAfter(waiting), yield* stockAfter(paid)], [2, 2])
      assert.strictEqual(cancels(confirmed), 0)
    }))

  it.effect("ends with its time: stock, usage, cart and authorization go back, and the event is recorded", () =>
    Effect.gen(function*() {
      const code = `ONCE${newId().slice(-6).toUpperCase()}`
      const promotion = { code, name: "Once", type: "percentage_off_order", value: 10, usageLimitTotal: 1 }
      const made = yield* api("POST", "/api/promotions", { as: asAdmin, body: promotion })
      const order = yield* anUnconfirmedOrder({ promotionCodes: [code] })
      yield* timeIsOver(order)
      yield* endOverdue
      assert.deepStrictEqual(money(yield* read(order)), ["cancelled", null, 0])
      assert.deepStrictEqual(yield* stockOf(order.entityId), { onHand: 5, reserved: 0 })
      const used = yield* api("PATCH", `/api/promotions/${made.text("data.id")}`, { as: asAdmin, body: {} })
      assert.strictEqual(used.at("data.usedCount"), 0)
      const recorded = yield* onDatabase((sql) =>
        sql`select h.reason, h.changed_by, e.payload->>'status' as announced
          from order_status_history h join outbox_events e on e.entity_id = h.order_id::text
          where h.order_id = ${order.id}::uuid and h.to_status = 'cancelled' and e.type = 'orders.statusChange'`
      )
      const expected = { reason: "payment_not_confirmed", changed_by: "system:internal", announced: "cancelled" }
      assert.deepStrictEqual(recorded, [expected])
      yield* eventually("the void", Effect.sync(() => cancels(order) === 1))
      const again = yield* checkOut(order.cart, { promotionCodes: [code] })
      assert.deepStrictEqual([again.status, again.at("data.discountTotal")], [201, 200], JSON.stringify(again.body))
    }))

  it.effect("that is confirmed while it ends is either paid and kept, or cancelled and refunded", () =>
    Effect.gen(function*() {
      const orders = yield* Effect.replicateEffect(anUnconfirmedOrder(), 10, { concurrency: 4 })
      yield* Effect.forEach(orders, timeIsOver)
      const confirmed = Effect.forEach(orders, succeeded, { concurrency: 10 })
      const [answers] = yield* Effect.all([confirmed, endOverdue, endOverdue], { concurrency: 3 })
      assert.isTrue(answers.every(({ status }) => status === 200))
      for (const order of orders) {
        const settled = yield* until(
          "the money to be where it belongs",
          order,
          (one) => one.at("data.status") === "confirmed" || one.at("data.refundedTotal") === 2_000
        )
        const isKept = settled && settled.at("data.status") === "confirmed"
        assert.deepStrictEqual(
          settled && money(settled),
          isKept ? ["confirmed", 2_000, 0] : ["cancelled", 2_000, 2_000]
        )
        assert.strictEqual(yield* stockAfter(order), isKept ? 2 : 0)
        assert.strictEqual(cancels(order) > 0, !isKept)
      }
    }))

  it.effect("that is confirmed after its end gets its money back, once, and stays cancelled", () =>
    Effect.gen(function*() {
      const order = yield* anUnconfirmedOrder()
      yield* timeIsOver(order)
      yield* endOverdue
      // A void that is under way gives the money back by itself: wait until it is recorded.
      const voids = onDatabase((sql) =>
        sql`select 1 from refunds where order_id = ${order.id}::uuid and status = 'completed'`
      )
      yield* eventually("the void", Effect.map(voids, ({ length }) => length === 1))
      assert.strictEqual((yield* succeeded(order)).status, 200)
      const refunded = yield* until("the refund", order, (one) => one.at("data.refundedTotal") === 2_000)
      assert.deepStrictEqual(refunded && money(refunded), ["cancelled", 2_000, 2_000])
      assert.strictEqual(cancels(order), 2)
      assert.strictEqual((yield* succeeded(order)).status, 200)
      const refunds = yield* onDatabase((sql) =>
        sql`select reason, status from refunds where order_id = ${order.id}::uuid order by created_at`
      )
      assert.deepStrictEqual(refunds, [
        { reason: "payment_not_confirmed", status: "completed" },
        { reason: "paid_after_cancellation", status: "completed" }
      ])
    }))

  it.effect("that a hook keeps does not hold up another one, and is tried again later", () =>
    Effect.gen(function*() {
      const [stuck, other] = [yield* anUnconfirmedOrder(), yield* anUnconfirmedOrder()]
      const statusOf = (order: Unconfirmed) => Effect.map(read(order), (answer) => answer.at("data.status"))
      kept.add(stuck.id)
      yield* Effect.forEach([stuck, other], timeIsOver)
      yield* endOverdue
      assert.deepStrictEqual([yield* statusOf(stuck), yield* statusOf(other)], ["pending", "cancelled"])
      assert.strictEqual(yield* endOverdue, 0)
      kept.delete(stuck.id)
      yield* timeIsOver(stuck)
      yield* endOverdue
      assert.strictEqual(yield* statusOf(stuck), "cancelled")
    }))
})
