import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Sharding } from "effect/cluster"
import { randomUUID } from "node:crypto"
import { aKey } from "../access/People.ts"
import { aCustomerCart, elsewhere, expire, openElsewhere, refused } from "../checkout/CheckoutFixtures.ts"
import { aCartWith, addTo, aGuestCart, aProduct, checkOut, putInto } from "../support/Purchase.ts"
import { api, asAdmin, asAnonymous, asCustomer, asStaff, theOrganization, withSharedApp } from "../support/TestApp.ts"

const week = 7 * 24 * 60 * 60 * 1_000
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const create = (body: unknown, as?: typeof asAdmin) => api("POST", "/api/carts", { body, ...(as && { as }) })
const read = (id: string, as?: typeof asAdmin) => api("GET", `/api/carts/${id}`, as && { as })

/** Staff of a store that may also look into carts. */
const support = { ...asStaff, permissions: [...(asStaff.permissions ?? []), "cart:read"] }

withSharedApp("carts over HTTP", (it) => {
  describe("create", () => {
    it.effect("answers 201 with the whole record, its secret and seven days to live", () =>
      Effect.gen(function*() {
        const made = yield* create({ currency: "USD", email: "guest@example.com", unknown: true })
        assert.strictEqual(made.status, 201)
        for (const field of ["createdAt", "updatedAt", "expiresAt"]) assert.match(made.text(`data.${field}`), isoTime)
        assert.strictEqual(Date.parse(made.text("data.expiresAt")) - Date.parse(made.text("data.createdAt")), week)
        assert.isAtLeast(made.text("data.secret").length, 20)
        assert.deepStrictEqual(made.body, {
          data: {
            id: made.text("data.id"),
            organizationId: yield* theOrganization,
            customerId: null,
            status: "active",
            currency: "USD",
            email: "guest@example.com",
            metadata: {},
            expiresAt: made.text("data.expiresAt"),
            createdAt: made.text("data.createdAt"),
            updatedAt: made.text("data.updatedAt"),
            secret: made.text("data.secret")
          }
        })
      }))

    for (const currency of [undefined, null, "", "US", "USDD", "U$D", 840]) {
      it.effect(`refuses the currency ${JSON.stringify(currency)}`, () =>
        Effect.gen(function*() {
          const answer = yield* create({ currency })
          refused(answer, 422, "VALIDATION_FAILED")
          assert.strictEqual(answer.at("error.details.issues.0.path"), "currency")
        }))
    }

    it.effect("needs cart:create of somebody signed in", () =>
      Effect.gen(function*() {
        refused(yield* create({ currency: "USD" }, asAnonymous), 403, "FORBIDDEN")
      }))

    it.effect("gives a shopper a profile on first use, and the same one afterwards", () =>
      Effect.gen(function*() {
        const first = yield* aCustomerCart(asCustomer("shopper-1"))
        const second = yield* aCustomerCart(asCustomer("shopper-1"))
        const other = yield* aCustomerCart(asCustomer("shopper-2"))
        assert.strictEqual(first.customerId, second.customerId)
        assert.notStrictEqual(first.customerId, other.customerId)
      }))

    it.effect("ignores a customer named by a guest or a shopper", () =>
      Effect.gen(function*() {
        const { customerId } = yield* aCustomerCart(asCustomer("named"))
        const guest = yield* create({ currency: "USD", customerId })
        assert.deepStrictEqual([guest.status, guest.at("data.customerId")], [201, null])
        const own = yield* aCustomerCart(asCustomer("naming"))
        const shopper = yield* create({ currency: "USD", customerId }, asCustomer("naming"))
        assert.deepStrictEqual([shopper.status, shopper.at("data.customerId")], [201, own.customerId])
      }))

    it.effect("lets staff name a customer of the store, and nobody else's", () =>
      Effect.gen(function*() {
        yield* openElsewhere
        const { customerId } = yield* aCustomerCart(asCustomer("served"))
        const made = yield* create({ currency: "USD", customerId }, asStaff)
        assert.deepStrictEqual([made.status, made.at("data.customerId")], [201, customerId])
        const abroad = yield* aCustomerCart({ ...asCustomer("abroad"), organizationId: "org_other" })
        refused(yield* create({ currency: "USD", customerId: abroad.customerId }, asStaff), 404, "NOT_FOUND")
        refused(yield* create({ currency: "USD", customerId: randomUUID() }, asStaff), 404, "NOT_FOUND")
        refused(yield* create({ currency: "USD", customerId: "somebody" }, asStaff), 422, "VALIDATION_FAILED")
      }))
  })

  describe("read", () => {
    it.effect("answers with the lines and without the secret or the claim", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ price: 1_250 })
        const cart = yield* aCartWith(entityId, 3)
        const found = yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
        assert.strictEqual(found.status, 200)
        assert.deepStrictEqual(found.body, {
          data: {
            id: cart.id,
            organizationId: yield* theOrganization,
            customerId: null,
            status: "active",
            currency: "USD",
            email: null,
            metadata: {},
            expiresAt: found.text("data.expiresAt"),
            createdAt: found.text("data.createdAt"),
            updatedAt: found.text("data.updatedAt"),
            lineItems: [{
              id: found.text("data.lineItems.0.id"),
              cartId: cart.id,
              entityId,
              variantId: null,
              quantity: 3,
              unitPriceSnapshot: 1_250,
              currency: "USD",
              notes: null,
              metadata: {},
              addedAt: found.text("data.lineItems.0.addedAt")
            }]
          }
        })
        assert.match(found.text("data.lineItems.0.addedAt"), isoTime)
      }))

    it.effect("of a new cart has an empty list of lines", () =>
      Effect.gen(function*() {
        const cart = yield* aGuestCart("EUR")
        const found = yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
        assert.deepStrictEqual([found.at("data.lineItems"), found.at("data.currency")], [[], "EUR"])
      }))

    it.effect("of a guest's cart is for its secret, for support and for administrators", () =>
      Effect.gen(function*() {
        const cart = yield* aGuestCart()
        assert.strictEqual((yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })).status, 200)
        assert.strictEqual((yield* read(cart.id, support)).status, 200)
        assert.strictEqual((yield* read(cart.id, asAdmin)).status, 200)
        const { headers } = yield* aKey({ role: "admin" })
        const byKey = yield* api("GET", `/api/carts/${cart.id}`, { headers })
        assert.strictEqual(byKey.status, 200)
      }))

    it.effect("of a customer's cart is for its owner and for administrators", () =>
      Effect.gen(function*() {
        const cart = yield* aCustomerCart(asCustomer("owner"))
        const own = yield* read(cart.id, cart.as)
        assert.strictEqual(own.status, 200)
        assert.notProperty(own.at("data"), "secret")
        assert.strictEqual((yield* read(cart.id, asAdmin)).status, 200)
      }))

    it.effect("does not exist for everybody else", () =>
      Effect.gen(function*() {
        const cart = yield* aGuestCart()
        const owned = yield* aCustomerCart(asCustomer("owner"))
        const withSecret = (secret: string) =>
          api("GET", `/api/carts/${cart.id}`, { headers: { "x-cart-secret": secret } })
        const answers = {
          "without a secret": yield* read(cart.id),
          "with an empty secret": yield* withSecret(""),
          "with another cart's secret": yield* withSecret((yield* aGuestCart()).headers["x-cart-secret"]),
          "a shopper without the secret": yield* read(cart.id, asCustomer("curious")),
          "staff without cart:read": yield* read(cart.id, asStaff),
          "a guest at a customer's cart": yield* read(owned.id),
          "another shopper": yield* read(owned.id, asCustomer("curious")),
          "support at a customer's cart": yield* read(owned.id, support)
        }
        for (const [who, answer] of Object.entries(answers)) refused(answer, 404, "NOT_FOUND", who)
      }))

    it.effect("of no cart, of another organization's and of no UUID fails", () =>
      Effect.gen(function*() {
        yield* openElsewhere
        const cart = yield* aGuestCart()
        refused(yield* read(randomUUID(), asAdmin), 404, "NOT_FOUND")
        refused(yield* read(cart.id, elsewhere), 404, "NOT_FOUND")
        const withSecret = yield* api("GET", `/api/carts/${cart.id}`, { as: elsewhere, headers: cart.headers })
        refused(withSecret, 404, "NOT_FOUND")
        refused(yield* read("cart-1", asAdmin), 422, "VALIDATION_FAILED")
      }))

    it.effect("turns an expired cart into an abandoned one, which takes no items any more", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const cart = yield* aCartWith(entityId)
        yield* expire(cart.id)
        const found = yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
        assert.deepStrictEqual([found.status, found.at("data.status")], [200, "abandoned"])
        refused(yield* addTo(cart, entityId), 422, "VALIDATION_FAILED")
        const again = yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
        assert.strictEqual(again.at("data.status"), "abandoned")
      }))
  })

  describe("change quantity", () => {
    const patch = (path: string, body: unknown, headers: Readonly<Record<string, string>>) =>
      api("PATCH", `/api/carts/${path}`, { body, headers })

    it.effect("answers with the line as it is now", () =>
      Effect.gen(function*() {
        const cart = yield* aGuestCart()
        const line = yield* addTo(cart, yield* aProduct(), 2)
        const changed = yield* patch(`${cart.id}/items/${line.text("data.id")}`, { quantity: 9_999 }, cart.headers)
        assert.strictEqual(changed.status, 200)
        assert.deepStrictEqual(changed.at("data"), { ...Object(line.at("data")), quantity: 9_999 })
      }))

    for (const quantity of [undefined, null, 0, -1, 10_000, 1.5, "2", 9_007_199_254_740_992]) {
      it.effect(`refuses a quantity of ${JSON.stringify(quantity)}`, () =>
        Effect.gen(function*() {
          const cart = yield* aGuestCart()
          const line = yield* addTo(cart, yield* aProduct(), 2)
          refused(
            yield* patch(`${cart.id}/items/${line.text("data.id")}`, { quantity }, cart.headers),
            422,
            "VALIDATION_FAILED"
          )
          const found = yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
          assert.strictEqual(found.at("data.lineItems.0.quantity"), 2)
        }))
    }

    it.effect("and removal: unknown and foreign carts and lines, bad UUIDs, strangers", () =>
      Effect.gen(function*() {
        yield* openElsewhere
        const cart = yield* aGuestCart()
        const line = (yield* putInto(cart, yield* aProduct(), 2)).text("data.id")
        const other = yield* aGuestCart()
        const otherLine = (yield* putInto(other, yield* aProduct(), 2)).text("data.id")
        for (const method of ["PATCH", "DELETE"]) {
          const call = (path: string, extra: object) =>
            api(method, `/api/carts/${path}`, { ...(method === "PATCH" && { body: { quantity: 1 } }), ...extra })
          refused(yield* call(`${randomUUID()}/items/${line}`, { as: asAdmin }), 404, "NOT_FOUND", `${method} cart`)
          refused(yield* call(`${cart.id}/items/${randomUUID()}`, cart), 404, "NOT_FOUND", `${method} line`)
          refused(yield* call(`${cart.id}/items/${otherLine}`, cart), 404, "NOT_FOUND", `${method} other cart's line`)
          refused(yield* call(`${cart.id}/items/${line}`, { as: elsewhere }), 404, "NOT_FOUND", `${method} elsewhere`)
          refused(yield* call(`nothing/items/${line}`, cart), 422, "VALIDATION_FAILED", `${method} bad cart id`)
          refused(yield* call(`${cart.id}/items/nothing`, cart), 422, "VALIDATION_FAILED", `${method} bad line id`)
          refused(
            yield* call(`${cart.id}/items/${line}`, { ...cart, as: asAnonymous }),
            403,
            "FORBIDDEN",
            `${method} without cart:update`
          )
        }
        const found = yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
        assert.strictEqual(found.at("data.lineItems.0.quantity"), 2)
      }))

    it.effect("and removal wake no actor for whoever does not hold the cart, or names none", () =>
      Effect.gen(function*() {
        const { activeEntityCount } = yield* Sharding.Sharding
        const cart = yield* api("POST", "/api/carts", { as: asAdmin, body: { currency: "USD" } })
        const before = yield* activeEntityCount
        const ids = [cart.text("data.id"), ...Array.from({ length: 20 }, () => randomUUID())]
        yield* Effect.forEach(ids, (id) =>
          Effect.all([
            api("PATCH", `/api/carts/${id}/items/${randomUUID()}`, { body: { quantity: 1 } }),
            api("DELETE", `/api/carts/${id}/items/${randomUUID()}`)
          ]), { concurrency: 8 })
        // Actors that other tests woke may go meanwhile.
        assert.isAtMost(yield* activeEntityCount, before)
      }))

    it.effect("and removal find nothing for whoever does not hold the cart", () =>
      Effect.gen(function*() {
        const cart = yield* aGuestCart()
        const path = `/api/carts/${cart.id}/items/${(yield* putInto(cart, yield* aProduct(), 2)).text("data.id")}`
        const { headers } = yield* aGuestCart()
        const body = { quantity: 1 }
        refused(yield* api("PATCH", path, { body }), 404, "NOT_FOUND")
        refused(yield* api("PATCH", path, { body, headers }), 404, "NOT_FOUND")
        refused(yield* api("DELETE", path), 404, "NOT_FOUND")
        refused(yield* api("DELETE", path, { headers }), 404, "NOT_FOUND")
      }))
  })

  describe("remove", () => {
    it.effect("takes the line out once", () =>
      Effect.gen(function*() {
        const cart = yield* aGuestCart()
        const line = (yield* putInto(cart, yield* aProduct(), 2)).text("data.id")
        const kept = (yield* putInto(cart, yield* aProduct(), 1)).text("data.id")
        const remove = api("DELETE", `/api/carts/${cart.id}/items/${line}`, { headers: cart.headers })
        const removed = yield* remove
        assert.deepStrictEqual([removed.status, removed.body], [200, { data: { deleted: true } }])
        refused(yield* remove, 404, "NOT_FOUND")
        const found = yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
        assert.strictEqual(found.list("data.lineItems").length, 1)
        assert.strictEqual(found.at("data.lineItems.0.id"), kept)
      }))
  })

  describe("after checkout", () => {
    it.effect("a cart cannot be edited any more", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const cart = yield* aGuestCart()
        const line = (yield* putInto(cart, entityId, 2)).text("data.id")
        assert.strictEqual((yield* checkOut(cart)).status, 201)
        const path = `/api/carts/${cart.id}/items/${line}`
        const added = yield* addTo(cart, entityId)
        refused(added, 422, "VALIDATION_FAILED")
        assert.strictEqual(added.at("error.message"), "Cart is not active.")
        refused(
          yield* api("PATCH", path, { body: { quantity: 1 }, headers: cart.headers }),
          422,
          "VALIDATION_FAILED"
        )
        refused(yield* api("DELETE", path, { headers: cart.headers }), 422, "VALIDATION_FAILED")
        const found = yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
        assert.strictEqual(found.at("data.status"), "checked_out")
        assert.strictEqual(found.at("data.lineItems.0.quantity"), 2)
      }))
  })
})
