import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Sharding } from "effect/cluster"
import { randomUUID } from "node:crypto"
import { aKey } from "../access/People.ts"
import { aCustomerCart, elsewhere, expire, openElsewhere, refused } from "../checkout/CheckoutFixtures.ts"
import { aCartWith, addTo, aGuestCart, aProduct, checkOut, putInto } from "../support/Purchase.ts"
import { api, asAdmin, asAnonymous, asCustomer, asStaff, theOrganization, withSharedApp } from "../support/TestApp.ts"

const nothingChosen = {
  shippingAddress: null,
  billingAddress: null,
  shippingRateId: null,
  promotionCodes: [],
  giftCards: [],
  note: null,
  locale: null
}

const week = 7 * 24 * 60 * 60 * 1_000
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const create = (body: unknown, as?: typeof asAdmin) => api("POST", "/api/carts", { body, ...(as && { as }) })
const read = (id: string, as?: typeof asAdmin) => api("GET", `/api/carts/${id}`, as && { as })

/** Staff of a store that may also look into carts. */
const support = { ...asStaff, permissions: [...(asStaff.permissions ?? []), "cart:read"] }

withSharedApp("carts over HTTP", (it) => {
  it.effect("creates a cart with its whole record, its secret and seven days to live", () =>
    Effect.gen(function*() {
      const made = yield* create({ currency: "USD", email: "guest@example.com", unknown: true })
      const { createdAt, expiresAt, id, secret, updatedAt } = Object(made.at("data"))
      for (const time of [createdAt, updatedAt, expiresAt]) assert.match(time, isoTime)
      assert.strictEqual(Date.parse(expiresAt) - Date.parse(createdAt), week)
      assert.isAtLeast(secret.length, 20)
      const cart = { customerId: null, status: "active", currency: "USD", email: "guest@example.com", metadata: {} }
      const times = { expiresAt, createdAt, updatedAt }
      const data = { id, organizationId: yield* theOrganization, ...cart, ...nothingChosen, ...times, secret }
      assert.deepStrictEqual([made.status, made.body], [201, { data }])
    }))

  it.effect("creates no cart without cart:create or with an unknown currency", () =>
    Effect.gen(function*() {
      for (const currency of [undefined, null, "", "US", "USDD", "U$D", 840]) {
        const answer = yield* create({ currency })
        refused(answer, 422, "VALIDATION_FAILED")
        assert.strictEqual(answer.at("error.details.issues.0.path"), "currency", `${currency}`)
      }
      refused(yield* create({ currency: "USD" }, asAnonymous), 403, "FORBIDDEN")
    }))

  it.effect("gives a shopper a profile on first use, and the same one afterwards", () =>
    Effect.gen(function*() {
      const [first, second] = [yield* aCustomerCart(asCustomer("first")), yield* aCustomerCart(asCustomer("first"))]
      assert.strictEqual(first.customerId, second.customerId)
      assert.notStrictEqual(first.customerId, (yield* aCustomerCart(asCustomer("second"))).customerId)
    }))

  it.effect("takes a customer named by staff, of this store only, and ignores one named by a shopper", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const { customerId } = yield* aCustomerCart(asCustomer("named"))
      const own = yield* aCustomerCart(asCustomer("naming"))
      const rows: ReadonlyArray<readonly [as: typeof asAdmin | undefined, owner: string | null]> = [
        [undefined, null],
        [asCustomer("naming"), own.customerId],
        [asStaff, customerId]
      ]
      for (const [as, owner] of rows) {
        const made = yield* create({ currency: "USD", customerId }, as)
        assert.deepStrictEqual([made.status, made.at("data.customerId")], [201, owner])
      }
      const abroad = yield* aCustomerCart({ ...asCustomer("abroad"), organizationId: "org_other" })
      refused(yield* create({ currency: "USD", customerId: abroad.customerId }, asStaff), 404, "NOT_FOUND")
      refused(yield* create({ currency: "USD", customerId: randomUUID() }, asStaff), 404, "NOT_FOUND")
      refused(yield* create({ currency: "USD", customerId: "somebody" }, asStaff), 422, "VALIDATION_FAILED")
    }))

  it.effect("shows a cart with its lines and without its secret or claim", () =>
    Effect.gen(function*() {
      const empty = yield* aGuestCart("EUR")
      const none = yield* api("GET", `/api/carts/${empty.id}`, { headers: empty.headers })
      assert.deepStrictEqual([none.at("data.lineItems"), none.at("data.currency")], [[], "EUR"])
      const entityId = yield* aProduct({ price: 1_250 })
      const cart = yield* aCartWith(entityId, 3)
      const found = yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
      const { createdAt, expiresAt, updatedAt } = Object(found.at("data"))
      const { addedAt, id } = Object(found.at("data.lineItems.0"))
      assert.match(addedAt, isoTime)
      const owner = { customerId: null, status: "active", currency: "USD", email: null, metadata: {} }
      const line = { cartId: cart.id, entityId, variantId: null, quantity: 3, unitPriceSnapshot: 1_250 }
      const { slug } = Object(found.at("data.lineItems.0"))
      const item = { title: `Title of ${slug}`, variantTitle: null, options: [], sku: null, slug, image: null }
      const stock = { available: 100, stockWarning: null }
      const price = { unitPrice: 1_250, priceChanged: false, listPrice: 1_250 }
      const lineItems = [
        { id, ...line, currency: "USD", notes: null, metadata: {}, addedAt, ...item, ...price, ...stock }
      ]
      const times = { expiresAt, createdAt, updatedAt }
      const data = {
        id: cart.id,
        organizationId: yield* theOrganization,
        ...owner,
        ...nothingChosen,
        ...times,
        lineItems
      }
      const totals = found.at("data.totals")
      assert.deepInclude(totals, {
        currency: "USD",
        subtotal: 3_750,
        grandTotal: 3_750,
        amountDue: 3_750,
        warnings: []
      })
      assert.deepStrictEqual([found.status, found.body], [200, { data: { ...data, totals } }])
    }))

  it.effect("shows a cart to its owner or secret, support and administrators, and to others as missing", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const cart = yield* aGuestCart()
      const owned = yield* aCustomerCart(asCustomer("owner"))
      const withHeaders = (headers: Readonly<Record<string, string>>, as?: typeof asAdmin) =>
        api("GET", `/api/carts/${cart.id}`, { headers, ...(as && { as }) })
      const withSecret = (secret: string) => withHeaders({ "x-cart-secret": secret })
      const shown = {
        "a guest with the secret": yield* withHeaders(cart.headers),
        "an API key": yield* withHeaders((yield* aKey({ role: "admin" })).headers),
        "support": yield* read(cart.id, support),
        "an administrator": yield* read(cart.id, asAdmin),
        "the owner": yield* read(owned.id, owned.as),
        "an administrator at a customer's cart": yield* read(owned.id, asAdmin)
      }
      for (const [who, { body, status }] of Object.entries(shown)) {
        assert.strictEqual(status, 200, who)
        assert.notInclude(JSON.stringify(body), "secret", who)
      }
      const hidden = {
        "without a secret": yield* read(cart.id),
        "with an empty secret": yield* withSecret(""),
        "with another cart's secret": yield* withSecret((yield* aGuestCart()).headers["x-cart-secret"]),
        "a shopper without the secret": yield* read(cart.id, asCustomer("curious")),
        "staff without cart:read": yield* read(cart.id, asStaff),
        "a guest at a customer's cart": yield* read(owned.id),
        "another shopper": yield* read(owned.id, asCustomer("curious")),
        "support at a customer's cart": yield* read(owned.id, support),
        "no cart": yield* read(randomUUID(), asAdmin),
        "another tenant": yield* read(cart.id, elsewhere),
        "another tenant with the secret": yield* withHeaders(cart.headers, elsewhere)
      }
      for (const [who, answer] of Object.entries(hidden)) refused(answer, 404, "NOT_FOUND", who)
      refused(yield* read("cart-1", asAdmin), 422, "VALIDATION_FAILED")
    }))

  it.effect("shows an expired cart as abandoned, and takes no more items for it", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aCartWith(entityId)
      yield* expire(cart.id)
      const abandoned = Effect.map(
        api("GET", `/api/carts/${cart.id}`, { headers: cart.headers }),
        (found) => assert.deepStrictEqual([found.status, found.at("data.status")], [200, "abandoned"])
      )
      yield* abandoned
      refused(yield* addTo(cart, entityId), 422, "VALIDATION_FAILED")
      yield* abandoned
    }))

  it.effect("changes a line's quantity, and takes a line out once", () =>
    Effect.gen(function*() {
      const cart = yield* aGuestCart()
      const { headers } = cart
      const line = yield* addTo(cart, yield* aProduct(), 2)
      const kept = (yield* putInto(cart, yield* aProduct(), 1)).text("data.id")
      const path = `/api/carts/${cart.id}/items/${line.text("data.id")}`
      const changed = yield* api("PATCH", path, { body: { quantity: 9_999 }, headers })
      assert.deepStrictEqual([changed.status, changed.at("data")], [200, {
        ...Object(line.at("data")),
        quantity: 9_999
      }])
      const remove = api("DELETE", path, { headers })
      const removed = yield* remove
      assert.deepStrictEqual([removed.status, removed.body], [200, { data: { deleted: true } }])
      refused(yield* remove, 404, "NOT_FOUND")
      const found = yield* api("GET", `/api/carts/${cart.id}`, { headers })
      assert.deepStrictEqual(found.list("data.lineItems").map((one) => Object(one).id), [kept])
    }))

  it.effect("finds no line of another cart, of another tenant or without the secret to change or remove", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const [cart, other] = [yield* aGuestCart(), yield* aGuestCart()]
      const line = (yield* putInto(cart, yield* aProduct(), 2)).text("data.id")
      const otherLine = (yield* putInto(other, yield* aProduct(), 2)).text("data.id")
      const mine = `${cart.id}/items/${line}`
      const rows: ReadonlyArray<readonly [path: string, call: object, status: number, code: string]> = [
        [`${randomUUID()}/items/${line}`, { as: asAdmin }, 404, "NOT_FOUND"],
        [`${cart.id}/items/${randomUUID()}`, cart, 404, "NOT_FOUND"],
        [`${cart.id}/items/${otherLine}`, cart, 404, "NOT_FOUND"],
        [mine, { as: elsewhere }, 404, "NOT_FOUND"],
        [mine, {}, 404, "NOT_FOUND"],
        [mine, { headers: other.headers }, 404, "NOT_FOUND"],
        [`nothing/items/${line}`, cart, 422, "VALIDATION_FAILED"],
        [`${cart.id}/items/nothing`, cart, 422, "VALIDATION_FAILED"],
        [mine, { ...cart, as: asAnonymous }, 403, "FORBIDDEN"]
      ]
      for (const [path, call, status, code] of rows) {
        const changed = yield* api("PATCH", `/api/carts/${path}`, { body: { quantity: 1 }, ...call })
        refused(changed, status, code, `PATCH ${path}`)
        refused(yield* api("DELETE", `/api/carts/${path}`, call), status, code, `DELETE ${path}`)
      }
      const found = yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
      assert.strictEqual(found.at("data.lineItems.0.quantity"), 2)
    }))

  it.effect("starts no actor for a visitor who may not change the cart, or for a line that does not exist", () =>
    Effect.gen(function*() {
      const { activeEntityCount } = yield* Sharding.Sharding
      const cart = yield* create({ currency: "USD" }, asAdmin)
      const before = yield* activeEntityCount
      const ids = [cart.text("data.id"), ...Array.from({ length: 20 }, () => randomUUID())]
      yield* Effect.forEach(ids, (id) =>
        Effect.all([
          api("PATCH", `/api/carts/${id}/items/${randomUUID()}`, { body: { quantity: 1 } }),
          api("DELETE", `/api/carts/${id}/items/${randomUUID()}`)
        ]), { concurrency: 8 })
      // Actors that other tests started may go meanwhile.
      assert.isAtMost(yield* activeEntityCount, before)
    }))

  it.effect("refuses to edit a cart after its checkout", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aGuestCart()
      const { headers } = cart
      const path = `/api/carts/${cart.id}/items/${(yield* putInto(cart, entityId, 2)).text("data.id")}`
      assert.strictEqual((yield* checkOut(cart)).status, 201)
      const edits = [
        yield* addTo(cart, entityId),
        yield* api("PATCH", path, { body: { quantity: 1 }, headers }),
        yield* api("DELETE", path, { headers })
      ]
      for (const answer of edits) {
        refused(answer, 422, "VALIDATION_FAILED")
        assert.strictEqual(answer.at("error.message"), "Cart is not active.")
      }
      const found = yield* api("GET", `/api/carts/${cart.id}`, { headers })
      assert.deepStrictEqual([found.at("data.status"), found.at("data.lineItems.0.quantity")], ["checked_out", 2])
    }))
})
