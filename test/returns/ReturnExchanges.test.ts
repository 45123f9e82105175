import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { UnpaidOrderRepo } from "../../src/domain/orders/UnpaidOrderRepo.ts"
import { newId, nilId } from "../../src/domain/platform/ids/Id.ts"
import { RefundSettlement } from "../../src/workflows/payments/RefundSettlement.ts"
import { UnpaidOrders } from "../../src/workflows/payments/UnpaidOrders.ts"
import { onDatabase, refused, stockOf } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { aProduct } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, asStaff, at, withSharedApp } from "../support/TestApp.ts"
import { ask, expecting, received, type Sold, sold, step } from "./ReturnFixtures.ts"

const exchange = (order: Sold, id: string, entityId: string, quantity = 1, more: object = {}) =>
  step(order, id, "exchange", { lines: [{ entityId, quantity }], ...more })

const orderOf = (id: string) => api("GET", `/api/orders/${id}`, { as: asStaff })

const refundsOf = (id: string) => api("GET", `/api/orders/${id}/refunds`, { as: asStaff })

const amounts = (refunds: Answer) => refunds.list("data").map((one) => Number(at(one, "amount"))).toSorted()

/** An order whose one unit of 1000 came back and was exchanged for a unit that costs `price`. */
const exchanged = Effect.fnUntraced(function*(price: number, more: object = {}) {
  const order = yield* sold(1)
  const id = yield* received(order)
  const entityId = yield* aProduct({ price, stock: 5 })
  const answer = yield* expecting(200, exchange(order, id, entityId, 1, more))
  return { order, id, entityId, answer, replacement: answer.text("data.replacementOrderId") }
})

const pay = (id: string, as: typeof asAdmin, paymentMethodId = "test") =>
  api("POST", `/api/orders/${id}/payments`, { as, body: { paymentMethodId } })

/** What the orders have captured, less what was given back of them: the money that the store keeps. */
const kept = (...ids: ReadonlyArray<string>) =>
  Effect.map(
    onDatabase((sql) =>
      sql`select sum(coalesce(amount_captured, 0) - refunded_total)::int4 as kept from orders where id = any(${ids}::uuid[])`
    ),
    ([row]) => row?.["kept"]
  )

/** Waits until the provider of the first order has given this amount of the credit back. */
const givesBack = (amount: number, orderId: string) =>
  eventually(
    "the credit",
    Effect.map(
      onDatabase((sql) =>
        sql`select sum(amount)::int4 as given from refunds where order_id = ${orderId}::uuid
          and reason = 'exchange_given_back' and status = 'completed' and provider_reference is not null`
      ),
      ([row]) => row?.["given"] === amount
    )
  )

