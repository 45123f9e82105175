import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { ApiError, definePlugin, group, notFound, type Refusal } from "stoa/plugin"
import { lastingRates } from "../support/LastingRates.ts"
import { api, asAdmin, asAnonymous, at, live, TestApp, testAppLayer } from "../support/TestApp.ts"

class NoSession extends notFound("Session", "No such session.") {}

/** As a protocol wants it: another status for one of them, a header, and shapes that cannot be sent. */
const failed = ({ code, details, message, status }: Refusal) => {
  if (code === "UNSHAPED") throw new Error("secret of the shape")
  return {
    ...(status === 404 ? { status: 410 } : code === "ODD" ? { status: 7 } : {}),
    headers: { "x-protocol": "ucp/1", "content-type": "application/ucp+json" },
    body: JSON.stringify({ type: "error", code: code.toLowerCase(), content: message, details: details ?? null })
  }
}

/** An answer of a route that reads like a refusal. */
const ownBody = JSON.stringify({ error: { code: "MINE", message: "As the route wants it." } })

const ucp = group("UCP", "/ucp", { outsideApi: true, failed })
const plain = group("UCP", "/ucp", { outsideApi: true })
const failing = (code: string, retryAfter?: number) =>
  Effect.fail(ApiError.of({ status: 429, code, message: "Later.", retryAfter }))

const protocol = definePlugin({
  id: "ucp",
  version: "1.0.0",
  permissions: [{ scope: "ucp:use", description: "Use it" }],
  routes: () => [
    group("UCP", "/.well-known", { outsideApi: true }).get("/ucp", { public: "the profile", success: Schema.Unknown })
      .handle(({ organizationId, requestId }) => Effect.succeed({ organizationId, requestId })),
    ucp.raw("GET", "/sessions/:id", {
      permission: "ucp:use",
      query: { page: Schema.optional(Schema.FiniteFromString) }
    }, () => new NoSession()),
    ucp.raw("POST", "/sessions", { public: "agents", idempotent: true }, () => Effect.succeed({ body: "made" })),
    ucp.raw("GET", "/later", { public: "agents" }, () => failing("TRY_LATER", 7)),
    ucp.raw("GET", "/unshaped", { public: "agents" }, () => failing("UNSHAPED")),
    ucp.raw("GET", "/odd", { public: "agents" }, () => failing("ODD")),
    ucp.raw("GET", "/broken", { public: "agents" }, () => Effect.die(new Error("secret of the database"))),
    ucp.raw("GET", "/own", { public: "agents" }, () => Effect.succeed({ status: 409, body: ownBody })),
    ucp.raw("GET", "/strict", { public: "agents", rate: "strict" }, () => Effect.succeed({ body: "in" })),
    plain.get("/sessions/list", { auth: true, success: Schema.Null }).handle(() => Effect.succeed(null))
  ]
})

const shapeOf = (answer: Effect.Success<ReturnType<typeof api>>) => {
  assert.include(answer.headers.get("content-type"), "application/ucp+json")
  assert.strictEqual(answer.headers.get("x-protocol"), "ucp/1")
  assert.isString(answer.headers.get("x-request-id"))
  assert.isString(answer.headers.get("x-ratelimit-remaining"))
  assert.isUndefined(answer.at("error"))
  return [answer.status, answer.at("code"), answer.at("type")]
}

const session = `/ucp/sessions/${randomUUID()}`

