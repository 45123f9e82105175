import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { aCartWith, addTo, aGuestCart, aProduct, checkOut, putInto } from "../support/Purchase.ts"
import { api, asAdmin, asAnonymous, asCustomer, theOrganization, withSharedApp } from "../support/TestApp.ts"
import {
  aFilledCart,
  aProductInSizes,
  assertAddsUp,
  assertNothingLeft,
  checkoutFailed,
  elsewhere,
  expire,
  holding,
  onDatabase,
  openElsewhere,
  ordersFrom,
  refused,
  stockOf
} from "./CheckoutFixtures.ts"

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const address = { line1: "1 Main St", line2: "Rear", city: "Austin", state: "TX", postalCode: "78701", country: "US" }

withSharedApp("checkout over HTTP", (it) => {
  describe("the answer", () => {
    it.effect("is 201 with the whole order, its lines, the client secret and nothing internal", () =>
      Effect.gen(function*() {
        const cart = yield* aFilledCart(3, { price: 1_250, slug: "whole-order" })
        const made = yield* checkOut(cart, { shippingAddress: address, metadata: { channel: "web" }, unknown: 1 })
        const { id, metadata, orderNumber, paymentClientSecret, paymentIntentId, placedAt, updatedAt } = Object(
          made.at("data")
        )
        assert.match(orderNumber, /^ORD-\d{4}-\d{6}$/)
        assert.match(placedAt, isoTime)
        assert.isString(paymentClientSecret)
        const totals = { subtotal: 3_750, taxTotal: 0, shippingTotal: 0, discountTotal: 0, grandTotal: 3_750 }
        const line = {
          id: made.text("data.lineItems.0.id"),
          orderId: id,
          entityId: cart.entityId,
          entityType: "product",
          variantId: null,
          sku: made.at("data.lineItems.0.sku"),
          title: "Title of whole-order",
          variantTitle: null,
          options: [],
          slug: "whole-order",
          image: null,
          quantity: 3,
          unitPrice: 1_250,
          listPrice: 1_250,
          totalPrice: 3_750,
          isCustomPrice: false,
          taxAmount: 0,
          taxes: [],
          discountAmount: 0,
          refundedQuantity: 0,
          fulfillmentStatus: "unfulfilled",
          metadata: {},
          notes: null,
          priceSteps: [],
          backordered: 0,
          fulfillable: 0,
          refundable: 3
        }
        assert.deepStrictEqual([made.status, made.at("data")], [201, {
          id,
          organizationId: yield* theOrganization,
          orderNumber,
          customerId: null,
          customer: null,
          email: null,
          billingAddress: null,
          status: "pending",
          currency: "USD",
          ...totals,
          taxIncluded: false,
          taxExemption: null,
          amountCaptured: 3_750,
          refundedTotal: 0,
          tenders: [
            { method: "test", label: "test", amount: 3_750, captured: 3_750, refunded: 0, status: "captured" }
          ],
          amountDue: 0,
          allowedTransitions: ["confirmed", "cancelled"],
          payment: { status: "paid", provider: "test", clientSecret: null, nextAction: null, expiresAt: null },
          paymentIntentId,
          paymentMethodId: "test",
          idempotencyKey: null,
          shippingAddress: address,
          metadata: { ...metadata, cartId: cart.id, paymentIntentId, appliedPromotions: [], channel: "web" },
          placedAt,
          updatedAt,
          fulfilledAt: null,
          cancelledAt: null,
          taxes: [],
          lineItems: [line],
          paymentClientSecret
        }])
        assert.notProperty(Object(made.at("meta")), "hookErrors")
        for (const secret of [cart.headers["x-cart-secret"], "checkoutClaimToken", "idempotencyScope"]) {
          assert.notInclude(JSON.stringify(made.body), secret)
        }
        assertAddsUp(made)
        assert.deepStrictEqual(yield* stockOf(cart.entityId), { onHand: 100, reserved: 3 })
      }))

    it.effect("numbers orders one after the other within a year", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const buy = Effect.flatMap(aCartWith(entityId), checkOut)
        const numbers = (yield* Effect.replicateEffect(buy, 3)).map((made) => made.text("data.orderNumber"))
        assert.strictEqual(new Set(numbers).size, 3)
        assert.deepStrictEqual(numbers, [...numbers].sort())
        assert.isTrue(numbers.every((number) => number.startsWith(`ORD-${new Date().getUTCFullYear()}-`)))
      }))

    it.effect("carries the variant and its sku, and the price of now instead of the one of the cart", () =>
      Effect.gen(function*() {
        const { entityId, small: variantId } = yield* aProductInSizes()
        const cart = yield* aGuestCart()
        const item = { entityId, variantId, quantity: 2 }
        yield* api("POST", `/api/carts/${cart.id}/items`, { body: item, headers: cart.headers })
        const price = { entityId, variantId, currency: "USD", amount: 1_300 }
        yield* api("POST", "/api/pricing/prices", { as: asAdmin, body: price })
        const made = yield* checkOut(cart)
        assert.include(made.at("data.lineItems.0"), { variantId, sku: `${entityId}-S` })
        assert.include(made.at("data"), { subtotal: 2_600, grandTotal: 2_600 })
      }))

    it.effect("adds up over many lines", () =>
      Effect.gen(function*() {
        const cart = yield* aGuestCart()
        for (const price of [1, 33, 999, 12_345, 70_000]) yield* putInto(cart, yield* aProduct({ price }), 3)
        const made = yield* checkOut(cart)
        assert.strictEqual(made.number("data.grandTotal"), 3 * (1 + 33 + 999 + 12_345 + 70_000))
        assert.strictEqual(made.list("data.lineItems").length, 5)
        assertAddsUp(made)
      }))
  })

  it.effect("refuses a bad body at its path and leaves nothing behind", () =>
    Effect.gen(function*() {
      const cart = yield* aFilledCart()
      const bodies: Readonly<Record<string, object>> = {
        cartId: { cartId: "cart-1" },
        paymentMethodId: { paymentMethodId: undefined },
        currency: { currency: undefined },
        promotionCodes: { promotionCodes: "ONE" },
        customerGroupIds: { customerGroupIds: [1] },
        "shippingAddress.line1": { shippingAddress: { ...address, line1: undefined } },
        "shippingAddress.city": { shippingAddress: { ...address, city: 5 } },
        "shippingAddress.postalCode": { shippingAddress: { ...address, postalCode: undefined } },
        "shippingAddress.country": { shippingAddress: { ...address, country: undefined } },
        idempotencyKey: { idempotencyKey: "short" }
      }
      for (const [path, body] of Object.entries(bodies)) {
        const answer = yield* checkOut(cart, body)
        refused(answer, 422, "VALIDATION_FAILED", path)
        assert.isTrue(answer.text("error.details.issues.0.path").startsWith(path), answer.text("error.message"))
      }
      refused(yield* checkOut(cart, { paymentMethodId: "" }), 422, "VALIDATION_FAILED")
      yield* assertNothingLeft(cart.id, cart.entityId)
    }))

  it.effect("needs orders:create, and finds no unknown cart, no other tenant's and none without its secret", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const cart = yield* aFilledCart()
      const { headers } = cart
      const almost = holding("cart:create", "cart:read", "cart:update", "catalog:read")
      const rows: ReadonlyArray<readonly [call: object, status: number, code: string]> = [
        [{ as: asAnonymous, headers }, 403, "FORBIDDEN"],
        [{ as: almost, headers }, 403, "FORBIDDEN"],
        [{ as: elsewhere }, 404, "NOT_FOUND"],
        [{}, 404, "NOT_FOUND"],
        [{ headers: { "x-cart-secret": "no" } }, 404, "NOT_FOUND"],
        [{ as: asCustomer("thief") }, 404, "NOT_FOUND"]
      ]
      const body = { cartId: cart.id, paymentMethodId: "test", currency: "USD" }
      for (const [call, status, code] of rows) {
        refused(yield* api("POST", "/api/checkout", { body, ...call }), status, code)
      }
      refused(yield* checkOut(cart, { cartId: randomUUID() }), 404, "NOT_FOUND")
    }))

  describe("the cart", () => {
    it.effect("that is empty is refused and stays usable", () =>
      Effect.gen(function*() {
        const cart = yield* aGuestCart()
        checkoutFailed(yield* checkOut(cart), /empty/i)
        assert.strictEqual((yield* addTo(cart, yield* aProduct())).status, 201)
        assert.strictEqual((yield* checkOut(cart)).status, 201)
      }))

    it.effect("that has expired is refused", () =>
      Effect.gen(function*() {
        const cart = yield* aFilledCart()
        yield* expire(cart.id)
        checkoutFailed(yield* checkOut(cart), /expired/)
        assert.deepStrictEqual(yield* ordersFrom(cart.id), [])
        assert.strictEqual((yield* stockOf(cart.entityId)).reserved, 0)
      }))

    it.effect("is sold once, to one of five checkouts at once, and not again", () =>
      Effect.gen(function*() {
        const cart = yield* aFilledCart(2)
        const answers = yield* Effect.replicateEffect(checkOut(cart), 5, { concurrency: "unbounded" })
        assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 422, 422, 422, 422])
        for (const answer of answers.filter(({ status }) => status !== 201)) checkoutFailed(answer)
        checkoutFailed(yield* checkOut(cart), /not available/i)
        assert.strictEqual((yield* ordersFrom(cart.id)).length, 1)
        assert.strictEqual((yield* stockOf(cart.entityId)).reserved, 2)
      }))

    it.effect("in another currency than the checkout's is refused", () =>
      Effect.gen(function*() {
        const cart = yield* aFilledCart()
        checkoutFailed(yield* checkOut(cart, { currency: "EUR" }), /currency/i)
        yield* assertNothingLeft(cart.id, cart.entityId)
        assert.strictEqual((yield* checkOut(cart)).status, 201)
      }))

    it.effect("with an item that has no price any more is refused by the item's id", () =>
      Effect.gen(function*() {
        const { entityId, ...cart } = yield* aFilledCart()
        yield* onDatabase((sql) => sql`delete from prices where entity_id = ${entityId}::uuid`)
        checkoutFailed(yield* checkOut(cart), new RegExp(`Cannot resolve price for .*${entityId}`))
        yield* assertNothingLeft(cart.id, entityId)
        yield* api("POST", "/api/pricing/prices", { as: asAdmin, body: { entityId, currency: "USD", amount: 700 } })
        assert.strictEqual((yield* checkOut(cart)).number("data.grandTotal"), 700)
      }))
  })

  describe("stock", () => {
    it.effect("that is too little is refused in the contract's words, and the cart can be corrected", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ slug: "scarce", stock: 2 })
        const cart = yield* aGuestCart()
        const line = yield* addTo(cart, entityId, 3)
        const short = yield* checkOut(cart)
        checkoutFailed(short, /^Insufficient stock for Title of scarce\. Available: 2, requested: 3\.$/)
        assert.deepStrictEqual(short.at("error.details"), {
          reason: "insufficient_stock",
          retryable: false,
          field: null,
          lines: [{ lineItemId: line.text("data.id"), entityId, variantId: null, available: 2 }],
          decline: null
        })
        yield* assertNothingLeft(cart.id, entityId)
        const path = `/api/carts/${cart.id}/items/${line.text("data.id")}`
        yield* api("PATCH", path, { body: { quantity: 2 }, headers: cart.headers })
        assert.strictEqual((yield* checkOut(cart)).status, 201)
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 2, reserved: 2 })
      }))

    it.effect("of one short line releases what the other lines had", () =>
      Effect.gen(function*() {
        const cart = yield* aFilledCart(4)
        yield* putInto(cart, yield* aProduct({ stock: 0 }), 1)
        checkoutFailed(yield* checkOut(cart), /^Insufficient stock for .* Available: 0, requested: 1\.$/)
        yield* assertNothingLeft(cart.id, cart.entityId)
      }))

    it.effect("of one variant is not another's", () =>
      Effect.gen(function*() {
        const { entityId, medium } = yield* aProductInSizes({ stock: 2 })
        const cart = yield* aGuestCart()
        const body = { entityId, variantId: medium, quantity: 3 }
        yield* api("POST", `/api/carts/${cart.id}/items`, { body, headers: cart.headers })
        checkoutFailed(yield* checkOut(cart), /Available: 2, requested: 3\./)
      }))

    it.effect("is sold to forty buyers at once, four times as many as the process has connections", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 40 })
        const carts = yield* Effect.replicateEffect(aCartWith(entityId), 40, { concurrency: 8 })
        const answers = yield* Effect.all(carts.map((cart) => checkOut(cart)), { concurrency: "unbounded" })
        assert.deepStrictEqual(answers.map(({ status }) => status), answers.map(() => 201))
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 40, reserved: 40 })
      }))
  })
})
