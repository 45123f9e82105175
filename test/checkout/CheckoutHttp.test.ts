import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { aCartWith, addTo, aGuestCart, aProduct, aWarehouse, checkOut, putInto } from "../support/Purchase.ts"
import { api, asAdmin, asAnonymous, asCustomer, theOrganization, withSharedApp } from "../support/TestApp.ts"
import {
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
  describe("answer", () => {
    it.effect("is 201 with the whole order, its lines, the client secret and nothing internal", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ price: 1_250, slug: "whole-order" })
        const cart = yield* aCartWith(entityId, 3)
        const made = yield* checkOut(cart, { shippingAddress: address, metadata: { channel: "web" }, unknown: 1 })
        assert.strictEqual(made.status, 201)
        assert.match(made.text("data.orderNumber"), /^ORD-\d{4}-\d{6}$/)
        assert.match(made.text("data.placedAt"), isoTime)
        assert.isString(made.at("data.paymentClientSecret"))
        assert.deepStrictEqual(made.at("data"), {
          id: made.text("data.id"),
          organizationId: yield* theOrganization,
          orderNumber: made.text("data.orderNumber"),
          customerId: null,
          status: "pending",
          currency: "USD",
          subtotal: 3_750,
          taxTotal: 0,
          taxIncluded: false,
          shippingTotal: 0,
          discountTotal: 0,
          grandTotal: 3_750,
          amountCaptured: 3_750,
          refundedTotal: 0,
          paymentIntentId: made.text("data.paymentIntentId"),
          paymentMethodId: "test",
          idempotencyKey: null,
          shippingAddress: address,
          metadata: {
            ...Object(made.at("data.metadata")),
            cartId: cart.id,
            paymentIntentId: made.text("data.paymentIntentId"),
            appliedPromotions: [],
            channel: "web"
          },
          placedAt: made.text("data.placedAt"),
          updatedAt: made.text("data.updatedAt"),
          fulfilledAt: null,
          cancelledAt: null,
          lineItems: [{
            id: made.text("data.lineItems.0.id"),
            orderId: made.text("data.id"),
            entityId,
            entityType: "product",
            variantId: null,
            sku: made.at("data.lineItems.0.sku"),
            title: "Title of whole-order",
            quantity: 3,
            unitPrice: 1_250,
            totalPrice: 3_750,
            isCustomPrice: false,
            taxAmount: 0,
            discountAmount: 0,
            refundedQuantity: 0,
            fulfillmentStatus: "unfulfilled",
            metadata: {}
          }],
          paymentClientSecret: made.text("data.paymentClientSecret")
        })
        assert.notProperty(Object(made.at("meta")), "hookErrors")
        assertAddsUp(made)
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 100, reserved: 3 })
      }))

    it.effect("numbers orders one after the other within a year", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const numbers = yield* Effect.forEach([1, 2, 3], () =>
          Effect.map(Effect.flatMap(aCartWith(entityId), checkOut), (made) => made.text("data.orderNumber")))
        assert.strictEqual(new Set(numbers).size, 3)
        assert.deepStrictEqual(numbers, [...numbers].sort())
        assert.isTrue(numbers.every((number) =>
          number.startsWith(`ORD-${new Date().getUTCFullYear()}-`)
        ))
      }))

    it.effect("carries the variant and its sku, and the price of now instead of the one of the cart", () =>
      Effect.gen(function*() {
        const shirt = yield* aProductInSizes()
        const cart = yield* aGuestCart()
        const body = { entityId: shirt.entityId, variantId: shirt.small, quantity: 2 }
        yield* api("POST", `/api/carts/${cart.id}/items`, { body, headers: cart.headers })
        yield* api("POST", "/api/pricing/prices", {
          as: asAdmin,
          body: { entityId: shirt.entityId, variantId: shirt.small, currency: "USD", amount: 1_300 }
        })
        const made = yield* checkOut(cart)
        assert.strictEqual(made.status, 201)
        assert.strictEqual(made.at("data.lineItems.0.variantId"), shirt.small)
        assert.strictEqual(made.at("data.lineItems.0.sku"), `${shirt.entityId}-S`)
        assert.deepStrictEqual([made.at("data.subtotal"), made.at("data.grandTotal")], [2_600, 2_600])
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

  describe("body", () => {
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
      it.effect(`with a bad ${path} is refused at that path`, () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct()
          const cart = yield* aCartWith(entityId)
          const answer = yield* checkOut(cart, body)
          refused(answer, 422, "VALIDATION_FAILED")
          assert.isTrue(answer.text("error.details.issues.0.path").startsWith(path), answer.text("error.message"))
          yield* assertNothingLeft(cart.id, entityId)
        }))
    }
  })

  describe("access", () => {
    it.effect("unknown and foreign carts are not found", () =>
      Effect.gen(function*() {
        yield* openElsewhere
        const cart = yield* aCartWith(yield* aProduct())
        refused(yield* checkOut(cart, { cartId: randomUUID() }), 404, "NOT_FOUND")
        const body = { cartId: cart.id, paymentMethodId: "test", currency: "USD" }
        refused(yield* api("POST", "/api/checkout", { as: elsewhere, body }), 404, "NOT_FOUND")
      }))

    it.effect("needs orders:create", () =>
      Effect.gen(function*() {
        const { headers, id } = yield* aCartWith(yield* aProduct())
        const body = { cartId: id, paymentMethodId: "test", currency: "USD" }
        refused(yield* api("POST", "/api/checkout", { as: asAnonymous, body, headers }), 403, "FORBIDDEN")
        const almost = holding("cart:create", "cart:read", "cart:update", "catalog:read")
        refused(yield* api("POST", "/api/checkout", { as: almost, body, headers }), 403, "FORBIDDEN")
      }))

    it.effect("somebody else's cart does not exist", () =>
      Effect.gen(function*() {
        const cart = yield* aCartWith(yield* aProduct())
        const body = { cartId: cart.id, paymentMethodId: "test", currency: "USD" }
        refused(yield* api("POST", "/api/checkout", { body }), 404, "NOT_FOUND")
        refused(yield* api("POST", "/api/checkout", { body, headers: { "x-cart-secret": "no" } }), 404, "NOT_FOUND")
        refused(yield* api("POST", "/api/checkout", { body, as: asCustomer("thief") }), 404, "NOT_FOUND")
      }))
  })

  describe("cart", () => {
    it.effect("an empty one is refused and stays usable", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const cart = yield* aGuestCart()
        checkoutFailed(yield* checkOut(cart), /empty/i)
        assert.strictEqual((yield* addTo(cart, entityId)).status, 201)
        assert.strictEqual((yield* checkOut(cart)).status, 201)
      }))

    it.effect("an expired one is refused", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const cart = yield* aCartWith(entityId)
        yield* expire(cart.id)
        checkoutFailed(yield* checkOut(cart))
        assert.deepStrictEqual(yield* ordersFrom(cart.id), [])
        assert.strictEqual((yield* stockOf(entityId)).reserved, 0)
      }))

    it.effect("a second checkout of one is refused and sells nothing", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const cart = yield* aCartWith(entityId, 2)
        assert.strictEqual((yield* checkOut(cart)).status, 201)
        checkoutFailed(yield* checkOut(cart), /not available/i)
        assert.strictEqual((yield* ordersFrom(cart.id)).length, 1)
        assert.strictEqual((yield* stockOf(entityId)).reserved, 2)
      }))

    it.effect("of five checkouts at once, one sells and the others are refused", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const cart = yield* aCartWith(entityId, 2)
        const answers = yield* Effect.all(Array.from({ length: 5 }, () => checkOut(cart)), { concurrency: "unbounded" })
        assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 422, 422, 422, 422])
        for (const answer of answers.filter(({ status }) => status !== 201)) checkoutFailed(answer)
        assert.strictEqual((yield* ordersFrom(cart.id)).length, 1)
        assert.strictEqual((yield* stockOf(entityId)).reserved, 2)
      }))

    it.effect("in another currency than the checkout's is refused", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const cart = yield* aCartWith(entityId)
        checkoutFailed(yield* checkOut(cart, { currency: "EUR" }), /currency/i)
        yield* assertNothingLeft(cart.id, entityId)
        assert.strictEqual((yield* checkOut(cart)).status, 201)
      }))

    it.effect("with an item that has no price any more is refused by the item's id", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const cart = yield* aCartWith(entityId)
        yield* onDatabase((sql) => sql`delete from prices where entity_id = ${entityId}::uuid`)
        checkoutFailed(yield* checkOut(cart), new RegExp(`Cannot resolve price for .*${entityId}`))
        yield* assertNothingLeft(cart.id, entityId)
        const amount = { entityId, currency: "USD", amount: 700 }
        yield* api("POST", "/api/pricing/prices", { as: asAdmin, body: amount })
        assert.strictEqual((yield* checkOut(cart)).number("data.grandTotal"), 700)
      }))
  })

  describe("stock", () => {
    it.effect("too little of it is refused in the contract's words, and the cart can be corrected", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ slug: "scarce", stock: 2 })
        const cart = yield* aGuestCart()
        const line = yield* addTo(cart, entityId, 3)
        const answer = yield* checkOut(cart)
        checkoutFailed(answer)
        assert.strictEqual(
          answer.at("error.message"),
          "Insufficient stock for Title of scarce. Available: 2, requested: 3."
        )
        yield* assertNothingLeft(cart.id, entityId)
        const path = `/api/carts/${cart.id}/items/${line.text("data.id")}`
        yield* api("PATCH", path, { body: { quantity: 2 }, headers: cart.headers })
        assert.strictEqual((yield* checkOut(cart)).status, 201)
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 2, reserved: 2 })
      }))

    it.effect("one short line releases what the other lines had", () =>
      Effect.gen(function*() {
        const [plenty, none] = [yield* aProduct(), yield* aProduct({ stock: 0 })]
        const cart = yield* aCartWith(plenty, 4)
        yield* putInto(cart, none, 1)
        checkoutFailed(yield* checkOut(cart), /^Insufficient stock for .* Available: 0, requested: 1\.$/)
        yield* assertNothingLeft(cart.id, plenty)
      }))

    it.effect("of one variant is not another's", () =>
      Effect.gen(function*() {
        const shirt = yield* aProductInSizes({ stock: 2 })
        const cart = yield* aGuestCart()
        const body = { entityId: shirt.entityId, variantId: shirt.medium, quantity: 3 }
        yield* api("POST", `/api/carts/${cart.id}/items`, { body, headers: cart.headers })
        checkoutFailed(yield* checkOut(cart), /Available: 2, requested: 3\./)
      }))

    it.effect("is taken from several warehouses where one has too little", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 1 })
        const warehouseId = yield* aWarehouse("SECOND")
        const body = { entityId, warehouseId, type: "restock", quantity: 5 }
        yield* api("POST", "/api/inventory/adjust", { as: asAdmin, body })
        assert.strictEqual((yield* checkOut(yield* aCartWith(entityId, 3))).status, 201)
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 6, reserved: 3 })
      }))

    it.effect("is sold to forty buyers at once, four times as many as the process has connections", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 40 })
        const carts = yield* Effect.forEach(Array.from({ length: 40 }), () => aCartWith(entityId), { concurrency: 8 })
        const answers = yield* Effect.all(carts.map((cart) => checkOut(cart)), { concurrency: "unbounded" })
        assert.deepStrictEqual(answers.map(({ status }) => status), answers.map(() => 201))
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 40, reserved: 40 })
      }))

    it.effect("of two units is sold to two of six buyers at once", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 2 })
        const carts = yield* Effect.forEach(Array.from({ length: 6 }), () => aCartWith(entityId))
        const answers = yield* Effect.all(carts.map((cart) => checkOut(cart)), { concurrency: "unbounded" })
        assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 201, 422, 422, 422, 422])
        for (const answer of answers.filter(({ status }) => status !== 201)) {
          checkoutFailed(answer, /Insufficient stock/)
        }
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 2, reserved: 2 })
      }))
  })
})
