import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  ApiError,
  CollectedPaymentId,
  CurrencyCode,
  definePlugin,
  EntityId,
  group,
  Text,
  WarehouseId
} from "stoa/plugin"
import { giftCards } from "../../src/plugins/gift-cards/index.ts"
import { CollectedPayments } from "../../src/workflows/payments/CollectedPayments.ts"
import { elsewhere, holding, onDatabase, openElsewhere, refused, stockOf } from "../checkout/CheckoutFixtures.ts"
import { scriptedProvider, silence } from "../checkout/ScriptedProvider.ts"
import { eventually } from "../support/Eventually.ts"
import { aProduct, aWarehouse } from "../support/Purchase.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

const currency = CurrencyCode.make("USD")
const provider = scriptedProvider("scripted")

const Payment = Schema.Struct({ key: Text, sale: Text, method: Text, token: Text, amount: Schema.Int })
const Sale = Schema.Struct({
  sale: Text,
  entityId: EntityId,
  warehouseId: WarehouseId,
  method: Text,
  amount: Schema.Int,
  paymentId: Schema.optional(CollectedPaymentId),
  times: Schema.optional(Schema.Int)
})

const reference = (id: string) => ({ type: "sale", id })
const routes = group("Till", "/till")

/** A till that takes payments one by one, and sells one thing for one of them. */
const till = definePlugin({
  id: "till",
  version: "1.0.0",
  routes: () => [
    routes.post("/payments", { auth: true, input: Payment }).handle(({ input, services }) =>
      Effect.gen(function*() {
        const { sale, ...payment } = input
        const orderId = yield* services.orders.soldId(reference(sale))
        return yield* services.payments.collect({ ...payment, currency, orderId })
      }).pipe(
        Effect.catchTags({
          PaymentDeclined: ({ message }) =>
            Effect.fail(ApiError.of({ status: 422, code: "PAYMENT_DECLINED", message })),
          PaymentUnknown: ({ message }) => Effect.fail(ApiError.of({ status: 409, code: "PAYMENT_PENDING", message }))
        })
      )
    ),
    routes.post("/payments/give-back", { auth: true, input: Schema.Struct({ key: Text }) }).handle((
      { input, services }
    ) => services.payments.giveBack(input.key)),
    routes.post("/sales", { auth: true, input: Sale }).handle(({ input, services }) =>
      services.orders.createSold({
        reference: reference(input.sale),
        currency,
        warehouseId: input.warehouseId,
        lineItems: [{ entityId: input.entityId, quantity: 1 }],
        tenders: Array.from({ length: input.times ?? 1 }, () => ({
          method: input.method,
          amount: input.amount,
          paymentId: input.paymentId
        }))
      }, () => Effect.void)
    )
  ]
})

const shop = layer(
  testAppLayer({ plugins: [giftCards(), till], payments: { adapters: [provider.adapter] } }, { logLevel: "none" }),
  live
)

const collect = (sale: string, body: object, as: typeof asAdmin = asAdmin) =>
  api("POST", "/api/till/payments", {
    as,
    body: { key: `${sale}-1`, sale, amount: 1_000, method: "scripted", token: sale, ...body }
  })
const giveBack = (key: string, as: typeof asAdmin = asAdmin) =>
  api("POST", "/api/till/payments/give-back", { as, body: { key } })

const aCard = Effect.fnUntraced(function*(amount: number) {
  const made = yield* api("POST", "/api/gift-cards", { as: asAdmin, body: { amount, currency } })
  const path = `/api/gift-cards/${made.text("data.id")}`
  const balance = Effect.map(
    api("GET", path, { as: asAdmin }),
    (card) => [card.at("data.balance"), card.at("data.held")]
  )
  return { token: made.text("data.code"), method: "gift-card", balance }
})

/** Something for 10.00, and its sale for one payment. */
const aThing = Effect.gen(function*() {
  const [entityId, warehouseId] = [yield* aProduct({ price: 1_000, stock: 5 }), yield* aWarehouse()]
  const sell = (sale: string, body: object) =>
    api("POST", "/api/till/sales", { as: asAdmin, body: { sale, entityId, warehouseId, amount: 1_000, ...body } })
  return { entityId, sell }
})

