import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Hook, HookRefusal } from "../../src/domain/hooks/Hook.ts"
import { aCartWith, aProduct, checkOut, putInto } from "../support/Purchase.ts"
import { api, asAdmin, at, testAppLayer } from "../support/TestApp.ts"
import { assertNothingLeft, checkoutFailed } from "./CheckoutFixtures.ts"
import { operationsFor, recorder } from "./PaymentRecorder.ts"

/** What the hooks were given, newest last. */
const seen: Array<{ readonly key: string; readonly data: object }> = []

const seenOf = (cartId: string, key: string) =>
  seen.filter((one) => one.key === key && (at(one.data, "cartId") ?? at(one.data, "metadata.cartId")) === cartId)

/** What a test asks of the hooks travels in the checkout's metadata. */
const wish = (data: object, name: string) => at(data, `metadata.${name}`)

/** What a before-hook writes into the metadata it hands on. */
const mark = (key: string) => `seenBy_${key.replace(".", "_")}`

const before = (key: string): Hook => ({
  key,
  before: ({ data }) =>
    Effect.suspend(() => {
      seen.push({ key, data })
      if (wish(data, "refuse") === key) return Effect.fail(new HookRefusal(`Refused by ${key}.`))
      if (wish(data, "throw") === key) return Effect.die(new Error(`Broken in ${key}.`))
      return Effect.succeed({ ...data, metadata: { ...Object(at(data, "metadata")), [mark(key)]: true } })
    })
})

const after = (key: string): Hook => ({
  key,
  after: ({ result }) =>
    Effect.suspend(() => {
      seen.push({ key, data: result })
      if (wish(result, "fail") === key) return Effect.fail(new HookRefusal(`Failed in ${key}.`))
      if (wish(result, "throw") === key) return Effect.die(new Error(`Broken in ${key}.`))
      return Effect.void
    })
})

const beforeKeys = ["checkout.beforePayment", "checkout.beforeCreate"]
const afterKeys = ["orders.afterCreate", "checkout.afterCreate"]
const statusChanged = "orders.afterStatusChange"
const hooks = [...beforeKeys.map(before), ...afterKeys.map(after), ...afterKeys.map(after), after(statusChanged)]

const withHooks = layer(testAppLayer({ hooks, payments: { adapters: [recorder] } }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})