layer(testAppLayer({ plugins: [protocol] }, { rateLimits: lastingRates({ strict: 2 }) }), live)(
  "refusals of a group of raw routes in the shape of its protocol",
  (it) => {
    it.effect("are those of access, with the headers of every answer", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(shapeOf(yield* api("GET", session)), [401, "unauthorized", "error"])
        const headers = { origin: "http://localhost:3000" }
        const refused = yield* api("GET", session, { as: asAnonymous, headers })
        assert.deepStrictEqual(shapeOf(refused), [403, "forbidden", "error"])
        assert.strictEqual(refused.headers.get("access-control-allow-origin"), headers.origin)
      }))

    it.effect("are those of query and params, with their issues", () =>
      Effect.gen(function*() {
        const query = yield* api("GET", `${session}?page=many`, { as: asAdmin })
        assert.deepStrictEqual(shapeOf(query), [422, "validation_failed", "error"])
        assert.strictEqual(query.at("details.issues.0.path"), "page")
        const params = yield* api("GET", "/ucp/sessions/1", { as: asAdmin })
        assert.deepStrictEqual(shapeOf(params), [422, "validation_failed", "error"])
      }))

    it.effect("are errors of the handler, in another status if the shape says so, with Retry-After", () =>
      Effect.gen(function*() {
        const gone = yield* api("GET", session, { as: asAdmin })
        assert.deepStrictEqual([shapeOf(gone), gone.at("content")], [[410, "not_found", "error"], "No such session."])
        const later = yield* api("GET", "/ucp/later")
        assert.deepStrictEqual([shapeOf(later), later.headers.get("retry-after")], [[429, "try_later", "error"], "7"])
      }))

    it.effect("are defects, without detail", () =>
      Effect.gen(function*() {
        const broken = yield* api("GET", "/ucp/broken")
        assert.deepStrictEqual(shapeOf(broken), [500, "internal_error", "error"])
        assert.notInclude(JSON.stringify(broken.body), "secret")
      }))

    it.effect("are bodies that are too large, declared or not, and other methods", () =>
      Effect.gen(function*() {
        const body = "x".repeat(1_048_577)
        assert.deepStrictEqual(shapeOf(yield* api("POST", "/ucp/sessions", { body })), [
          413,
          "payload_too_large",
          "error"
        ])
        const { url } = yield* TestApp
        const chunked = yield* Effect.promise(() =>
          fetch(
            `${url}/ucp/sessions`,
            { method: "POST", body: new Blob([body]).stream(), duplex: "half" } as RequestInit
          )
        )
        assert.deepStrictEqual([chunked.status, at(yield* Effect.promise(() => chunked.json()), "code")], [
          413,
          "payload_too_large"
        ])
        const method = yield* api("PATCH", "/ucp/sessions", { as: asAdmin })
        assert.deepStrictEqual([shapeOf(method), method.headers.get("allow")], [
          [405, "method_not_allowed", "error"],
          "POST"
        ])
      }))

    it.effect("are those of an Idempotency-Key", () =>
      Effect.gen(function*() {
        const headers = { "idempotency-key": `ucp-${randomUUID()}` }
        assert.strictEqual((yield* api("POST", "/ucp/sessions", { headers, body: { n: 1 } })).body, "made")
        const reused = yield* api("POST", "/ucp/sessions", { headers, body: { n: 2 } })
        assert.deepStrictEqual(shapeOf(reused), [422, "validation_failed", "error"])
      }))

    it.effect("are those of a strict limit", () =>
      Effect.gen(function*() {
        const answers = yield* Effect.all([1, 2, 3].map(() => api("GET", "/ucp/strict")))
        assert.deepStrictEqual(answers.map(({ status }) => status), [200, 200, 429])
        assert.isAbove(Number(answers[2]?.headers.get("retry-after")), 0)
        assert.deepStrictEqual(answers.slice(2).map(shapeOf), [[429, "too_many_requests", "error"]])
      }))

    it.effect("are not the answers that the route makes", () =>
      Effect.gen(function*() {
        const own = yield* api("GET", "/ucp/own")
        assert.deepStrictEqual([own.status, own.body], [409, ownBody])
      }))

    it.effect("are in the envelope where the shape cannot be made", () =>
      Effect.gen(function*() {
        const answer = yield* api("GET", "/ucp/unshaped")
        assert.deepStrictEqual([answer.status, answer.body], [429, { error: { code: "UNSHAPED", message: "Later." } }])
        const odd = yield* api("GET", "/ucp/odd")
        assert.deepStrictEqual([odd.status, odd.at("error.code")], [429, "ODD"])
      }))

    it.effect("are not those of other routes of the address", () =>
      Effect.gen(function*() {
        const answers = [
          yield* api("GET", "/ucp/sessions/list"),
          yield* api("POST", "/ucp/sessions/list"),
          yield* api("GET", "/ucp/nothing")
        ]
        assert.deepStrictEqual(answers.map(({ status }) => status), [401, 405, 404])
        for (const answer of answers) assert.isString(answer.at("error.code"))
      }))

    it.effect("have no shape in the document", () =>
      Effect.gen(function*() {
        const paths = Object(at((yield* api("GET", "/api/doc")).body, "paths"))
        const { responses } = paths["/ucp/sessions/{id}"].get
        assert.notProperty(responses[401], "content")
        assert.property(responses[200], "content")
        assert.property(paths["/ucp/sessions/list"].get.responses[401], "content")
      }))
  }
)

layer(testAppLayer({ plugins: [protocol] }, { rateLimits: lastingRates({ api: 3 }) }), live)(
  "a route outside /api",
  (it) => {
    it.effect("answers like others: envelope, request id, CORS and limits, and its refusals before a route is found", () =>
      Effect.gen(function*() {
        const headers = { origin: "http://localhost:3000", "x-request-id": "request-7" }
        const profile = yield* api("GET", "/.well-known/ucp", { headers })
        assert.deepStrictEqual([profile.status, profile.at("data")], [200, {
          organizationId: "org_default",
          requestId: "request-7"
        }])
        assert.strictEqual(profile.headers.get("x-request-id"), "request-7")
        assert.strictEqual(profile.headers.get("access-control-allow-origin"), headers.origin)
        assert.strictEqual(profile.headers.get("x-ratelimit-limit"), "3")
        assert.strictEqual((yield* api("GET", "/api/.well-known/ucp")).status, 404)
        yield* api("GET", "/.well-known/ucp")
        const refused = yield* api("GET", "/.well-known/ucp")
        assert.deepStrictEqual([refused.status, refused.at("error.code")], [429, "TOO_MANY_REQUESTS"])
        assert.deepStrictEqual(shapeOf(yield* api("GET", "/ucp/own")), [429, "too_many_requests", "error"])
      }))
  }
)
