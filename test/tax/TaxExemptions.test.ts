import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import type { VatNumberService } from "../../src/domain/tax/VatNumber.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { profileIdOf } from "../customers/CustomerFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { aGuestCart, checkOut, type GuestCart, putInto } from "../support/Purchase.ts"
import { api, asAdmin, asCustomer, live, testAppLayer } from "../support/TestApp.ts"
import { aTaxClass, aTaxedProduct, buying, to, totalsOf, withoutRules } from "./TaxedShop.ts"

const school = { reason: "Public school", number: "EX-17" }

const exempt = (id: string, taxExemption: object | null, as: typeof asAdmin = asAdmin) =>
  api("PATCH", `/api/customers/${id}`, { as, body: { taxExemption } })

const exemptGroup = (id: string, taxExemption: object | null, as: typeof asAdmin = asAdmin) =>
  api("PATCH", `/api/customers/groups/${id}`, { as, body: { taxExemption } })

const aGroup = Effect.suspend(() =>
  Effect.map(
    api("POST", "/api/customers/groups", { as: asAdmin, body: { name: newId() } }),
    (made) => made.text("data.id")
  )
)

const join = (group: string, customer: string, as: typeof asAdmin = asAdmin) =>
  api("POST", `/api/customers/groups/${group}/members/${customer}`, { as })

/** A customer with a cart of one product at 1000. */
const aBuyer = Effect.fnUntraced(function*(name = newId()) {
  const as = asCustomer(name)
  const id = yield* profileIdOf(as)
  const made = yield* api("POST", "/api/carts", { as, body: { currency: "USD" } })
  const cart: GuestCart = {
    id: made.text("data.id"),
    headers: { "x-cart-secret": made.text("data.secret") }
  }
  yield* putInto(cart, yield* aTaxedProduct(1000))
  return { as, id, cart }
})

const vienna = { line1: "Ring 1", city: "Wien", postalCode: "1010", country: "AT" }

const standard = Effect.andThen(withoutRules, aTaxClass({ name: "standard", rateBps: 1900, isDefault: true }))

