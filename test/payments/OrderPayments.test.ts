import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { newId, OrderId } from "../../src/domain/platform/ids/Id.ts"
import { OrderPayments } from "../../src/workflows/checkout/OrderPayments.ts"
import { onDatabase, refused, stockOf } from "../checkout/CheckoutFixtures.ts"
import { silence } from "../checkout/ScriptedProvider.ts"
import { inOneMoment, write } from "../orders/OrderFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { orderInApp } from "../support/OrderBuilder.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, asCustomer, asStaff, live, testAppLayer } from "../support/TestApp.ts"
import {
  anOpenOrder,
  another,
  cancel,
  concealing,
  event,
  ledgerOf,
  nothing,
  pay,
  paySlowly,
  provider,
  read,
  store,
  taken,
  vouchers
} from "./OpenOrders.ts"

const payBy = (orderId: string, token: string, method?: string) =>
  api("POST", `/api/orders/${orderId}/payments`, { as: asStaff, body: another(token, method) })

/** The payments of an order that are being made, and what has to be given back still. */
const claimsOf = (orderId: string) =>
  onDatabase((sql) =>
    sql`select payment_claim_id as id from orders where id = ${orderId}::uuid and payment_claim_id is not null
      union all select id from refunds where order_id = ${orderId}::uuid and status <> 'completed'`
  )