withHooks("hooks of checkout", (it) => {
  describe("before", () => {
    it.effect("get the checkout as it is decided, and what they return goes on", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ price: 500, slug: "hooked" })
        const cart = yield* aCartWith(entityId, 2)
        const made = yield* checkOut(cart, { metadata: { channel: "web" }, paymentMethodToken: "tok_1" })
        assert.strictEqual(made.status, 201)
        const [decided] = seenOf(cart.id, "checkout.beforePayment")
        assert.include(decided?.data, {
          cartId: cart.id,
          currency: "USD",
          paymentMethodId: "test",
          paymentMethodToken: "tok_1",
          freeShipping: false,
          subtotal: 1_000,
          discountTotal: 0,
          taxTotal: 0,
          shippingTotal: 0,
          total: 1_000
        })
        assert.strictEqual(at(decided?.data, "orderId"), made.at("data.id"))
        assert.deepStrictEqual(at(decided?.data, "customerGroupIds"), [])
        const line = {
          entityId,
          entityType: "product",
          title: "Title of hooked",
          quantity: 2,
          resolvedUnitPrice: 500,
          resolvedTotal: 1_000,
          discountAmount: 0,
          taxAmount: 0
        }
        assert.include(at(decided?.data, "lineItems.0"), line)
        const [created] = seenOf(cart.id, "checkout.beforeCreate")
        assert.strictEqual(at(created?.data, `metadata.${mark("checkout.beforePayment")}`), true)
        assert.isString(at(created?.data, "paymentIntentId"))
        assert.isString(at(created?.data, "paymentClientSecret"))
        assert.include(made.at("data.metadata"), {
          channel: "web",
          [mark("checkout.beforePayment")]: true,
          [mark("checkout.beforeCreate")]: true
        })
      }))

    it.effect("see how the price of each line came about", () =>
      Effect.gen(function*() {
        const [half, plain] = [yield* aProduct({ price: 1_000 }), yield* aProduct({ price: 500 })]
        const modifier = { name: "Half price", type: "percentage_discount", value: 50 }
        const { at: ofModifier } = yield* api("POST", "/api/pricing/modifiers", {
          as: asAdmin,
          body: { ...modifier, entityId: half }
        })
        const cart = yield* aCartWith(half)
        yield* putInto(cart, plain)
        yield* checkOut(cart)
        const { name: label, ...of } = modifier
        for (const key of beforeKeys) {
          const data = seenOf(cart.id, key)[0]?.data
          const steps = (line: number) => at(data, `lineItems.${line}.priceBreakdown`)
          const base = (amountAfter: number, line: number) => ({
            label: "Base price",
            amountBefore: 0,
            delta: amountAfter,
            amountAfter,
            metadata: { priceId: at(data, `lineItems.${line}.basePriceId`) }
          })
          assert.deepStrictEqual(steps(0), [
            base(1_000, 0),
            {
              label,
              amountBefore: 1_000,
              delta: -500,
              amountAfter: 500,
              metadata: { modifierId: ofModifier("data.id"), ...of }
            }
          ], key)
          assert.deepStrictEqual(steps(1), [base(500, 1)], key)
          assert.isString(at(data, "lineItems.1.basePriceId"))
        }
      }))

    for (const key of beforeKeys) {
      it.effect(`a refusal in ${key} is told and leaves nothing behind`, () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct()
          const cart = yield* aCartWith(entityId, 2)
          const token = `refused_${key}`
          const answer = yield* checkOut(cart, {
            paymentMethodId: "recorder",
            paymentMethodToken: token,
            metadata: { refuse: key }
          })
          checkoutFailed(answer, new RegExp(`Refused by ${key}\\.`))
          yield* assertNothingLeft(cart.id, entityId)
          const expected = key === "checkout.beforePayment" ? [] : ["authorize", "cancel"]
          assert.deepStrictEqual(operationsFor(token), expected)
          assert.deepStrictEqual(seenOf(cart.id, "checkout.afterCreate"), [])
          assert.strictEqual((yield* checkOut(cart)).status, 201)
        }))

      it.effect(`a defect in ${key} fails the checkout and leaves nothing behind`, () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct()
          const cart = yield* aCartWith(entityId)
          const answer = yield* checkOut(cart, { metadata: { throw: key } })
          checkoutFailed(answer, /^The checkout could not be completed/)
          assert.notInclude(JSON.stringify(answer.body), "Broken")
          yield* assertNothingLeft(cart.id, entityId)
          assert.strictEqual((yield* checkOut(cart)).status, 201)
        }))
    }
  })

  describe("after", () => {
    it.effect("get the order with its lines, once per checkout", () =>
      Effect.gen(function*() {
        const cart = yield* aCartWith(yield* aProduct(), 2)
        const made = yield* checkOut(cart)
        for (const key of afterKeys) {
          const calls = seenOf(cart.id, key)
          assert.strictEqual(calls.length, 2, key)
          assert.include(calls[0]?.data, { id: made.text("data.id"), orderNumber: made.text("data.orderNumber") })
          assert.strictEqual(at(calls[0]?.data, "lineItems.0.quantity"), 2)
        }
      }))

    it.effect("of the order are told of one whose money cannot be taken, and of its end", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const cart = yield* aCartWith(entityId)
        const from = seen.length
        checkoutFailed(yield* checkOut(cart, { paymentMethodId: "recorder", paymentMethodToken: "broke_hooks" }))
        const recorded = seen.slice(from).filter(({ key }) => afterKeys.includes(key) || key === statusChanged)
        assert.deepStrictEqual(recorded.map(({ data, key }) => [key, at(data, "status")]), [
          ["orders.afterCreate", "pending"],
          ["orders.afterCreate", "pending"],
          [statusChanged, "cancelled"]
        ])
      }))

    for (const key of afterKeys) {
      for (const way of ["fail", "throw"]) {
        it.effect(`a hook of ${key} that ${way}s is reported, the order stands and the others still run`, () =>
          Effect.gen(function*() {
            const cart = yield* aCartWith(yield* aProduct())
            const made = yield* checkOut(cart, { metadata: { [way]: key } })
            assert.deepStrictEqual([made.status, made.at("data.amountCaptured")], [201, 1_000])
            const errors = made.list("meta.hookErrors")
            assert.strictEqual(errors.length, 2)
            for (const error of errors) {
              assert.deepStrictEqual(Object.keys(Object(error)).sort(), ["hookName", "message"])
              assert.isString(at(error, "hookName"))
              // What a hook says on purpose is shown, the words of a mistake are for the log.
              assert.strictEqual(at(error, "message"), way === "fail" ? `Failed in ${key}.` : "The hook failed.")
            }
            assert.strictEqual(seenOf(cart.id, key).length, 2)
            const found = yield* api("GET", `/api/orders/${made.text("data.id")}`, { headers: cart.headers })
            assert.strictEqual(found.status, 200)
          }))
      }
    }
  })
})