layer(testAppLayer({ store: { timeZone: "America/New_York" } }), live)("exempt customers", (it) => {
  it.effect("charges no tax in cart, quote and order of an exempt customer, and says why", () =>
    Effect.gen(function*() {
      yield* standard
      const { as, cart, id } = yield* aBuyer()
      const totals = () => api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
      assert.deepStrictEqual([
        (yield* totals()).at("data.totals.taxTotal"),
        (yield* totals()).at("data.totals.taxExemption")
      ], [
        190,
        null
      ])
      const changed = yield* exempt(id, school)
      const shown = { ...school, validUntil: null }
      assert.deepStrictEqual(changed.at("data.taxExemption"), shown)
      assert.deepStrictEqual((yield* api("GET", "/api/me/profile", { as })).at("data.taxExemption"), shown)
      const after = yield* totals()
      assert.deepStrictEqual([after.at("data.totals.taxTotal"), after.at("data.totals.grandTotal")], [0, 1000])
      assert.deepStrictEqual(after.at("data.totals.taxExemption"), shown)
      const tried = yield* api("POST", `/api/carts/${cart.id}/quote`, { headers: cart.headers, body: {} })
      assert.strictEqual(tried.at("data.totals.taxTotal"), 0)
      const body = { cartId: cart.id, currency: "USD" }
      const quoted = yield* api("POST", "/api/orders/quote", { as: asAdmin, body })
      assert.deepStrictEqual([quoted.at("data.taxTotal"), quoted.at("data.taxExemption")], [0, shown])
      const order = yield* checkOut(cart, { expectedTotal: 1000 })
      assert.deepStrictEqual(totalsOf(order), { subtotal: 1000, tax: 0, included: false, total: 1000 })
      assert.deepStrictEqual(order.at("data.taxExemption"), shown)
      assert.deepStrictEqual(order.at("data.taxes"), [])
      yield* exempt(id, null)
      const kept = yield* api("GET", `/api/orders/${order.text("data.id")}`, { as: asAdmin })
      assert.deepStrictEqual(kept.at("data.taxExemption"), shown)
    }))

  it.effect("counts an exemption until the end of its last day in the store's time zone", () =>
    Effect.gen(function*() {
      yield* standard
      const { cart, id } = yield* aBuyer()
      const dated = yield* exempt(id, { reason: "Diplomat", validUntil: "2031-07-31" })
      assert.deepStrictEqual(dated.at("data.taxExemption"), {
        reason: "Diplomat",
        number: null,
        validUntil: "2031-08-01T04:00:00.000Z"
      })
      const taxed = api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
      assert.strictEqual((yield* taxed).at("data.totals.taxTotal"), 0)
      yield* exempt(id, { reason: "Diplomat", validUntil: "2020-07-31" })
      assert.strictEqual((yield* taxed).at("data.totals.taxTotal"), 190)
      assert.strictEqual((yield* checkOut(cart)).at("data.taxExemption"), null)
    }))

  it.effect("exempts the customers of a group, unless they have a valid exemption themselves", () =>
    Effect.gen(function*() {
      yield* standard
      const { cart, id } = yield* aBuyer()
      const group = yield* aGroup
      assert.deepStrictEqual((yield* exemptGroup(group, school)).at("data.taxExemption"), {
        ...school,
        validUntil: null
      })
      const reason = Effect.map(
        api("GET", `/api/carts/${cart.id}`, { headers: cart.headers }),
        (shown) => shown.at("data.totals.taxExemption.reason")
      )
      assert.isUndefined(yield* reason)
      yield* join(group, id)
      assert.strictEqual(yield* reason, "Public school")
      yield* exempt(id, { reason: "Embassy" })
      assert.strictEqual(yield* reason, "Embassy")
      yield* exempt(id, { reason: "Embassy", validUntil: "2020-01-01" })
      assert.strictEqual(yield* reason, "Public school")
      yield* exemptGroup(group, null)
      assert.isUndefined(yield* reason)
    }))

  it.effect("hears of exemptions that another process writes", () =>
    Effect.gen(function*() {
      yield* standard
      const { cart, id } = yield* aBuyer()
      const taxed = Effect.map(
        api("GET", `/api/carts/${cart.id}`, { headers: cart.headers }),
        (shown) => shown.at("data.totals.taxTotal")
      )
      yield* onDatabase((sql) => sql`update customers set tax_exemption = null`)
      yield* onDatabase((sql) => sql`update customer_groups set tax_exemption = null`)
      assert.strictEqual(yield* taxed, 190)
      const exemption = JSON.stringify({ reason: "Embassy", number: null, validUntil: null })
      yield* onDatabase((sql) => sql`update customers set tax_exemption = ${exemption}::jsonb where id = ${id}::uuid`)
      yield* eventually("no tax", Effect.map(taxed, (tax) => tax === 0 ? true : undefined))
    }))

  it.effect("lets no one exempt themselves", () =>
    Effect.gen(function*() {
      const staff = { ...asAdmin, userId: newId() }
      const id = yield* profileIdOf(staff)
      const own = yield* api("PATCH", "/api/me/profile", { as: staff, body: { taxExemption: school, phone: "1" } })
      assert.deepStrictEqual([own.status, own.at("data.taxExemption")], [200, null])
      refused(yield* exempt(id, school, staff), 403, "FORBIDDEN")
      const { as } = yield* aBuyer()
      refused(yield* exempt(id, school, as), 403, "FORBIDDEN")
      const group = yield* aGroup
      yield* join(group, id)
      refused(yield* exemptGroup(group, school, staff), 403, "FORBIDDEN")
      yield* exemptGroup(group, school)
      yield* api("DELETE", `/api/customers/groups/${group}/members/${id}`, { as: asAdmin })
      refused(yield* join(group, id, staff), 403, "FORBIDDEN")
      assert.strictEqual((yield* exempt(id, school)).status, 200)
      assert.strictEqual((yield* exempt(id, null, staff)).status, 200)
      refused(yield* exempt(id, { number: "1" }), 422, "VALIDATION_FAILED")
    }))

  it.effect("keeps the exemption that an order was sold with when its lines are edited", () =>
    Effect.gen(function*() {
      yield* standard
      const { id } = yield* aBuyer()
      yield* exempt(id, school)
      const entityId = yield* aTaxedProduct(1000)
      const sell = (customerId: string) =>
        api("POST", "/api/orders", {
          as: asAdmin,
          body: { currency: "USD", customerId, lineItems: [{ entityId, quantity: 1 }] }
        })
      const more = (order: string) =>
        api("POST", `/api/orders/${order}/line-items`, { as: asAdmin, body: { entityId, quantity: 2 } })
      const order = yield* sell(id)
      yield* exempt(id, null)
      const edited = yield* more(order.text("data.id"))
      assert.strictEqual(edited.status, 201, JSON.stringify(edited.body))
      assert.deepStrictEqual(totalsOf(edited), { subtotal: 3000, tax: 0, included: false, total: 3000 })
      assert.strictEqual(edited.at("data.taxExemption.reason"), "Public school")
      const taxed = yield* sell(id)
      yield* exempt(id, school)
      assert.strictEqual((yield* more(taxed.text("data.id"))).at("data.taxTotal"), 570)
    }))

  it.effect("taxes a VAT number where the deployment exempts no businesses", () =>
    Effect.gen(function*() {
      yield* standard
      const address = { ...vienna, vatNumber: "ATU12345678" }
      const { order } = yield* buying([yield* aTaxedProduct(1000)], { shippingAddress: address })
      assert.deepStrictEqual([order.at("data.taxTotal"), order.at("data.taxExemption")], [190, null])
    }))

  it.effect("forgets the exemption of an erased customer", () =>
    Effect.gen(function*() {
      yield* standard
      const { as, cart, id } = yield* aBuyer()
      yield* exempt(id, school)
      const order = (yield* checkOut(cart)).text("data.id")
      yield* onDatabase((sql) => sql`update orders set status = 'fulfilled' where id = ${order}::uuid`)
      assert.strictEqual((yield* api("DELETE", "/api/me", { as })).status, 200)
      const kept = yield* api("GET", `/api/orders/${order}`, { as: asAdmin })
      assert.deepStrictEqual(kept.at("data.taxExemption"), { reason: "erased", number: null, validUntil: null })
      const audit = yield* api("GET", `/api/audit/customer/${id}`, { as: asAdmin })
      assert.notInclude(JSON.stringify(audit.body), "EX-17")
      assert.notInclude(JSON.stringify((yield* api("GET", `/api/audit/order/${order}`, { as: asAdmin })).body), "EX-17")
    }))
})

