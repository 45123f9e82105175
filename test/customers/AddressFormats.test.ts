import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { countryCode, formatOf, postalCodeOf, stateCode } from "../../src/domain/platform/addresses/CountryFormats.ts"
import { addressIn, givenAddress, PostalAddress } from "../../src/domain/platform/addresses/PostalAddress.ts"
import { issuesOf } from "../../src/domain/platform/text/Issues.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { aGuestCart, aProduct, checkOut, putInto } from "../support/Purchase.ts"
import { api, asAdmin, asCustomer, live, testAppLayer } from "../support/TestApp.ts"

const read = (address: unknown) => Result.getOrThrow(Schema.decodeUnknownResult(PostalAddress)(address))

const problems = (address: unknown) => {
  const found = Schema.decodeUnknownResult(PostalAddress, { errors: "all" })(address)
  return Result.isFailure(found) ? issuesOf(found.failure).map(({ path }) => path) : []
}

describe("addresses", () => {
  it("have a country of ISO 3166-1, by two or three letters in any case, or UK", () => {
    const codes = ["at", " AUT ", "UK", "gbr", "HKG", "XX", "Austria", "", "EU", "XK"].map(countryCode)
    assert.deepStrictEqual(codes, ["AT", "AT", "GB", "GB", "HK", undefined, undefined, undefined, undefined, undefined])
  })

  it("need what the post of their country needs, and no state", () => {
    const without = (country: string) => problems({ line1: "1 Main St", country })
    assert.deepStrictEqual(["AE", "HK", "BS", "US", "SG", "IE"].map(without), [
      [],
      [],
      ["city"],
      ["city", "postalCode"],
      ["postalCode"],
      ["city"]
    ])
    assert.deepStrictEqual(problems({ line1: " ", city: "x", country: "AE" }), ["line1"])
    assert.deepStrictEqual(read({ line1: "1 Bay St", city: "Nassau", country: "BS", postalCode: "" }), {
      line1: "1 Bay St",
      city: "Nassau",
      country: "BS",
      postalCode: null
    })
  })

  it("keep the codes of states, by code or name in any script, and refuse others where the post needs them", () => {
    const named = [
      ["US", "california", "CA"],
      ["US", "US-NY", "NY"],
      ["CA", "Québec", "QC"],
      ["BR", "Sao Paulo", "SP"],
      ["JP", "東京都", "13"],
      ["AE", "Dubai", "DU"],
      ["CN", "安徽省", "AH"]
    ] as const
    for (const [country, name, code] of named) assert.strictEqual(stateCode(country, name), code, name)
    assert.isUndefined(stateCode("XX", "CA"))
    assert.deepStrictEqual(problems({ line1: "1", city: "LA", state: "Calif.", postalCode: "90001", country: "US" }), [
      "state"
    ])
    assert.strictEqual(
      read({ line1: "1", city: "Wien", state: "Wien ", postalCode: "1010", country: "AUT" }).state,
      "Wien"
    )
  })

  it("have postal codes of their country's form, as people write them", () => {
    const written = [["GB", "sw1a 1aa", "SW1A 1AA"], ["CH", "CH-8000", "8000"], ["NL", "1000  aa", "1000 AA"]] as const
    for (const [country, code, kept] of written) assert.strictEqual(postalCodeOf(country, code), kept)
    assert.deepStrictEqual(problems({ line1: "1", city: "x", postalCode: "1010", country: "DE" }), ["postalCode"])
    assert.strictEqual(postalCodeOf("AE", " 00000 "), "00000")
  })

  it("that are older than the rule are normalized, else kept as given and marked", () => {
    const old = { line1: "1 Main St", city: "London", postalCode: "SW1A1AA", country: "UK" }
    assert.deepStrictEqual(addressIn(old), { ...old, country: "GB" })
    assert.deepStrictEqual(addressIn({ ...old, country: "XX" }), { ...old, country: "XX", unchecked: true })
    assert.isNull(addressIn({ street: "Main" }))
    assert.deepStrictEqual(givenAddress({ street: "Main" }), { street: "Main", unchecked: true })
    assert.deepStrictEqual(givenAddress({ ...old, street: "x", unchecked: true }), {
      ...old,
      street: "x",
      country: "GB"
    })
  })
})

const whole = {
  name: "Ann Buyer",
  company: "ACME",
  phone: "+43 1 23",
  line1: "Hauptplatz 1",
  city: "Wien",
  postalCode: "1010",
  country: "AUT",
  vatNumber: "ATU12345678"
}
const kept = { ...whole, country: "AT" }

