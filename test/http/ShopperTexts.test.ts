import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { refused } from "../checkout/CheckoutFixtures.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asCustomer, live, TestApp, testAppLayer } from "../support/TestApp.ts"

const long = (length: number) => "x".repeat(length)
const password = "a-long-enough-password"

/** Signs up and gives the headers of the session. */
const signUp = Effect.fnUntraced(function*(body: object) {
  const { url } = yield* TestApp
  return yield* api("POST", "/api/auth/sign-up/email", {
    headers: { origin: url },
    body: { email: `${crypto.randomUUID()}@example.com`, password, ...body }
  })
})

const app = testAppLayer({ auth: { requireEmailVerification: false } })

layer(app, live)("texts that shoppers send", (it) => {
  it.effect("a name and a picture of a user are bounded, and carts of a user go on", () =>
    Effect.gen(function*() {
      for (const name of [long(900_000), long(201)]) {
        const answer = yield* signUp({ name })
        assert.isTrue(answer.status >= 400 && answer.status < 500, `${answer.status}`)
      }
      for (const image of [`https://example.com/${long(2_048)}`, "data:image/png;base64,AAAA", "javascript:alert(1)"]) {
        const answer = yield* signUp({ name: "Ann", image })
        assert.isTrue(answer.status >= 400 && answer.status < 500, `${answer.status} ${image.slice(0, 30)}`)
      }
      const made = yield* signUp({ name: long(200), image: "https://example.com/ann.png" })
      assert.strictEqual(made.status, 200, JSON.stringify(made.body))
      const headers = { authorization: `Bearer ${made.text("token")}` }
      for (
        const change of [{ name: long(201) }, { image: "ftp://example.com/a" }, { image: `http://a/${long(2_048)}` }]
      ) {
        const answer = yield* api("POST", "/api/auth/update-user", { headers, body: change })
        assert.isTrue(
          answer.status >= 400 && answer.status < 500,
          `${answer.status} ${JSON.stringify(change).slice(0, 40)}`
        )
      }
      const cart = yield* api("POST", "/api/carts", { headers, body: { currency: "USD" } })
      assert.strictEqual(cart.status, 201)
    }))

  it.effect("metadata of shoppers are bounded at 16 kB of JSON", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct())
      // {"a":"…"} has eight more characters.
      const metadata = (bytes: number) => ({ a: long(bytes - 8) })
      refused(yield* checkOut(cart, { metadata: metadata(16_385) }), 422, "VALIDATION_FAILED")
      refused(yield* checkOut(cart, { metadata: { a: "\u20ac".repeat(5_500) } }), 422, "VALIDATION_FAILED")
      assert.strictEqual((yield* checkOut(cart, { metadata: metadata(16_384) })).status, 201)
      const profile = (bytes: number) =>
        api("PATCH", "/api/me/profile", { as: asCustomer("bounded"), body: { metadata: metadata(bytes) } })
      refused(yield* profile(16_385), 422, "VALIDATION_FAILED")
      assert.strictEqual((yield* profile(16_384)).status, 200)
    }))

  it.effect("what a checkout names is bounded", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct())
      const address = { line1: "1", city: "Bern", postalCode: "3000", country: "CH" }
      for (
        const body of [
          { promotionCodes: [long(256)] },
          { customerGroupIds: [long(256)] },
          { customerId: long(256) },
          { shippingAddress: { ...address, line2: long(256) } },
          { shippingAddress: { ...address, state: long(900_000) } }
        ]
      ) refused(yield* checkOut(cart, body), 422, "VALIDATION_FAILED", JSON.stringify(body).slice(0, 60))
      assert.strictEqual((yield* checkOut(cart)).status, 201)
    }))
})