withSharedApp("the exchange of a return", (it) => {
  it.effect("makes a paid order of the same customer, once, however many ask at once", () =>
    Effect.gen(function*() {
      const order = yield* sold(3)
      const id = yield* received(order, 2)
      const entityId = yield* aProduct({ price: 2_000, stock: 5 })
      const answers = yield* Effect.all([1, 2, 3].map(() => exchange(order, id, entityId)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409])
      const shown = yield* api("GET", `/api/orders/${order.id}/returns/${id}`, { as: asStaff })
      const replacement = yield* orderOf(shown.text("data.replacementOrderId"))
      const before = yield* orderOf(order.id)
      assert.deepInclude(replacement.at("data"), {
        status: "confirmed",
        customerId: before.at("data.customerId"),
        currency: "USD",
        grandTotal: 2_000,
        amountCaptured: 2_000,
        amountDue: 0
      })
      const label = `Return ${order.orderNumber}-R1`
      assert.deepStrictEqual(replacement.at("data.tenders"), [
        { method: "exchange", label, amount: 2_000, captured: 2_000, refunded: 0, status: "captured" }
      ])
      const refunds = yield* refundsOf(order.id)
      assert.lengthOf(refunds.list("data"), 1)
      const givenOutside = { means: "Exchange", reference: replacement.at("data.orderNumber") }
      assert.deepInclude(refunds.at("data.0"), { kind: "return", amount: 2_000, status: "completed", givenOutside })
      assert.deepInclude(shown.at("data"), { status: "exchanged", refundId: refunds.at("data.0.id") })
      assert.deepInclude(before.at("data"), { refundedTotal: 2_000, status: "fulfilled" })
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 5, reserved: 1 })
      assert.strictEqual(yield* kept(order.id, replacement.text("data.id")), 3_000)
    }))

  it.effect("waits for the payment of what the new goods cost more", () =>
    Effect.gen(function*() {
      const { order, replacement } = yield* exchanged(1_500)
      const waiting = yield* orderOf(replacement)
      assert.deepInclude(waiting.at("data"), { status: "pending", amountCaptured: null, amountDue: 500 })
      assert.deepInclude(waiting.at("data.payment"), { status: "unpaid" })
      const tooMuch = yield* api("POST", `/api/orders/${replacement}/capture`, { as: asAdmin, body: {} })
      refused(tooMuch, 422, "VALIDATION_FAILED")
      refused(yield* pay(replacement, order.buyer, "test_decline"), 422, "CHECKOUT_FAILED")
      assert.deepInclude((yield* orderOf(replacement)).at("data.payment"), { status: "failed" })
      const asking = yield* expecting(200, pay(replacement, order.buyer, "test_requires_action"))
      assert.deepInclude(asking.at("data.payment"), { status: "requires_action" })
      assert.strictEqual(asking.at("data.amountDue"), 500)
      const paid = yield* expecting(200, pay(replacement, order.buyer))
      assert.deepInclude(paid.at("data"), { status: "confirmed", amountCaptured: 1_500, amountDue: 0 })
      assert.match(paid.text("data.paymentIntentId"), /^pi_test_ok_usd_500_/)
      assert.deepStrictEqual(
        paid.list("data.tenders").map((
          _,
          at
        ) => [paid.at(`data.tenders.${at}.method`), paid.at(`data.tenders.${at}.captured`)]),
        [["exchange", 1_000], ["test", 500]]
      )
      refused(yield* pay(replacement, order.buyer), 409, "CONFLICT")
      assert.strictEqual((yield* orderOf(order.id)).at("data.status"), "refunded")
      assert.strictEqual(yield* kept(order.id, replacement), 1_500)
    }))

  it.effect("gives back what the new goods cost less, also outside of the provider", () =>
    Effect.gen(function*() {
      const cheaper = yield* exchanged(600)
      const refunds = yield* refundsOf(cheaper.order.id)
      assert.deepStrictEqual(amounts(refunds), [400, 600])
      assert.deepStrictEqual(refunds.list("data").map((one) => at(one, "status")), [
        "completed",
        "completed"
      ])
      assert.deepInclude((yield* orderOf(cheaper.replacement)).at("data"), { status: "confirmed", amountCaptured: 600 })
      assert.strictEqual(yield* kept(cheaper.order.id, cheaper.replacement), 600)
      const givenOutside = { means: "Cash", reference: "Till 1" }
      const byHand = yield* exchanged(300, { givenOutside })
      const [rest] = (yield* refundsOf(byHand.order.id)).list("data").filter((one) =>
        JSON.stringify(one).includes("Till 1")
      )
      assert.deepInclude(rest, { amount: 700, status: "completed", givenOutside, providerReference: null })
    }))

  it.effect("changes nothing when the goods are out of stock, unknown or not paid back by the order", () =>
    Effect.gen(function*() {
      const order = yield* sold(1)
      const id = yield* received(order)
      const scarce = yield* aProduct({ price: 1_000, stock: 1 })
      refused(yield* exchange(order, id, scarce, 2), 422, "CHECKOUT_FAILED")
      refused(yield* exchange(order, id, newId()), 404, "NOT_FOUND")
      refused(yield* step(order, id, "exchange", { lines: [] }), 422, "VALIDATION_FAILED")
      const shown = yield* api("GET", `/api/orders/${order.id}/returns/${id}`, { as: asStaff })
      assert.deepInclude(shown.at("data"), { status: "received", refundId: null, replacementOrderId: null })
      assert.lengthOf((yield* refundsOf(order.id)).list("data"), 0)
      assert.deepStrictEqual(yield* stockOf(scarce), { onHand: 1, reserved: 0 })
      yield* onDatabase((sql) => sql`update orders set amount_captured = 999 where id = ${order.id}::uuid`)
      yield* onDatabase((sql) => sql`update orders set refunded_total = 500 where id = ${order.id}::uuid`)
      refused(yield* exchange(order, id, scarce), 422, "VALIDATION_FAILED")
      assert.deepStrictEqual(yield* stockOf(scarce), { onHand: 1, reserved: 0 })
    }))

  it.effect("takes goods that are not counted, and back-orders", () =>
    Effect.gen(function*() {
      const order = yield* sold(2, { price: 500 })
      const id = yield* received(order, 2)
      const service = yield* aProduct({ type: "service", price: 400 })
      const later = yield* aProduct({ price: 600, stock: 0 })
      yield* expecting(
        200,
        api("PATCH", `/api/catalog/entities/${later}`, { as: asAdmin, body: { allowBackorder: true } })
      )
      const lines = [{ entityId: service, quantity: 1 }, { entityId: later, variantId: null, quantity: 1 }]
      const answer = yield* expecting(200, step(order, id, "exchange", { lines }))
      const replacement = yield* orderOf(answer.text("data.replacementOrderId"))
      assert.deepInclude(replacement.at("data"), { status: "confirmed", amountCaptured: 1_000 })
      assert.deepStrictEqual(replacement.list("data.lineItems").map((one) => at(one, "backordered")).toSorted(), [0, 1])
    }))

  it.effect("gives the worth of the goods back when the new order is cancelled before its payment", () =>
    Effect.gen(function*() {
      const { entityId, order, replacement } = yield* exchanged(1_500)
      yield* expecting(200, pay(replacement, order.buyer, "test_requires_action"))
      refused(yield* pay(replacement, order.buyer, "test_decline"), 422, "CHECKOUT_FAILED")
      const left = yield* orderOf(replacement)
      assert.deepStrictEqual(left.list("data.tenders").map((one) => at(one, "method")), ["exchange"])
      yield* expecting(200, api("POST", `/api/orders/${replacement}/cancel`, { as: order.buyer }))
      yield* givesBack(1_000, order.id)
      assert.strictEqual(yield* kept(order.id, replacement), 0)
      assert.deepStrictEqual(amounts(yield* refundsOf(order.id)), [0, 1_000])
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 5, reserved: 0 })
    }))

  const expired = Effect.fnUntraced(function*(id: string, { cancelAll }: UnpaidOrders["Service"]) {
    yield* onDatabase((sql) => sql`update orders set placed_at = now() - interval '49 hours' where id = ${id}::uuid`)
    const found = yield* UnpaidOrderRepo.use(({ older }) => older(48, nilId, 100))
    return yield* cancelAll(found.filter(({ orderId }) => orderId === id), "not_paid")
  })
  const startDies = Effect.map(RefundSettlement, (real) => ({ ...real, start: () => Effect.die("killed") }))

  /** Ways of unpaid orders to end. */
  const expires = {
    "without a payment": (id: string) => Effect.flatMap(UnpaidOrders, (unpaid) => expired(id, unpaid)),
    "with a payment that waits for its shopper": Effect.fnUntraced(function*(id: string, buyer: typeof asAdmin) {
      yield* expecting(200, pay(id, buyer, "test_requires_action"))
      yield* onDatabase((sql) => sql`update orders set payment_due_at = now() where id = ${id}::uuid`)
      return yield* UnpaidOrders.use(({ cancelUnconfirmed }) => cancelUnconfirmed)
    }),
    "and its process dies": Effect.fnUntraced(function*(id: string) {
      yield* expired(id, yield* Effect.provideServiceEffect(UnpaidOrders.make, RefundSettlement, startDies))
      yield* onDatabase((sql) => sql`update refunds set next_attempt_at = now() where order_id = ${id}::uuid`)
      return yield* RefundSettlement.use(({ startDue }) => startDue)
    })
  }

  for (const [way, expire] of Object.entries(expires)) {
    it.effect(`gives the worth of the goods back once when the new order expires ${way}`, () =>
      Effect.gen(function*() {
        const { entityId, id, order, replacement } = yield* exchanged(1_500)
        const shelf = yield* stockOf(order.entityId)
        yield* expire(replacement, order.buyer)
        const status = Effect.map(orderOf(replacement), (found) => found.at("data.status"))
        yield* eventually("the end of the order", Effect.map(status, (found) => found === "cancelled"))
        yield* givesBack(1_000, order.id)
        refused(yield* pay(replacement, order.buyer), 409, "CONFLICT")
        assert.strictEqual(yield* kept(order.id, replacement), 0)
        assert.deepStrictEqual(amounts(yield* refundsOf(order.id)), [0, 1_000])
        assert.deepInclude((yield* orderOf(order.id)).at("data"), { refundedTotal: 1_000, status: "refunded" })
        assert.deepStrictEqual([yield* stockOf(entityId), yield* stockOf(order.entityId)], [
          { onHand: 5, reserved: 0 },
          shelf
        ])
        // The goods came back and are paid: neither they nor their worth can be asked for again.
        refused(yield* step(order, id, "refund"), 409, "CONFLICT")
        refused(yield* exchange(order, id, entityId), 409, "CONFLICT")
        refused(yield* ask(order), 422, "VALIDATION_FAILED")
      }))
  }

  it.effect("gives back through the first order what is refunded of the new one", () =>
    Effect.gen(function*() {
      const { order, replacement } = yield* exchanged(1_500)
      yield* expecting(200, pay(replacement, order.buyer))
      const half = yield* api("POST", `/api/orders/${replacement}/refund`, { as: asStaff, body: { amount: 800 } })
      assert.deepInclude((yield* expecting(201, Effect.succeed(half))).at("data"), { status: "completed" })
      assert.deepStrictEqual(amounts(yield* refundsOf(order.id)), [300, 700])
      yield* givesBack(300, order.id)
      assert.strictEqual(yield* kept(order.id, replacement), 700)
      yield* expecting(201, api("POST", `/api/orders/${replacement}/refund`, { as: asStaff, body: {} }))
      yield* givesBack(1_000, order.id)
      assert.strictEqual(yield* kept(order.id, replacement), 0)
    }))

  it.effect("is no payment method of a checkout", () =>
    Effect.gen(function*() {
      const { order, replacement } = yield* exchanged(1_500)
      refused(yield* pay(replacement, order.buyer, "exchange"), 422, "CHECKOUT_FAILED")
    }))
})
