import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { assertAddsUp, assertNothingLeft, checkoutFailed, refused } from "../checkout/CheckoutFixtures.ts"
import { aCartWith, aGuestCart, aProduct, checkOut, type GuestCart, putInto } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"
import { aRate, aZone, noZones, offered, to } from "./Zones.ts"

const configured = 900

const withShop = layer(testAppLayer({ shipping: { type: "flat", flatRate: configured } }), live)

/** The store's zones are those of one test. */
const inZones = <A, E, R>(body: Effect.Effect<A, E, R>) => Effect.ensuring(body, Effect.orDie(noZones))

/** A product that weighs something. */
const aParcel = Effect.fnUntraced(function*(weightGrams: number, price = 1_000) {
  const entityId = yield* aProduct({ price })
  yield* api("PATCH", `/api/catalog/entities/${entityId}`, { as: asAdmin, body: { metadata: { weightGrams } } })
  return entityId
})

const shipTo = (cart: GuestCart, address: ReturnType<typeof to>, body: object = {}) =>
  checkOut(cart, { shippingAddress: address, ...body })

const quote = (cart: GuestCart, address: ReturnType<typeof to>, body: object = {}) =>
  api("POST", "/api/shipping/quotes", {
    headers: cart.headers,
    body: { cartId: cart.id, shippingAddress: address, ...body }
  })

/** A promotion over all shipping or half of an order, and its code. */
const aPromotion = Effect.fnUntraced(function*(type: "free_shipping" | "percentage_off_order", value: number) {
  const code = `CODE${newId().replaceAll("-", "")}`
  yield* api("POST", "/api/promotions", { as: asAdmin, body: { code, name: code, type, value } })
  return code
})

/** The shipping that an order was charged: its price, and its rate. */
const chargedOf = (order: Answer) =>
  ["shippingTotal", "metadata.shippingMethod", "metadata.shippingRateId"].map((field) => order.at(`data.${field}`))

/** What one unit of a product costs to ship there. */
const shippingOf = Effect.fnUntraced(function*(entityId: string, address: ReturnType<typeof to>, quantity = 1) {
  const placed = yield* shipTo(yield* aCartWith(entityId, quantity), address)
  assert.strictEqual(placed.status, 201, JSON.stringify(placed.body))
  assertAddsUp(placed)
  return placed.number("data.shippingTotal")
})