const berlin = { line1: "Weg 1", city: "Berlin", postalCode: "10115", country: "DE" }

const asked: Array<string> = []

/** Knows all numbers but those with 404 in them, and fails for those with 503 in them. */
const vatNumberService: VatNumberService = {
  id: "register",
  isRegistered: (number) => {
    asked.push(number)
    return number.includes("503") ? Promise.reject(new Error("closed")) : Promise.resolve(!number.includes("404"))
  }
}

const gross = {
  pricesIncludeTax: true,
  exemptEuBusinesses: true,
  defaultFromAddress: berlin,
  vatNumberService
}

layer(testAppLayer({ tax: gross }), live)("businesses of other EU countries", (it) => {
  const taxOf = Effect.fnUntraced(function*(body: object) {
    const { order } = yield* buying([yield* aTaxedProduct(1190)], body)
    const [goods, discount, tax] = ["totalPrice", "discountAmount", "taxAmount"].map((field) =>
      order.at(`data.lineItems.0.${field}`)
    )
    assert.deepStrictEqual([goods, discount, tax], [1190, order.at("data.discountTotal"), order.at("data.taxTotal")])
    return [order.at("data.taxTotal"), order.at("data.grandTotal"), order.at("data.taxExemption")]
  })
  const withNumber = (vatNumber: string, address: object = vienna) =>
    taxOf({ shippingAddress: address, billingAddress: { ...vienna, vatNumber } })

  it.effect("takes the tax off prices that contain it, once the VAT number is found", () =>
    Effect.gen(function*() {
      yield* standard
      const exemption = { reason: "VAT number of another EU country", number: "ATU12345678", validUntil: null }
      assert.deepStrictEqual(yield* withNumber("at u 123 456 78"), [0, 1000, exemption])
      assert.deepStrictEqual(yield* withNumber("ATU12345678"), [0, 1000, exemption])
      assert.deepStrictEqual(asked.filter((number) => number === "ATU12345678"), ["ATU12345678"])
      const own = { shippingAddress: { ...vienna, vatNumber: "ATU12345678" } }
      assert.deepStrictEqual(yield* taxOf(own), [0, 1000, exemption])
    }))

  it.effect("taxes numbers that are of no form, unknown, not checkable or of the store's country", () =>
    Effect.gen(function*() {
      yield* standard
      const taxed = [190, 1190, null]
      for (const number of ["ATU1234567", "ATU40412345", "ATU50312345", "DE123456789", "CHE123456788", ""]) {
        assert.deepStrictEqual(yield* withNumber(number), taxed, number)
      }
      assert.notInclude(asked, "ATU1234567")
      assert.notInclude(asked, "DE123456789")
      assert.deepStrictEqual(yield* withNumber("ATU12345678", berlin), taxed)
      assert.deepStrictEqual(yield* withNumber("ATU12345678", { ...vienna, country: "CH" }), taxed)
      assert.deepStrictEqual(yield* taxOf(to("AT")), taxed)
    }))

  it.effect("shows a cart the total that its checkout charges", () =>
    Effect.gen(function*() {
      yield* standard
      const cart = yield* aGuestCart()
      yield* putInto(cart, yield* aTaxedProduct(1190))
      const body = { shippingAddress: vienna, billingAddress: { ...vienna, vatNumber: "ATU12345678" } }
      const shown = yield* api("PATCH", `/api/carts/${cart.id}`, { headers: cart.headers, body })
      assert.deepStrictEqual(shown.at("data.totals.taxExemption.number"), "ATU12345678")
      const order = yield* checkOut(cart, { expectedTotal: shown.at("data.totals.grandTotal") })
      assert.deepStrictEqual(totalsOf(order), { subtotal: 1190, tax: 0, included: true, total: 1000 })
    }))
})