layer(testAppLayer(), live)("addresses in requests", (it) => {
  it.effect("are listed by country, and may be cached", () =>
    Effect.gen(function*() {
      const answer = yield* api("GET", "/api/addresses/formats")
      assert.strictEqual(answer.headers.get("cache-control"), "public, max-age=300")
      const etag = answer.headers.get("etag") ?? ""
      const again = yield* api("GET", "/api/addresses/formats", { headers: { "if-none-match": etag } })
      assert.deepStrictEqual([answer.status, again.status], [200, 304])
      const formats = answer.list("data")
      assert.lengthOf(formats, 249)
      assert.deepInclude(formats, {
        country: "AE",
        name: "United Arab Emirates",
        required: ["line1", "country"],
        postalCode: null,
        states: [...formatOf("AE").states]
      })
    }))

  it.effect("keep names, company and telephone in carts, orders, address books and warehouses", () =>
    Effect.gen(function*() {
      const mug = yield* aProduct()
      const cart = yield* aGuestCart()
      yield* putInto(cart, mug)
      const order = yield* checkOut(cart, { shippingAddress: whole })
      assert.deepStrictEqual(order.at("data.shippingAddress"), kept)
      const book = yield* api("POST", "/api/me/addresses", {
        as: asCustomer("ann"),
        body: { ...whole, type: "shipping" }
      })
      assert.deepInclude(book.at("data"), { ...kept, firstName: "Ann", lastName: "Buyer", unchecked: false })
      const body = { name: "W", code: "address-w", address: whole }
      const place = yield* api("POST", "/api/inventory/warehouses", { as: asAdmin, body })
      assert.deepStrictEqual(place.at("data.address"), kept)
    }))

  it.effect("of countries that do not exist are refused in every body", () =>
    Effect.gen(function*() {
      const wrong = { ...whole, country: "XX" }
      const cart = yield* aGuestCart()
      const requests = [
        ["POST", "/api/carts", { currency: "USD", shippingAddress: wrong }, "shippingAddress.country"],
        ["PATCH", `/api/carts/${cart.id}`, { billingAddress: wrong }, "billingAddress.country"],
        ["POST", "/api/shipping/quotes", { cartId: cart.id, shippingAddress: wrong }, "shippingAddress.country"],
        ["POST", "/api/me/addresses", { ...wrong, type: "shipping" }, "country"],
        ["POST", "/api/inventory/warehouses", { name: "V", code: "v", address: wrong }, "address.country"],
        ["POST", "/api/tax/rates", { name: "VAT", country: "XX", rateBps: 1 }, "country"],
        ["POST", "/api/shipping/zones", { name: "Z", countries: ["XX"] }, "countries.0"]
      ] as const
      for (const [method, path, body, field] of requests) {
        const as = path === "/api/me/addresses" ? asCustomer("bob") : asAdmin
        const answer = yield* api(method, path, { as, body, headers: cart.headers })
        assert.deepStrictEqual([answer.status, answer.at("error.details.issues.0.path")], [422, field], path)
      }
    }))

  it.effect("in a cart that is older than the rule are read, and marked where they are no address", () =>
    Effect.gen(function*() {
      const cart = yield* aGuestCart()
      yield* putInto(cart, yield* aProduct())
      const keep = (country: string) =>
        onDatabase((sql) =>
          sql`update carts set choices = ${JSON.stringify({ shippingAddress: { ...whole, country } })}::jsonb
            where id = ${cart.id}::uuid`
        )
      const shown = Effect.map(
        api("GET", `/api/carts/${cart.id}`, { headers: cart.headers }),
        (answer) => answer.at("data.shippingAddress")
      )
      yield* keep("XX")
      assert.deepInclude(yield* shown, { country: "XX", unchecked: true })
      const refused = yield* checkOut(cart)
      assert.deepStrictEqual([refused.status, refused.at("error.details.missing")], [422, ["shippingAddress"]])
      assert.strictEqual(refused.at("error.message"), "The order needs a shipping address with its country.")
      yield* keep("AUT")
      assert.deepStrictEqual(yield* shown, kept)
      assert.deepStrictEqual((yield* checkOut(cart)).at("data.shippingAddress"), kept)
    }))
})

layer(testAppLayer({ checkout: { strictAddresses: true } }), live)("strict addresses", (it) => {
  it.effect("need a state where the post asks for one", () =>
    Effect.gen(function*() {
      const formats = (yield* api("GET", "/api/addresses/formats")).list("data")
      assert.deepInclude(
        JSON.stringify(formats),
        "\"country\":\"AE\",\"name\":\"United Arab Emirates\",\"required\":[\"line1\",\"state\",\"country\"]"
      )
      const cart = yield* aGuestCart()
      yield* putInto(cart, yield* aProduct())
      const shippingAddress = { line1: "Villa 5", country: "AE" }
      const refused = yield* checkOut(cart, { shippingAddress })
      assert.strictEqual(refused.at("error.message"), "The order needs a shipping address with its state.")
      const sold = yield* checkOut(cart, { shippingAddress: { ...shippingAddress, state: "Dubai" } })
      assert.deepStrictEqual([sold.status, sold.at("data.shippingAddress.state")], [201, "DU"])
    }))
})
