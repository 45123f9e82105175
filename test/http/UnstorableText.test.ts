import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { aMedium } from "../media/MediaFixtures.ts"
import { aCartWith, aProduct } from "../support/Purchase.ts"
import { api, asAdmin, withApp } from "../support/TestApp.ts"

/** Texts that JSON can say and PostgreSQL cannot store. */
const broken = { "half a surrogate pair": "\\ud800", "the other half": "\\uDC00x", "NUL": "a\\u0000" }

/** Routes that take text, each with a body that holds it, in places that no schema looks at as well. */
const bodies = (text: string): ReadonlyArray<readonly [method: string, path: string, body: string]> => [
  ["PATCH", "/api/media/0197a8f0-0000-7000-8000-000000000000", `{"alt":"${text}"}`],
  ["PATCH", "/api/media/0197a8f0-0000-7000-8000-000000000000", `{"metadata":{"a":{"${text}":1}}}`],
  ["POST", "/api/catalog/entities", `{"type":"product","slug":"x","attributes":{"title":"${text}"}}`],
  ["POST", "/api/promotions/validate", `{"code":"${text}","currency":"EUR","subtotal":1,"lineItems":[]}`],
  ["POST", "/api/carts", `{"currency":"${text}"}`],
  ["POST", "/api/analytics/query", `{"measures":["${text}"]}`]
]

withApp("text that cannot be stored", (it) => {
  for (const [name, text] of Object.entries(broken)) {
    it.effect(`is refused in every body: ${name}`, () =>
      Effect.gen(function*() {
        for (const [method, path, body] of bodies(text)) {
          const answer = yield* api(method, path, { as: asAdmin, body })
          assert.deepStrictEqual(
            [answer.status, answer.at("error.code")],
            [422, "VALIDATION_FAILED"],
            `${path} ${body}`
          )
          assert.include(answer.text("error.message"), "must be valid Unicode without NUL")
        }
      }))

    it.effect(`is refused in a call at /rpc: ${name}`, () =>
      Effect.gen(function*() {
        const payload = `{"type":"product","slug":"rpc","metadata":{"a":"${text}"}}`
        const answer = yield* api("POST", "/rpc", {
          headers: { "x-api-key": "dev-admin-key" },
          body: `{"_tag":"Request","id":1,"tag":"catalog.create","payload":${payload},"headers":[]}`
        })
        assert.include(JSON.stringify(answer.body), "must be valid Unicode without NUL")
      }))
  }

  it.effect("is refused with its place, in a medium that exists", () =>
    Effect.gen(function*() {
      const id = yield* aMedium()
      for (
        const body of [`{"alt":"\\udfff"}`, `{"metadata":{"deep":[{"a":"\\ud800"}]}}`, `{"metadata":{"\\ud800":1}}`]
      ) {
        const answer = yield* api("PATCH", `/api/media/${id}`, { as: asAdmin, body })
        assert.deepStrictEqual([answer.status, answer.at("error.code")], [422, "VALIDATION_FAILED"], body)
      }
      const body = `{"metadata":{"deep":[{"a":"\\ud800"}]}}`
      const refused = yield* api("PATCH", `/api/media/${id}`, { as: asAdmin, body })
      assert.strictEqual(refused.at("error.message"), "metadata.deep.0.a must be valid Unicode without NUL.")
    }))

  it.effect("is refused in addresses too", () =>
    Effect.gen(function*() {
      for (const text of ["%00", "%ED%A0%80", "a%00b"]) {
        for (
          const path of ["/api/catalog/entities/", "/api/orders/", "/api/catalog/entities?slug=", "/api/search?q="]
        ) {
          const { status } = yield* api("GET", `${path}${text}`, { as: asAdmin })
          assert.isBelow(status, 500, `${path}${text}`)
        }
      }
    }))

  it.effect("is distinguished from text that only looks like it", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct())
      const metadata = `{"pair":"\\ud83d\\ude00","words":"\\\\ud800 \\\\u0000"}`
      const made = yield* api("POST", "/api/checkout", {
        headers: cart.headers,
        body: `{"cartId":"${cart.id}","paymentMethodId":"test","currency":"USD","metadata":${metadata}}`
      })
      assert.deepStrictEqual(
        [made.status, made.at("data.metadata.pair"), made.at("data.metadata.words")],
        [201, "\u{1f600}", "\\ud800 \\u0000"]
      )
    }))
})