layer(store, live)("the payment of an order", (it) => {
  it.effect("shows the holder how to confirm it, in the checkout and in every read, and no other reader", () =>
    Effect.gen(function*() {
      const order = yield* anOpenOrder
      const payment = Object(order.answer.at("data.payment"))
      const { id } = provider.paymentOf(order.token) ?? {}
      assert.deepInclude(payment, { status: "requires_action", provider: "scripted", clientSecret: `secret_${id}` })
      assert.deepStrictEqual(payment.nextAction, { type: "confirm", url: null })
      assert.isAbove(Date.parse(payment.expiresAt), Date.parse(order.answer.text("data.placedAt")))
      assert.deepStrictEqual((yield* read(order)).at("data.payment"), payment)
      const others = yield* api("GET", `/api/orders/${order.id}`, { as: asAdmin })
      assert.deepInclude(Object(others.at("data.payment")), {
        status: "requires_action",
        clientSecret: null,
        nextAction: null
      })
      const listed = JSON.stringify([
        yield* onDatabase((sql) => sql`select payload, before from outbox_events where entity_id = ${order.id}`),
        (yield* api("GET", "/api/orders", { as: asAdmin })).body
      ])
      assert.notInclude(listed, `secret_${id}`)
    }))

  it.effect("is replaced by another means, which takes the money; the earlier one is voided first", () =>
    Effect.gen(function*() {
      const order = yield* anOpenOrder
      const paid = yield* pay(order, `ok_${order.token}`)
      assert.strictEqual(paid.status, 200, JSON.stringify(paid.body))
      assert.deepInclude(Object(paid.at("data.payment")), { status: "paid", clientSecret: null, expiresAt: null })
      assert.deepStrictEqual(paid.at("data"), (yield* read(order)).at("data"))
      assert.strictEqual(paid.at("data.amountDue"), 0)
      assert.deepStrictEqual([ledgerOf(order.token), ledgerOf(`ok_${order.token}`)], [nothing, taken])
      refused(yield* pay(order, `ok2_${order.token}`), 409, "CONFLICT")
      refused(yield* cancel(order), 409, "CONFLICT")
      const late = yield* event(order.id, provider.paymentOf(order.token)?.id, "payment_failed")
      assert.strictEqual(late.status, 200)
      assert.strictEqual((yield* read(order)).at("data.payment.status"), "paid")
    }))

  it.effect("may be replaced by one that asks again, and that one's event captures it", () =>
    Effect.gen(function*() {
      const [order, token] = [yield* anOpenOrder, "asks_again"]
      const asked = yield* pay(order, token)
      const { id } = provider.paymentOf(token) ?? {}
      assert.deepInclude(Object(asked.at("data.payment")), {
        status: "requires_action",
        clientSecret: `secret_${id}`,
        expiresAt: order.answer.at("data.payment.expiresAt")
      })
      provider.confirm(token)
      assert.strictEqual((yield* event(order.id, id, "amount_capturable_updated")).status, 200)
      yield* eventually("the capture", Effect.map(read(order), (one) => one.at("data.payment.status") === "paid"))
      assert.deepStrictEqual([ledgerOf(order.token), ledgerOf(token)], [nothing, taken])
    }))

  it.effect("leaves the order to be paid when the new means is refused", () =>
    Effect.gen(function*() {
      const order = yield* anOpenOrder
      const answer = yield* pay(order, `declined_${order.token}`)
      refused(answer, 422, "CHECKOUT_FAILED")
      refused(yield* payBy(order.id, "void", "concealing"), 422, "CHECKOUT_FAILED")
      assert.deepInclude(Object((yield* read(order)).at("data.payment")), { status: "failed", provider: null })
      assert.strictEqual((yield* read(order)).at("data.amountDue"), 1_000)
      assert.strictEqual((yield* pay(order, `ok_${order.token}`)).at("data.payment.status"), "paid")
      assert.deepStrictEqual([ledgerOf(order.token), ledgerOf(`ok_${order.token}`)], [nothing, taken])
    }))

  it.effect("pays an order that staff wrote", () =>
    Effect.gen(function*() {
      const order = yield* write({ lineItems: [{ entityId: yield* aProduct(), quantity: 1 }] })
      const path = `/api/orders/${order.text("data.id")}/payments`
      const paid = yield* api("POST", path, { as: asStaff, body: another("staff_pays") })
      assert.strictEqual(paid.at("data.payment.status"), "paid")
      assert.deepStrictEqual(ledgerOf("staff_pays"), taken)
    }))

  it.effect("leaves an order that staff wrote without a deadline when a means is refused", () =>
    Effect.gen(function*() {
      const id = (yield* write({ lineItems: [{ entityId: yield* aProduct(), quantity: 1 }] })).text("data.id")
      refused(yield* payBy(id, "declined_staff"), 422, "CHECKOUT_FAILED")
      const order = yield* api("GET", `/api/orders/${id}`, { as: asAdmin })
      assert.deepInclude(Object(order.at("data.payment")), { status: "failed", expiresAt: null })
    }))

  it.effect("gives an adapter what it conceals an instrument by", () =>
    Effect.gen(function*() {
      const order = yield* anOpenOrder
      const body = another(`card_${order.token}`, "concealing")
      const paid = yield* api("POST", `/api/orders/${order.id}/payments`, { as: asStaff, body })
      assert.deepInclude(Object(paid.at("data")), { status: "confirmed", amountDue: 0 }, "its provider sends no events")
      assert.strictEqual(concealing.callsOf(`ok_concealed_card_${order.token}`, "authorize"), 1)
    }))

  it.effect("is not split, stored value, of a draft or of another system, and says so", () =>
    Effect.gen(function*() {
      const order = yield* anOpenOrder
      refused(yield* payBy(order.id, "voucher", "vouchers"), 422, "CHECKOUT_FAILED")
      assert.isUndefined(vouchers.paymentOf("voucher"))
      const cart = yield* aCartWith(yield* aProduct())
      const tenders = [{ method: "concealing", token: `part_${order.token}`, amount: 400 }]
      const split = yield* checkOut(cart, { ...another(`asks_rest_${order.token}`), tenders })
      const draft = yield* write({ draft: true, lineItems: [{ entityId: yield* aProduct(), quantity: 1 }] })
      const imported = yield* orderInApp({ captured: null, intentId: null })
      yield* onDatabase((sql) => sql`update orders set imported_at = now() where id = ${imported.id}::uuid`)
      const free = yield* orderInApp({ captured: null, intentId: null, lines: [{ unitPrice: 0 }] })
      const said = [
        [split.text("data.id"), "split into several payments"],
        [draft.text("data.id"), "is a draft"],
        [imported.id, "comes from another system"],
        [free.id, "paid already"]
      ] as const
      for (const [id, sentence] of said) {
        const answer = yield* payBy(id, "never_asked")
        refused(answer, 409, "CONFLICT")
        assert.include(answer.text("error.message"), sentence)
      }
      assert.isUndefined(provider.paymentOf("never_asked"))
      const cancelled = yield* cancel({ ...order, id: split.text("data.id"), cart })
      assert.strictEqual(cancelled.at("data.payment.status"), "cancelled")
      yield* eventually(
        "both voids",
        Effect.sync(() =>
          provider.paymentOf(`asks_rest_${order.token}`)?.status === "canceled" &&
          concealing.paymentOf(`ok_concealed_part_${order.token}`)?.status === "canceled"
        )
      )
    }))

  it.effect("that cannot be captured ends the order, and says so", () =>
    Effect.gen(function*() {
      const order = yield* anOpenOrder
      const answer = yield* pay(order, `broke_${order.token}`)
      refused(answer, 422, "CHECKOUT_FAILED")
      assert.include(answer.text("error.message"), "the order was cancelled")
      assert.strictEqual((yield* read(order)).at("data.status"), "cancelled")
      assert.deepStrictEqual(yield* stockOf(order.entityId), { onHand: 5, reserved: 0 })
      assert.deepStrictEqual(ledgerOf(`broke_${order.token}`), nothing)
    }))

  it.effect("goes back when the order is cancelled or confirmed meanwhile, and the answer tells which", () =>
    Effect.gen(function*() {
      for (const status of ["cancelled", "confirmed"]) {
        const order = yield* anOpenOrder
        const { finish } = yield* paySlowly(order, `ok_${order.token}`)
        const changed = status === "cancelled"
          ? yield* cancel(order)
          : yield* api("PATCH", `/api/orders/${order.id}/status`, { as: asAdmin, body: { status } })
        assert.strictEqual(changed.status, 200)
        const answer = yield* finish
        refused(answer, 409, "CONFLICT")
        assert.include(answer.text("error.message"), `The order is ${status}`)
        assert.deepStrictEqual([ledgerOf(order.token), ledgerOf(`ok_${order.token}`)], [nothing, nothing])
        const now = (yield* read(order)).at("data.payment.status")
        assert.strictEqual(now, status === "cancelled" ? "cancelled" : "failed")
        assert.deepStrictEqual(yield* claimsOf(order.id), [])
      }
    }))

  it.effect("that is refused after the order was cancelled leaves the voided payment with it", () =>
    Effect.gen(function*() {
      const order = yield* anOpenOrder
      const { finish } = yield* paySlowly(order, `declined_${order.token}`)
      assert.strictEqual((yield* cancel(order)).status, 200)
      refused(yield* finish, 422, "CHECKOUT_FAILED")
      const now = yield* read(order)
      assert.strictEqual(now.at("data.paymentIntentId"), provider.paymentOf(order.token)?.id)
      assert.strictEqual(now.at("data.tenders.0.status"), "voided")
      assert.deepStrictEqual(yield* claimsOf(order.id), [])
    }))

  it.effect("is one for one execution of a request, also when that comes again", () =>
    Effect.gen(function*() {
      const order = yield* anOpenOrder
      const actor = { ...systemActor("org_default"), executionId: newId() }
      const request = another(`declined_${order.token}`)
      const ask = OrderPayments.use((payments) => payments.pay(OrderId.make(order.id), request, Effect.void)).pipe(
        Effect.provideService(CurrentActor, actor),
        Effect.flip
      )
      for (const _ of [1, 2]) assert.strictEqual((yield* ask)._tag, "CheckoutFailed")
      assert.strictEqual(provider.callsOf(`declined_${order.token}`, "authorize"), 1)
    }))

  it.effect("is not asked for again by a repeat of the checkout whose answer was lost", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct())
      const key = { "idempotency-key": newId() }
      const first = another(`asks_${key["idempotency-key"]}`)
      const made = yield* checkOut(cart, first, key)
      const id = made.text("data.id")
      const paid = yield* api("POST", `/api/orders/${id}/payments`, {
        headers: cart.headers,
        body: another(`ok_${id}`)
      })
      assert.strictEqual(paid.at("data.payment.status"), "paid")
      yield* onDatabase((sql) =>
        sql`update idempotency_keys set status = 'running', locked_until = now() - interval '1 minute',
          encrypted_response = null where execution_id = ${id}::uuid`
      )
      const again = yield* checkOut(cart, first, key)
      assert.deepStrictEqual([again.status, again.at("data")], [201, paid.at("data")])
      assert.strictEqual(provider.callsOf(first.paymentMethodToken, "authorize"), 1)
    }))

  it.effect("is for the holder and for staff who change orders", () =>
    Effect.gen(function*() {
      const order = yield* anOpenOrder
      const readers = { ...asStaff, permissions: ["orders:read", "customers:read"] }
      for (const path of ["payments", "cancel"]) {
        const ask = (as: object) =>
          api("POST", `/api/orders/${order.id}/${path}`, { body: another("of_others"), ...as })
        refused(yield* ask({ as: asCustomer("another") }), 404, "NOT_FOUND")
        refused(yield* ask({ headers: { "x-cart-secret": "wrong" } }), 404, "NOT_FOUND")
        refused(yield* ask({ as: readers }), 403, "FORBIDDEN")
      }
      assert.isUndefined(provider.paymentOf("of_others"))
    }))

  it.effect("is not taken back by the holder once it is authorized", () =>
    Effect.gen(function*() {
      const order = yield* orderInApp({ captured: null, cartSecret: "authorized" })
      const headers = { "x-cart-secret": "authorized" }
      refused(yield* api("POST", `/api/orders/${order.id}/cancel`, { headers }), 409, "CONFLICT")
      assert.strictEqual((yield* api("GET", `/api/orders/${order.id}`, { headers })).at("data.status"), "pending")
    }))

  it.effect("is of what the order says: it cannot be edited from the claim on", () =>
    Effect.gen(function*() {
      const order = yield* write({ lineItems: [{ entityId: yield* aProduct(), quantity: 1 }] })
      const [id, line] = [order.text("data.id"), order.text("data.lineItems.0.id")]
      const edit = api("PATCH", `/api/orders/${id}/line-items/${line}`, { as: asStaff, body: { quantity: 2 } })
      const [atThatMoment] = yield* inOneMoment(
        (sql) => sql`update orders set payment_claim_id = gen_random_uuid() where id = ${id}::uuid`,
        [edit]
      )
      for (const answer of [atThatMoment, yield* edit]) {
        assert.strictEqual(answer?.status, 409)
        assert.include(answer?.text("error.message"), "The payment of the order has begun")
      }
      assert.strictEqual((yield* api("GET", `/api/orders/${id}`, { as: asStaff })).at("data.grandTotal"), 1_000)
    }))

  it.effect("is over when staff cancels, and the history does not blame the customer", () =>
    Effect.gen(function*() {
      const [mine, theirs] = [yield* anOpenOrder, yield* anOpenOrder]
      yield* cancel(mine)
      assert.strictEqual((yield* api("POST", `/api/orders/${theirs.id}/cancel`, { as: asStaff })).status, 200)
      const rows = yield* onDatabase((sql) =>
        sql`select order_id as id, reason from order_status_history where to_status = 'cancelled'`
      )
      const reasons = new Map(rows.map(({ id, reason }) => [id, reason]))
      assert.deepStrictEqual([reasons.get(mine.id), reasons.get(theirs.id)], ["cancelled_by_customer", null])
    }))

  it.effect("is over when the holder cancels: stock and cart come back, and the payment is void", () =>
    Effect.gen(function*() {
      const order = yield* anOpenOrder
      const answer = yield* cancel(order)
      assert.deepInclude(Object(answer.at("data")), { status: "cancelled", amountDue: 0 })
      assert.strictEqual(answer.at("data.payment.status"), "cancelled")
      assert.deepStrictEqual(yield* stockOf(order.entityId), { onHand: 5, reserved: 0 })
      yield* eventually("the void", Effect.sync(() => ledgerOf(order.token).status === "canceled"))
      const again = yield* checkOut(order.cart, another(`ok_${order.token}`))
      assert.strictEqual(again.status, 201, JSON.stringify(again.body))
      refused(yield* cancel(order), 409, "CONFLICT")
      refused(yield* pay(order, "after_the_end"), 409, "CONFLICT")
    }))

  it.effect("of several at once is one, and the ledger has its amount once", () =>
    Effect.gen(function*() {
      const order = yield* anOpenOrder
      const tokens = [1, 2, 3, 4].map((n) => `ok_${order.token}_${n}`)
      const answers = yield* Effect.forEach(tokens, (token) => pay(order, token), { concurrency: "unbounded" })
      assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409, 409])
      const sum = tokens.map((token) => ledgerOf(token)).reduce(
        (all, one) => all + (one.captured ?? 0) - (one.refunded ?? 0),
        0
      )
      assert.strictEqual(sum, 1_000)
    }))

  it.effect("by a silent provider is processing, and ends when it answers", () =>
    Effect.gen(function*() {
      const [order, token] = [yield* anOpenOrder, "ok_silent"]
      provider.obstruct(token, (operation, nth) => operation === "authorize" && nth === 1 ? silence : Effect.void)
      const first = yield* Effect.forkChild(pay(order, token))
      yield* eventually("the claim", Effect.map(read(order), (one) => one.at("data.payment.status") === "processing"))
      refused(yield* pay(order, "meanwhile"), 409, "CONFLICT")
      const late = yield* event(order.id, provider.paymentOf(order.token)?.id, "payment_failed")
      assert.strictEqual(late.status, 200)
      yield* eventually("the capture", Effect.map(read(order), (one) => one.at("data.payment.status") === "paid"))
      assert.deepStrictEqual([ledgerOf(order.token), ledgerOf(token)], [nothing, taken])
      assert.isDefined(first)
    }))
})

layer(testAppLayer(), live)("test_requires_action", (it) => {
  it.effect("waits for the event of the test provider, which confirms it", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct())
      const answer = yield* checkOut(cart, { paymentMethodId: "test_requires_action" })
      const order = { id: answer.text("data.id"), cart }
      assert.deepInclude(Object(answer.at("data.payment")), { status: "requires_action", provider: "test" })
      assert.isString(answer.at("data.payment.clientSecret"))
      const intentId = answer.text("data.paymentIntentId")
      assert.strictEqual((yield* event(order.id, intentId, "amount_capturable_updated", "test")).status, 200)
      yield* eventually(
        "the capture",
        Effect.map(
          api("GET", `/api/orders/${order.id}`, { headers: cart.headers }),
          (one) => one.at("data.payment.status") === "paid"
        )
      )
    }))
})