const unclaimedFor = (hours: number) =>
  onDatabase((sql) => sql`update collected_payments set due_at = due_at - make_interval(hours => ${hours})`)
const returnDue = Effect.flatMap(CollectedPayments, (collected) => collected.returnDue(100))

shop("a payment that is collected before its order", (it) => {
  it.effect("by gift card takes what the card has, pays the order that claims it, and comes back with its refund", () =>
    Effect.gen(function*() {
      const { balance, ...card } = yield* aCard(1_000)
      const { entityId, sell } = yield* aThing
      const paid = yield* collect("card", { ...card, amount: 1_500 })
      assert.deepStrictEqual([paid.status, paid.at("data.amount")], [201, 1_000], JSON.stringify(paid.body))
      assert.match(paid.text("data.label"), /^Gift card ending in \w{4}$/)
      assert.deepStrictEqual(yield* balance, [0, 0])
      const order = yield* sell("card", { method: "gift-card", paymentId: paid.text("data.id") })
      assert.deepStrictEqual([order.status, order.at("data.tenders.0.label")], [201, paid.at("data.label")])
      assert.notInclude(JSON.stringify(order.body), card.token)
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 4, reserved: 0 })
      const refund = yield* api("POST", `/api/orders/${order.text("data.id")}/refund`, { as: asAdmin, body: {} })
      assert.strictEqual(
        refund.at("data.refundedTotal") ?? refund.at("data.amount"),
        1_000,
        JSON.stringify(refund.body)
      )
      yield* eventually("the money on the card", Effect.map(balance, ([left]) => left === 1_000 ? true : undefined))
    }))

  it.effect("pays an order once, also when a sale names it twice", () =>
    Effect.gen(function*() {
      const { balance, ...card } = yield* aCard(500)
      const { entityId, sell } = yield* aThing
      const paymentId = (yield* collect("twice", { ...card, amount: 500 })).text("data.id")
      const order = yield* sell("twice", { method: "gift-card", amount: 500, paymentId, times: 2 })
      refused(order, 409, "CONFLICT")
      assert.deepStrictEqual([yield* balance, (yield* stockOf(entityId)).onHand], [[0, 0], 5])
    }))

  it.effect("is collected once for its key, and by calls at once too", () =>
    Effect.gen(function*() {
      const { balance, ...card } = yield* aCard(3_000)
      const answers = yield* Effect.all(Array.from({ length: 4 }, () => collect("once", card)), { concurrency: 4 })
      answers.push(yield* collect("once", card))
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
      assert.strictEqual(new Set(answers.map((answer) => answer.at("data.id"))).size, 1)
      assert.deepStrictEqual(yield* balance, [2_000, 0])
      refused(yield* collect("once", { ...card, sale: "another" }), 409, "CONFLICT")
      refused(yield* collect("once", { ...card, amount: 999 }), 409, "CONFLICT")
    }))

  it.effect("is debited once when the process dies between asking and noting", () =>
    Effect.gen(function*() {
      const { balance, ...card } = yield* aCard(3_000)
      yield* onDatabase((sql) =>
        sql`create function stop() returns trigger language plpgsql as $$ begin raise 'x'; end $$`
      )
      yield* onDatabase((sql) =>
        sql`create trigger stop before update on collected_payments for each row execute function stop()`
      )
      refused(yield* collect("died", card), 500, "INTERNAL_ERROR")
      yield* onDatabase((sql) => sql`drop trigger stop on collected_payments`)
      assert.deepStrictEqual(yield* balance, [2_000, 0])
      const again = yield* collect("died", card)
      assert.strictEqual(again.status, 201, JSON.stringify(again.body))
      assert.deepStrictEqual(yield* balance, [2_000, 0])
    }))

  it.effect("takes nothing that its instrument declines, and says why again", () =>
    Effect.gen(function*() {
      for (const token of ["declined-1", "broke-1", "partly-1", "voided-1", "asks-1"]) {
        const first = yield* collect(token, {})
        refused(first, 422, "PAYMENT_DECLINED", token)
        const again = yield* collect(token, {})
        assert.strictEqual(again.at("error.message"), first.at("error.message"))
        const { captured = 0, refunded = 0 } = provider.paymentOf(token) ?? {}
        assert.strictEqual(captured, refunded, token)
      }
      refused(yield* collect("empty", { method: "gift-card", token: "AAAA-BBBB-CCCC-DDDD" }), 422, "PAYMENT_DECLINED")
      refused(yield* collect("none", { method: "shells" }), 422, "VALIDATION_FAILED")
      refused(yield* collect("zero", { amount: 0 }), 422, "VALIDATION_FAILED")
      refused(yield* collect("bare", {}, holding("orders:read")), 403, "FORBIDDEN")
    }))

  it.effect("is given back on request, once, and then pays nothing", () =>
    Effect.gen(function*() {
      const { balance, ...card } = yield* aCard(3_000)
      const { entityId, sell } = yield* aThing
      const paid = yield* collect("back", card)
      const answers = yield* Effect.all([giveBack("back-1"), giveBack("back-1")], { concurrency: 2 })
      assert.deepStrictEqual(answers.map((one) => one.at("data.isGivenBack")), [true, true])
      assert.deepStrictEqual(yield* balance, [3_000, 0])
      refused(yield* sell("back", { method: "gift-card", paymentId: paid.text("data.id") }), 409, "CONFLICT")
      refused(yield* collect("back", card), 409, "CONFLICT")
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 5, reserved: 0 })
      refused(yield* giveBack("unknown"), 404, "NOT_FOUND")
    }))

  it.effect("pays one order: that of its sale, and stays with it", () =>
    Effect.gen(function*() {
      const { balance, ...card } = yield* aCard(3_000)
      const { sell } = yield* aThing
      const payment = { method: "gift-card", paymentId: (yield* collect("mine", card)).text("data.id") }
      refused(yield* sell("yours", payment), 409, "CONFLICT")
      refused(yield* sell("mine", { ...payment, method: "scripted" }), 422, "VALIDATION_FAILED")
      refused(yield* sell("mine", { method: "gift-card" }), 422, "VALIDATION_FAILED")
      const orders = yield* Effect.all([sell("mine", payment), sell("mine", payment)], { concurrency: 2 })
      assert.deepStrictEqual(orders.map(({ status }) => status), [201, 201], JSON.stringify(orders[1]?.body))
      refused(yield* giveBack("mine-1"), 409, "CONFLICT")
      yield* unclaimedFor(49)
      yield* returnDue
      assert.deepStrictEqual(yield* balance, [2_000, 0])
    }))

  it.effect("goes back by itself when no order claims it for two days", () =>
    Effect.gen(function*() {
      const { balance, ...card } = yield* aCard(3_000)
      yield* collect("left", card)
      yield* unclaimedFor(47)
      yield* returnDue
      assert.deepStrictEqual(yield* balance, [2_000, 0])
      yield* unclaimedFor(1)
      yield* returnDue
      assert.deepStrictEqual(yield* balance, [3_000, 0])
    }))

  it.effect("of a silent provider is pending: the same key collects it later, and the job gives it back", () =>
    Effect.gen(function*() {
      const isMute = new Set(["mute", "dumb"])
      for (const token of isMute) {
        provider.obstruct(token, (operation) => operation === "capture" && isMute.has(token) ? silence : Effect.void)
        refused(yield* collect(token, {}), 409, "PAYMENT_PENDING")
      }
      isMute.clear()
      assert.strictEqual((yield* collect("mute", {})).status, 201)
      assert.include(provider.paymentOf("mute"), { captured: 1_000, refunded: 0 })
      yield* onDatabase((sql) => sql`update collected_payments set due_at = now() where key = 'dumb-1'`)
      yield* returnDue
      assert.include(provider.paymentOf("dumb"), { status: "canceled", captured: 0 })
      refused(yield* collect("dumb", {}), 409, "CONFLICT")
    }))

  it.effect("is of its organization", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      yield* collect("ours", {})
      refused(yield* giveBack("ours-1", elsewhere), 404, "NOT_FOUND")
    }))
})