describe("shipping at the checkout", () => {
  withShop((it) => {
    it.effect("charges the configured shipping without zones or without an address", () =>
      inZones(Effect.gen(function*() {
        const entityId = yield* aProduct()
        assert.strictEqual(yield* shippingOf(entityId, to("US")), configured)
        yield* aRate(yield* aZone(["US"]), 300)
        const placed = yield* checkOut(yield* aCartWith(entityId))
        assert.deepStrictEqual(chargedOf(placed), [configured, undefined, undefined])
      })))

    it.effect("charges the cheapest fitting rate of the first zone that serves the address", () =>
      inZones(Effect.gen(function*() {
        const entityId = yield* aProduct()
        const [texas, states, world] = [
          yield* aZone(["US"], { states: ["TX"], priority: 1 }),
          yield* aZone(["us"], { priority: 2 }),
          yield* aZone(["*"], { priority: 3 })
        ]
        yield* aRate(texas, 400)
        yield* aRate(texas, 250)
        yield* aRate(texas, 1, { currency: "EUR" })
        yield* aRate(texas, 2, { isActive: false })
        yield* aRate(states, 200)
        yield* aRate(world, 100)
        yield* aRate(yield* aZone(["US"], { priority: 0, isActive: false }), 3)
        assert.strictEqual(yield* shippingOf(entityId, to("US", "tx")), 250)
        assert.strictEqual(yield* shippingOf(entityId, to(" us ", "NY")), 200)
        assert.strictEqual(yield* shippingOf(entityId, to("US")), 200)
        assert.strictEqual(yield* shippingOf(entityId, to("FR", "TX")), 100)
      })))

    it.effect("fits a rate by the price after discount and the weight, both ends included", () =>
      inZones(Effect.gen(function*() {
        const entityId = yield* aParcel(500)
        const zone = yield* aZone(["US"])
        yield* aRate(zone, 100, { maxSubtotal: 1_000 })
        yield* aRate(zone, 200, { minSubtotal: 1_500, maxWeightGrams: 1_000 })
        yield* aRate(zone, 300, { minWeightGrams: 1_001, freeShippingThreshold: 5_000 })
        assert.strictEqual(yield* shippingOf(entityId, to("US")), 100)
        assert.strictEqual(yield* shippingOf(entityId, to("US"), 2), 200)
        assert.strictEqual(yield* shippingOf(entityId, to("US"), 3), 300)
        assert.strictEqual(yield* shippingOf(entityId, to("US"), 5), 0)
        const half = [yield* aPromotion("percentage_off_order", 50)]
        const placed = yield* shipTo(yield* aCartWith(entityId, 2), to("US"), { promotionCodes: half })
        assert.strictEqual(placed.at("data.shippingTotal"), 100)
        // 1,250 fits none of them: too much for the first, too little for the second, too light for the third.
        const between = yield* aCartWith(yield* aParcel(1_000, 1_250))
        checkoutFailed(yield* shipTo(between, to("US")), /No shipping rate to US/)
      })))

    it.effect("refuses an address that no zone serves, and leaves nothing of the checkout", () =>
      inZones(Effect.gen(function*() {
        const entityId = yield* aProduct()
        yield* aRate(yield* aZone(["US"], { states: ["TX"] }), 300)
        const cart = yield* aCartWith(entityId)
        checkoutFailed(yield* shipTo(cart, to("FR")), /^Shipping to FR is not offered\.$/)
        checkoutFailed(yield* shipTo(cart, to("US", "NY")), /^Shipping to US, NY is not offered\.$/)
        const unserved = yield* quote(cart, to("FR"))
        refused(unserved, 422, "CHECKOUT_FAILED")
        assert.strictEqual(unserved.at("error.details.reason"), "shipping_unavailable")
        yield* assertNothingLeft(cart.id, entityId)
        assert.strictEqual((yield* shipTo(cart, to("US", "TX"))).status, 201)
      })))

    it.effect("keeps the chosen rate with the order, also when it changes later", () =>
      inZones(Effect.gen(function*() {
        const entityId = yield* aProduct()
        const zone = yield* aZone(["US"])
        const rateId = yield* aRate(zone, 300, { name: "Parcel" })
        const placed = yield* shipTo(yield* aCartWith(entityId), to("US"))
        yield* api("PATCH", `/api/shipping/rates/${rateId}`, { as: asAdmin, body: { name: "Other", amount: 1 } })
        const order = yield* api("GET", `/api/orders/${placed.text("data.id")}`, { as: asAdmin })
        assert.deepStrictEqual(chargedOf(order), [300, "Parcel", rateId])
      })))

    it.effect("ships free by a promotion, but only where a zone serves", () =>
      inZones(Effect.gen(function*() {
        const promotionCodes = [yield* aPromotion("free_shipping", 0)]
        const entityId = yield* aProduct()
        const rateId = yield* aRate(yield* aZone(["US"]), 300)
        const cart = yield* aCartWith(entityId)
        checkoutFailed(yield* shipTo(cart, to("FR"), { promotionCodes }))
        const offers = yield* quote(cart, to("US"), { promotionCodes })
        assert.deepStrictEqual(offers.at("data.rates"), [{
          id: rateId,
          name: "Rate of 300",
          amount: 0,
          estimate: null
        }])
        const placed = yield* shipTo(cart, to("US"), { promotionCodes })
        assert.deepStrictEqual([placed.status, placed.at("data.shippingTotal")], [201, 0])
      })))

    it.effect("does not ship digital goods, anywhere, at no price", () =>
      inZones(Effect.gen(function*() {
        const book = yield* aProduct({ type: "digitalDownload" })
        assert.strictEqual(yield* shippingOf(book, to("US")), 0)
        const rateId = yield* aRate(yield* aZone(["US"]), 300)
        assert.strictEqual(yield* shippingOf(book, to("US")), 0)
        assert.strictEqual(yield* shippingOf(book, to("FR")), 0)
        const cart = yield* aCartWith(book)
        assert.deepStrictEqual((yield* quote(cart, to("FR"))).at("data.rates"), [])
        checkoutFailed(yield* shipTo(cart, to("US"), { shippingRateId: rateId }), /is not offered for this order/)
        yield* putInto(cart, yield* aProduct())
        const mixed = yield* shipTo(cart, to("US"))
        assert.strictEqual(mixed.at("data.shippingTotal"), 300)
      })))

    it.effect("lets a shopper choose among the offered rates only", () =>
      inZones(Effect.gen(function*() {
        const entityId = yield* aProduct()
        const zone = yield* aZone(["US"])
        const express = yield* aRate(zone, 900, { name: "Express" })
        const parcel = yield* aRate(zone, 300, { name: "Parcel" })
        const heavy = yield* aRate(zone, 100, { minWeightGrams: 1 })
        const abroad = yield* aRate(yield* aZone(["FR"]), 200)
        const cart = yield* aCartWith(entityId)
        const offers = yield* quote(cart, to("US"))
        assert.deepStrictEqual([offers.status, offers.at("data")], [200, {
          currency: "USD",
          rates: [
            { id: parcel, name: "Parcel", amount: 300, estimate: null },
            { id: express, name: "Express", amount: 900, estimate: null }
          ]
        }])
        for (const shippingRateId of [heavy, abroad, newId(), "nonsense"]) {
          checkoutFailed(yield* shipTo(cart, to("US"), { shippingRateId }), /is not offered for this order/)
        }
        checkoutFailed(yield* checkOut(cart, { shippingRateId: parcel }), /is not offered for this order/)
        refused(yield* shipTo(cart, to("US"), { shippingRateId: "" }), 422, "VALIDATION_FAILED")
        yield* assertNothingLeft(cart.id, entityId)
        const placed = yield* shipTo(cart, to("US"), { shippingRateId: express })
        assert.deepStrictEqual(chargedOf(placed), [900, "Express", express])
        assertAddsUp(placed)
      })))

    it.effect("quotes shipping as it will be charged", () =>
      inZones(Effect.gen(function*() {
        const entityId = yield* aProduct()
        const cart = yield* aCartWith(entityId)
        const body = { cartId: cart.id, shippingAddress: to("US") }
        assert.deepStrictEqual((yield* quote(cart, to("US"))).at("data.rates"), [
          { id: null, name: null, amount: configured, estimate: null }
        ])
        yield* aRate(yield* aZone(["US"]), 300)
        assert.deepStrictEqual(offered(yield* quote(cart, to("US"))), [300])
        assert.strictEqual((yield* api("POST", "/api/shipping/quotes", { body, as: asAdmin })).status, 200)
        for (const wrong of [{ cartId: "x" }, { shippingAddress: null }, { shippingAddress: { country: "US" } }]) {
          refused(yield* quote(cart, to("US"), wrong), 422, "VALIDATION_FAILED")
        }
        checkoutFailed(yield* quote(yield* aGuestCart(), to("US")), /empty/)
        assert.strictEqual((yield* shipTo(cart, to("US"))).status, 201)
        refused(yield* quote(cart, to("US")), 422, "VALIDATION_FAILED")
      })))
  })
})

describe("a deployment that ships to everywhere", () => {
  const everywhere = { type: "flat", flatRate: configured, unserved: "configured" } as const

  layer(testAppLayer({ shipping: everywhere }), live)((it) => {
    it.effect("charges the configured price where no zone serves", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        yield* aRate(yield* aZone(["US"]), 300, { maxSubtotal: 1_000 })
        assert.strictEqual(yield* shippingOf(entityId, to("US")), 300)
        assert.strictEqual(yield* shippingOf(entityId, to("US"), 2), configured)
        assert.strictEqual(yield* shippingOf(entityId, to("FR")), configured)
      }))
  })
})
