import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Hook, HookRefusal } from "../../src/domain/platform/hooks/Hook.ts"
import { aCartWith, aProduct, checkOut, putInto } from "../support/Purchase.ts"
import { api, asAdmin, at, live, testAppLayer } from "../support/TestApp.ts"
import { aFilledCart, assertNothingLeft, checkoutFailed } from "./CheckoutFixtures.ts"
import { scriptedProvider } from "./ScriptedProvider.ts"

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

const provider = scriptedProvider()

layer(testAppLayer({ hooks, payments: { adapters: [provider.adapter] } }), live)("hooks of checkout", (it) => {
  describe("before", () => {
    it.effect("get the priced checkout, and pass on what they return", () =>
      Effect.gen(function*() {
        const { entityId, ...cart } = yield* aFilledCart(2, { price: 500, slug: "hooked" })
        const made = yield* checkOut(cart, { metadata: { channel: "web" }, paymentMethodToken: "tok_1" })
        const data = seenOf(cart.id, "checkout.beforePayment")[0]?.data
        assert.deepInclude(data, {
          cartId: cart.id,
          orderId: made.at("data.id"),
          customerGroupIds: [],
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
        const price = { resolvedUnitPrice: 500, resolvedTotal: 1_000, discountAmount: 0, taxAmount: 0 }
        const line = { entityId, entityType: "product", title: "Title of hooked", quantity: 2, ...price }
        assert.include(at(data, "lineItems.0"), line)
        const [created] = seenOf(cart.id, "checkout.beforeCreate")
        assert.isString(at(created?.data, "paymentIntentId"))
        assert.isString(at(created?.data, "paymentClientSecret"))
        assert.strictEqual(at(created?.data, `metadata.${mark("checkout.beforePayment")}`), true)
        const marks = Object.fromEntries(beforeKeys.map((key) => [mark(key), true]))
        assert.include(made.at("data.metadata"), { channel: "web", ...marks })
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
      it.effect(`fail the checkout when ${key} refuses it or breaks, and leave nothing behind`, () =>
        Effect.gen(function*() {
          const { entityId, ...cart } = yield* aFilledCart(2)
          const token = `refused_${key}`
          const pays = { paymentMethodId: "scripted", paymentMethodToken: token }
          checkoutFailed(
            yield* checkOut(cart, { ...pays, metadata: { refuse: key } }),
            new RegExp(`Refused by ${key}\\.`)
          )
          yield* assertNothingLeft(cart.id, entityId)
          const expected = key === "checkout.beforePayment" ? [] : ["authorize", "cancel"]
          assert.deepStrictEqual(provider.operationsFor(token), expected)
          const broken = yield* checkOut(cart, { metadata: { throw: key } })
          checkoutFailed(broken, /^The checkout could not be completed/)
          assert.notInclude(JSON.stringify(broken.body), "Broken")
          yield* assertNothingLeft(cart.id, entityId)
          assert.deepStrictEqual(seenOf(cart.id, "checkout.afterCreate"), [])
          assert.strictEqual((yield* checkOut(cart)).status, 201)
        }))
    }
  })

  describe("after", () => {
    it.effect("get the order with its lines, once per checkout", () =>
      Effect.gen(function*() {
        const cart = yield* aFilledCart(2)
        const made = yield* checkOut(cart)
        for (const key of afterKeys) {
          const calls = seenOf(cart.id, key)
          assert.strictEqual(calls.length, 2, key)
          assert.include(calls[0]?.data, { id: made.text("data.id"), orderNumber: made.text("data.orderNumber") })
          assert.strictEqual(at(calls[0]?.data, "lineItems.0.quantity"), 2)
        }
      }))

    it.effect("get an order whose payment cannot be captured, and its cancellation", () =>
      Effect.gen(function*() {
        const cart = yield* aFilledCart()
        const from = seen.length
        checkoutFailed(yield* checkOut(cart, { paymentMethodId: "scripted", paymentMethodToken: "broke_hooks" }))
        const recorded = seen.slice(from).filter(({ key }) => afterKeys.includes(key) || key === statusChanged)
        assert.deepStrictEqual(recorded.map(({ data, key }) => [key, at(data, "status")]), [
          ["orders.afterCreate", "pending"],
          ["orders.afterCreate", "pending"],
          [statusChanged, "cancelled"]
        ])
      }))

    it.effect("are reported when they fail or break, and change neither the order nor the other hooks", () =>
      Effect.gen(function*() {
        for (const [way, key] of ["fail", "throw"].flatMap((way) => afterKeys.map((key) => [way, key] as const))) {
          const cart = yield* aFilledCart()
          const made = yield* checkOut(cart, { metadata: { [way]: key } })
          assert.deepStrictEqual([made.status, made.at("data.amountCaptured")], [201, 1_000])
          const errors = made.list("meta.hookErrors")
          assert.strictEqual(errors.length, 2)
          for (const error of errors) {
            assert.deepStrictEqual(Object.keys(Object(error)).sort(), ["hookName", "message"])
            assert.isString(at(error, "hookName"))
            // The text of a refusal is for the client, that of a mistake for the log.
            assert.strictEqual(at(error, "message"), way === "fail" ? `Failed in ${key}.` : "The hook failed.")
          }
          assert.strictEqual(seenOf(cart.id, key).length, 2)
          const found = yield* api("GET", `/api/orders/${made.text("data.id")}`, { headers: cart.headers })
          assert.strictEqual(found.status, 200)
        }
      }))
  })
})
