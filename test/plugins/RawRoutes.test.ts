import { assert, layer } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { definePlugin, group, notFound } from "stoa/plugin"
import { api, asAdmin, at, live, TestApp, testAppLayer } from "../support/TestApp.ts"

const Slug = Schema.String.check(Schema.isPattern(/^[a-z]+$/))
const routes = group("Channels", "/channels")
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

class NoFile extends notFound("File", "No such file.") {}

let received = 0

const channels = definePlugin({
  id: "channels",
  version: "1.0.0",
  permissions: [{ scope: "channels:read", description: "Read files" }],
  routes: () => [
    routes.raw(
      "POST",
      "/webhook",
      { public: "signed by the channel", accepts: "application/json" },
      ({ body, headers }) =>
        Effect.sync(() => {
          received++
          return { status: 202, headers: { "x-signature": headers["x-signature"] ?? "" }, body: sha256(body) }
        })
    ),
    routes.raw(
      "POST",
      "/once",
      { public: "for the test", idempotent: true, produces: "text/csv" },
      () => Effect.sync(() => ({ body: `n\n${++received}` }))
    ),
    routes.raw(
      "GET",
      "/oauth/:provider",
      { public: "begins a sign-in", params: { provider: Slug } },
      ({ params }) =>
        Effect.succeed({ status: 302, headers: { location: `https://${params.provider}.example/?state=1` } })
    ),
    routes.raw(
      "GET",
      "/orders.csv",
      { permission: "channels:read", produces: "text/csv" },
      ({ organizationId }) =>
        Effect.succeed({
          headers: { "content-disposition": "attachment" },
          body: Stream.make("id\n", `${organizationId}\n`).pipe(Stream.encodeText)
        })
    ),
    routes.raw(
      "GET",
      "/bad",
      { auth: true },
      () => Effect.succeed({ status: 409, headers: { "content-type": "text/plain" }, body: "as the channel wants it" })
    ),
    routes.raw("GET", "/files/:id", { auth: true }, () => new NoFile())
  ]
})

const post = (path: string, body: Uint8Array | string, headers: Record<string, string> = {}) =>
  Effect.flatMap(TestApp, ({ url }) =>
    Effect.promise(async () => {
      const answer = await fetch(`${url}/api/channels${path}`, { method: "POST", body, headers })
      return { status: answer.status, headers: answer.headers, text: await answer.text() }
    }))

layer(testAppLayer({ plugins: [channels] }), live)(
  "a raw route",
  (it) => {
    it.effect("gets the bytes and headers as they came, and its answer goes out without an envelope", () =>
      Effect.gen(function*() {
        const bytes = new Uint8Array([0, 255, 10, 123])
        const answer = yield* post("/webhook", bytes, { "x-signature": "abc", "content-type": "application/json" })
        assert.deepStrictEqual([answer.status, answer.text], [202, sha256(bytes)])
        assert.strictEqual(answer.headers.get("x-signature"), "abc")
        assert.isString(answer.headers.get("x-request-id"))
      }))

    it.effect("is run for every request, also under one Idempotency-Key, unless it asks for once", () =>
      Effect.gen(function*() {
        received = 0
        const headers = { "idempotency-key": "channel-webhook-1" }
        yield* post("/webhook", "x", headers)
        yield* post("/webhook", "x", headers)
        assert.strictEqual(received, 2)
        const [first, again] = [yield* post("/once", "x", headers), yield* post("/once", "x", headers)]
        assert.deepStrictEqual([first.text, again.text, again.headers.get("content-type")], [
          "n\n3",
          "n\n3",
          "text/csv"
        ])
      }))

    it.effect("redirects", () =>
      Effect.gen(function*() {
        const answer = yield* api("GET", "/api/channels/oauth/shopify")
        assert.deepStrictEqual([answer.status, answer.headers.get("location")], [
          302,
          "https://shopify.example/?state=1"
        ])
        assert.strictEqual((yield* api("GET", "/api/channels/oauth/A%2F")).status, 422)
      }))

    it.effect("streams, under the access rule that it names", () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* api("GET", "/api/channels/orders.csv")).status, 401)
        const answer = yield* api("GET", "/api/channels/orders.csv", { as: asAdmin })
        assert.deepStrictEqual([answer.status, answer.body], [200, "id\norg_default\n"])
        assert.include(answer.headers.get("content-type") ?? "", "text/csv")
      }))

    it.effect("keeps the body of its refusals, and fails in the envelope", () =>
      Effect.gen(function*() {
        const refused = yield* api("GET", "/api/channels/bad", { as: asAdmin })
        assert.deepStrictEqual([refused.status, refused.body], [409, "as the channel wants it"])
        const missing = yield* api("GET", "/api/channels/files/7f1d9b1a-3b39-4b7c-9d54-1f3f4f9a2b11", { as: asAdmin })
        assert.deepStrictEqual([missing.status, missing.at("error.code")], [404, "NOT_FOUND"])
      }))

    it.effect("takes no body above 1 MB", () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* post("/webhook", "x".repeat(1_048_577))).status, 413)
      }))

    it.effect("stands in the document with its content types", () =>
      Effect.gen(function*() {
        const { body } = yield* api("GET", "/api/doc")
        const paths = Object(at(body, "paths"))
        assert.property(paths["/api/channels/webhook"].post.requestBody.content, "application/json")
        assert.property(paths["/api/channels/orders.csv"].get.responses[200].content, "text/csv")
      }))
  }
)
