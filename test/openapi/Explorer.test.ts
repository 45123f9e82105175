import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type Answer, api, asAdmin, at, withApp } from "../support/TestApp.ts"

const headersOf = (document: Answer, path: string, method: string): ReadonlyArray<unknown> => {
  // Paths hold dots and braces of their own, so they are looked up by key.
  const operation = at(Reflect.get(Object(document.at("paths")), path), method)
  const parameters = at(operation, "parameters")
  return Array.isArray(parameters)
    ? parameters.filter((one) => at(one, "in") === "header").map((one) => at(one, "name"))
    : []
}

withApp("the document as clients read it", (it) => {
  it.effect("says which headers open and repeat a request", () =>
    Effect.gen(function*() {
      const document = yield* api("GET", "/api/doc")
      const seen = (path: string, method: string) => headersOf(document, path, method)
      assert.deepStrictEqual(seen("/api/carts", "post"), ["Idempotency-Key"])
      assert.deepStrictEqual(seen("/api/carts/{id}", "get"), ["x-cart-secret"])
      assert.deepStrictEqual(seen("/api/carts/{id}/items/{itemId}", "delete"), ["x-cart-secret", "Idempotency-Key"])
      assert.deepStrictEqual(seen("/api/checkout", "post"), ["x-cart-secret", "Idempotency-Key"])
      assert.deepStrictEqual(seen("/api/orders/{idOrNumber}", "get"), ["x-cart-secret"])
      assert.deepStrictEqual(seen("/api/catalog/entities", "get"), [])
      assert.deepStrictEqual(seen("/api/catalog/entities", "post"), ["Idempotency-Key"])
    }))

  it.effect("says that unknown fields are named and otherwise ignored, which is what happens", () =>
    Effect.gen(function*() {
      const document = yield* api("GET", "/api/doc")
      assert.include(document.text("info.description"), "`X-Ignored-Fields` in the answer names them")
      const made = yield* api("POST", "/api/carts", { body: { currency: "USD", colour: "red", id: 5 } })
      assert.strictEqual(made.status, 201)
      assert.isUndefined(made.at("data.colour"))
      assert.strictEqual(made.headers.get("x-ignored-fields"), "colour, id")
      const asked = { measures: ["Orders.count"], limits: 5 }
      assert.strictEqual((yield* api("POST", "/api/analytics/query", { as: asAdmin, body: asked })).status, 422)
    }))

  it.effect("has the version that the health route says", () =>
    Effect.gen(function*() {
      const health = yield* api("GET", "/api/health")
      assert.strictEqual((yield* api("GET", "/api/doc")).at("info.version"), health.text("version"))
    }))

  it.effect("comes in OpenAPI 3.1 too, and in no other version", () =>
    Effect.gen(function*() {
      const [usual, in30, in31] = yield* Effect.all([
        api("GET", "/api/doc"),
        api("GET", "/api/doc?version=3.0"),
        api("GET", "/api/doc?version=3.1")
      ])
      assert.deepStrictEqual([usual.text("openapi"), in31.text("openapi")], ["3.0.3", "3.1.0"])
      assert.strictEqual(in30.headers.get("etag"), usual.headers.get("etag"))
      const etag = in31.headers.get("etag") ?? ""
      assert.notStrictEqual(etag, usual.headers.get("etag"))
      const again = yield* api("GET", "/api/doc?version=3.1", { headers: { "if-none-match": etag } })
      assert.strictEqual(again.status, 304)
      const unknown = yield* api("GET", "/api/doc?version=4")
      assert.strictEqual(unknown.status, 422)
      assert.strictEqual(unknown.text("error.message"), "query.version must be 3.0 or 3.1.")
    }))

  it.effect("is what the explorer shows, credentials included", () =>
    Effect.gen(function*() {
      const document = yield* api("GET", "/api/doc")
      const page = String((yield* api("GET", "/api/reference")).body)
      const shown = page.slice(page.lastIndexOf("content: ") + "content: ".length)
      assert.isTrue(shown.startsWith("{\"openapi\":\"3.0.3\""), shown.slice(0, 60))
      const schemes = Object.keys(Object(document.at("components.securitySchemes")))
      assert.sameMembers(schemes, ["apiKey", "bearer", "cookie"])
      for (const word of [...schemes, "x-cart-secret", "Idempotency-Key"]) assert.include(shown, `"${word}"`)
    }))

  it.effect("has its explorer load nothing from elsewhere", () =>
    Effect.gen(function*() {
      const page = String((yield* api("GET", "/api/reference")).body)
      const tags = page.match(/<(?:script|link|img|iframe)\b[^>]*>/g) ?? []
      assert.isAbove(tags.length, 0)
      assert.deepStrictEqual(tags.filter((tag) => /\b(?:src|href)\s*=/.test(tag)), [])
    }))
})
