import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Agent, request } from "node:http"
import { endpoints } from "../../src/http/docs/Docs.ts"
import { refused } from "../checkout/CheckoutFixtures.ts"
import { type Answer, api, asAdmin, TestApp, withApp } from "../support/TestApp.ts"

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const megabyte = 1024 * 1024

/** Requests of every kind of answer: found, made, refused, unknown. */
const everyKind = {
  ok: () => api("GET", "/api/health"),
  made: () => api("POST", "/api/carts", { body: { currency: "USD" } }),
  malformed: () => api("POST", "/api/carts", { body: "{" }),
  unauthenticated: () => api("GET", "/api/orders"),
  "unknown record": () => api("GET", `/api/carts/${randomUUID()}`, { as: asAdmin }),
  "unknown route": () => api("GET", "/api/nothing"),
  "outside of /api": () => api("GET", "/nothing"),
  "wrong method": () => api("PUT", "/api/carts", { body: {} }),
  "wrong type": () => api("POST", "/api/carts", { body: "a=1", headers: { "content-type": "text/plain" } }),
  invalid: () => api("POST", "/api/carts", { body: {} })
}

/** An error is nothing but code, message and perhaps details. */
const isEnvelope = (answer: Answer) => {
  assert.deepStrictEqual(Object.keys(Object(answer.body)), ["error"])
  assert.isString(answer.at("error.code"))
  assert.notStrictEqual(answer.text("error.message"), "")
  assert.match(answer.headers.get("content-type") ?? "", /^application\/json/)
}

interface Raw {
  readonly status: number
  readonly body: string
}

/** Sends a body of unknown length in chunks; ends early where the server answers before it is whole. */
const stream = (url: string, chunks: number, chunk: Buffer, agent: Agent | false = false, method = "POST") =>
  Effect.callback<Raw>((resume) => {
    const sent = request(url, {
      method,
      agent,
      headers: { "content-type": "application/json", "transfer-encoding": "chunked" }
    })
    sent.on("response", (response) => {
      let body = ""
      response.on("data", (part: Buffer) => {
        body += part.toString()
      })
      response.on("end", () => {
        resume(Effect.succeed({ status: response.statusCode ?? 0, body }))
        sent.destroy()
      })
    })
    // A server that stops reading may reset the connection while the rest is still being written.
    sent.on("error", (error) => resume(Effect.succeed({ status: 0, body: String(error) })))
    for (let index = 0; index < chunks; index++) sent.write(chunk)
    sent.end()
  })

withApp("the edge of the API", (it) => {
  describe("every answer", () => {
    for (const [kind, send] of Object.entries(everyKind)) {
      it.effect(`${kind}: the answer has a new id and the security headers, and does not name the server`, () =>
        Effect.gen(function*() {
          const [first, second] = [yield* send(), yield* send()].map(({ headers }) => headers)
          assert.match(first?.get("x-request-id") ?? "", uuid)
          assert.match(second?.get("x-request-id") ?? "", uuid)
          assert.notStrictEqual(first?.get("x-request-id"), second?.get("x-request-id"))
          assert.deepInclude(Object.fromEntries(first ?? []), {
            "x-content-type-options": "nosniff",
            "x-frame-options": "DENY",
            "referrer-policy": "strict-origin-when-cross-origin",
            "permissions-policy": "camera=(), microphone=(), geolocation=()"
          })
          assert.notProperty(Object.fromEntries(first ?? []), "x-powered-by")
          assert.notProperty(Object.fromEntries(first ?? []), "strict-transport-security")
        }))
    }

    it.effect("a well-formed one of the client comes back, anything else is replaced", () =>
      Effect.gen(function*() {
        const send = (id: string) =>
          Effect.map(api("GET", "/api/health", { headers: { "x-request-id": id } }), ({ headers }) =>
            headers.get("x-request-id"))
        for (const id of ["a", "Shop-1.2_3", "x".repeat(128)]) {
          assert.strictEqual(yield* send(id), id)
        }
        for (const id of ["x".repeat(129), "a b", "a/b", "<script>", "a;b", "é"]) {
          assert.match((yield* send(id)) ?? "", uuid, id)
        }
      }))
  })

  describe("errors", () => {
    const errors: Readonly<Record<string, readonly [keyof typeof everyKind, number, string]>> = {
      "malformed JSON": ["malformed", 400, "BAD_REQUEST"],
      "no credentials": ["unauthenticated", 401, "UNAUTHORIZED"],
      "an unknown record": ["unknown record", 404, "NOT_FOUND"],
      "an unknown route": ["unknown route", 404, "NOT_FOUND"],
      "a path outside of /api": ["outside of /api", 404, "NOT_FOUND"],
      "a wrong method": ["wrong method", 405, "METHOD_NOT_ALLOWED"],
      "a wrong content type": ["wrong type", 415, "UNSUPPORTED_MEDIA_TYPE"],
      "an invalid body": ["invalid", 422, "VALIDATION_FAILED"]
    }
    for (const [name, [kind, status, code]] of Object.entries(errors)) {
      it.effect(`${name} answers ${status} ${code} in the envelope`, () =>
        Effect.gen(function*() {
          const answer = yield* everyKind[kind]()
          refused(answer, status, code)
          isEnvelope(answer)
          if (status === 401) assert.strictEqual(answer.at("error.message"), "Authentication required.")
        }))
    }

    it.effect("a wrong method names the right ones", () =>
      Effect.gen(function*() {
        const allow = (method: string, path: string) =>
          Effect.map(api(method, path, { as: asAdmin }), (answer) => {
            assert.strictEqual(answer.status, 405, `${method} ${path}`)
            return (answer.headers.get("allow") ?? "").split(", ").sort()
          })
        assert.includeMembers(yield* allow("DELETE", "/api/carts"), ["POST"])
        assert.includeMembers(yield* allow("DELETE", "/api/pricing/prices"), ["GET", "POST"])
        assert.includeMembers(yield* allow("PUT", `/api/carts/${randomUUID()}/items/${randomUUID()}`), [
          "DELETE",
          "PATCH"
        ])
        assert.includeMembers(yield* allow("POST", "/api/health"), ["GET"])
      }))

    const bodies: ReadonlyArray<readonly [body: string, status: number, code: string, contentType?: string]> = [
      ...["{", "{\"currency\":}", "[1,", "nul", "{\"currency\":\"USD\"}}"].map((body) =>
        [body, 400, "BAD_REQUEST"] as const
      ),
      ...["null", "[]", "\"text\"", "5", "true"].map((body) => [body, 422, "VALIDATION_FAILED"] as const),
      ...["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/json"].map((contentType) =>
        ["{\"currency\":\"USD\"}", 415, "UNSUPPORTED_MEDIA_TYPE", contentType] as const
      )
    ]
    for (const [body, status, code, contentType = "application/json"] of bodies) {
      it.effect(`the body ${body} as ${contentType} is refused with ${status}`, () =>
        Effect.gen(function*() {
          const answer = yield* api("POST", "/api/carts", { body, headers: { "content-type": contentType } })
          refused(answer, status, code)
          assert.notInclude(answer.text("error.message"), "SyntaxError")
        }))
    }

    it.effect("every issue of a body is named with path, message and code", () =>
      Effect.gen(function*() {
        const answer = yield* api("POST", "/api/pricing/prices", { as: asAdmin, body: { entityId: "x", amount: 1.5 } })
        refused(answer, 422, "VALIDATION_FAILED")
        const issues = answer.list("error.details.issues").map((issue) => Object(issue))
        assert.sameMembers(issues.map(({ path }) => path), ["entityId", "currency", "amount"])
        for (const issue of issues) assert.sameMembers(Object.keys(issue), ["path", "message", "code"])
        const recorded = issues.map(({ message }) => message).join(" ")
        assert.strictEqual(answer.at("error.message"), recorded)
      }))

    it.effect("JSON with a charset is supported", () =>
      Effect.gen(function*() {
        const headers = { "content-type": "application/json; charset=utf-8" }
        assert.strictEqual((yield* api("POST", "/api/carts", { body: { currency: "USD" }, headers })).status, 201)
      }))
  })

  describe("identifiers and numbers", () => {
    for (const id of ["1", "not-a-uuid", "00000000-0000-0000-0000-00000000000g", "'; drop table carts; --", "%00"]) {
      it.effect(`the id ${id} is refused as no UUID`, () =>
        Effect.gen(function*() {
          const answer = yield* api("GET", `/api/carts/${encodeURIComponent(id)}`, { as: asAdmin })
          refused(answer, 422, "VALIDATION_FAILED")
          assert.strictEqual(answer.at("error.details.issues.0.path"), "id")
        }))
    }

    for (const amount of ["9007199254740992", "9007199254740993", "1e400", "-1", "0.1", "\"1\"", "null"]) {
      it.effect(`the amount ${amount} is refused`, () =>
        Effect.gen(function*() {
          const body = `{"entityId":"${randomUUID()}","currency":"USD","amount":${amount}}`
          const answer = yield* api("POST", "/api/pricing/prices", { as: asAdmin, body })
          refused(answer, 422, "VALIDATION_FAILED")
          assert.strictEqual(answer.at("error.details.issues.0.path"), "amount")
        }))
    }

    it.effect("the greatest amount is kept to the unit", () =>
      Effect.gen(function*() {
        const made = yield* api("POST", "/api/catalog/entities", {
          as: asAdmin,
          body: { type: "product", slug: "dearest", status: "active" }
        })
        const price = yield* api("POST", "/api/pricing/prices", {
          as: asAdmin,
          body: { entityId: made.text("data.id"), currency: "USD", amount: 9_007_199_254_740_991 }
        })
        assert.deepStrictEqual([price.status, price.at("data.amount")], [201, 9_007_199_254_740_991])
      }))

    it.effect("page and limit never fail", () =>
      Effect.gen(function*() {
        for (
          const [query, page, limit] of [
            ["", 1, 20],
            ["page=0&limit=0", 1, 20],
            ["page=-1&limit=-5", 1, 20],
            ["page=x&limit=x", 1, 20],
            ["page=2&limit=100", 2, 100],
            ["page=3&limit=1000", 3, 100],
            ["page=1&limit=1e3", 1, 100]
          ] as const
        ) {
          const answer = yield* api("GET", `/api/orders?${query}`, { as: asAdmin })
          assert.strictEqual(answer.status, 200, query)
          assert.deepStrictEqual(answer.at("meta.pagination"), { page, limit, total: 0, totalPages: 1 }, query)
        }
      }))
  })

  describe("size", () => {
    it.effect("a declared body of more than 1 MB is refused", () =>
      Effect.gen(function*() {
        const body = { currency: "USD", padding: "x".repeat(megabyte) }
        const answer = yield* api("POST", "/api/carts", { body })
        refused(answer, 413, "PAYLOAD_TOO_LARGE")
        isEnvelope(answer)
      }))

    it.effect("a body just below 1 MB is read", () =>
      Effect.gen(function*() {
        const body = { currency: "USD", padding: "x".repeat(megabyte - 200) }
        assert.strictEqual((yield* api("POST", "/api/carts", { body })).status, 201)
      }))

    it.effect("a streamed body without a length is refused when it grows over 1 MB", () =>
      Effect.gen(function*() {
        const { url } = yield* TestApp
        const answer = yield* stream(`${url}/api/carts`, 32, Buffer.alloc(65_536, "x"))
        assert.strictEqual(answer.status, 413, answer.body)
        assert.strictEqual(JSON.parse(answer.body).error.code, "PAYLOAD_TOO_LARGE")
      }))

    // They take files, and hold to limits of their own while they read.
    const takesFiles = ["uploads.upload", "imports.create"]
    for (const { method, name, path } of endpoints().filter(({ name }) => !takesFiles.includes(name))) {
      it.effect(`${name} takes no streamed body of more than 1 MB, whether it reads one or not`, () =>
        Effect.gen(function*() {
          const { url } = yield* TestApp
          const place = path.replace(/:\w+/g, randomUUID())
          const answer = yield* stream(`${url}${place}`, 17, Buffer.alloc(65_536, "x"), false, method)
          assert.strictEqual(answer.status, 413, answer.body)
        }))
    }

    it.effect("a client that keeps connections is not sent to one that the refusal closed", () =>
      Effect.gen(function*() {
        const { url } = yield* TestApp
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        const large = yield* stream(`${url}/api/carts`, 32, Buffer.alloc(65_536, "x"), agent)
        const small = yield* stream(`${url}/api/carts`, 1, Buffer.from("{\"currency\":\"USD\"}"), agent)
        agent.destroy()
        assert.deepStrictEqual([large.status, small.status], [413, 201], small.body)
      }))
  })

  describe("other methods", () => {
    it.effect("HEAD answers like GET without a body", () =>
      Effect.gen(function*() {
        const [get, head] = [yield* api("GET", "/api/health"), yield* api("HEAD", "/api/health")]
        assert.deepStrictEqual([head.status, head.body], [200, ""])
        assert.strictEqual(head.headers.get("content-type"), get.headers.get("content-type"))
        assert.strictEqual((yield* api("HEAD", "/api/orders")).status, 401)
        assert.strictEqual((yield* api("HEAD", "/api/nothing")).status, 404)
      }))

    it.effect("health answers outside of the envelope", () =>
      Effect.gen(function*() {
        const answer = yield* api("GET", "/api/health")
        assert.deepStrictEqual(answer.body, { status: "ok", version: answer.text("version") })
        assert.match(answer.text("version"), /^\d+\.\d+\.\d+/)
      }))

    it.effect("the document and the explorer are public", () =>
      Effect.gen(function*() {
        assert.match((yield* api("GET", "/api/doc")).text("openapi"), /^3\.0\./)
        const explorer = yield* api("GET", "/api/reference")
        assert.include(explorer.headers.get("content-security-policy") ?? "", "default-src 'self'")
        assert.strictEqual(explorer.status, 200)
        assert.match(explorer.headers.get("content-type") ?? "", /^text\/html/)
      }))
  })

  describe("cross-origin", () => {
    const origin = "http://localhost:3000"
    const preflight = (from: string) =>
      api("OPTIONS", "/api/checkout", {
        headers: {
          origin: from,
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type,x-cart-secret,idempotency-key"
        }
      })
    const words = (answer: Answer, header: string) =>
      (answer.headers.get(header) ?? "").toLowerCase().split(",").map((word) => word.trim())

    it.effect("a preflight of a trusted origin is answered 204 with all that clients need", () =>
      Effect.gen(function*() {
        const answer = yield* preflight(origin)
        assert.deepStrictEqual([answer.status, answer.body], [204, ""])
        assert.strictEqual(answer.headers.get("access-control-allow-origin"), origin)
        assert.strictEqual(answer.headers.get("access-control-allow-credentials"), "true")
        assert.strictEqual(answer.headers.get("access-control-max-age"), "86400")
        assert.include(words(answer, "vary"), "origin")
        assert.includeMembers(
          words(answer, "access-control-allow-methods"),
          ["get", "post", "patch", "put", "delete", "options"]
        )
        assert.includeMembers(words(answer, "access-control-allow-headers"), [
          "content-type",
          "authorization",
          "x-api-key",
          "x-request-id",
          "x-store-id",
          "x-cart-secret",
          "idempotency-key",
          "prefer",
          "if-none-match"
        ])
      }))

    it.effect("answers of every kind let a trusted origin read them and the headers", () =>
      Effect.gen(function*() {
        for (const path of ["/api/health", "/api/nothing", "/api/orders"]) {
          const answer = yield* api("GET", path, { headers: { origin } })
          assert.strictEqual(answer.headers.get("access-control-allow-origin"), origin, path)
          assert.includeMembers(
            words(answer, "access-control-expose-headers"),
            [
              "x-request-id",
              "x-ratelimit-limit",
              "x-ratelimit-remaining",
              "x-ratelimit-reset",
              "retry-after",
              "etag",
              "location",
              "x-ignored-fields",
              "preference-applied",
              "set-auth-token"
            ],
            path
          )
        }
      }))

    it.effect("any other origin may not read, and gets no header that allows it", () =>
      Effect.gen(function*() {
        for (const other of ["https://evil.example", "http://localhost.evil.example:3000", "null"]) {
          assert.isNull((yield* preflight(other)).headers.get("access-control-allow-origin"), other)
          const answer = yield* api("GET", "/api/health", { headers: { origin: other } })
          assert.isNull(answer.headers.get("access-control-allow-origin"), other)
        }
      }))
  })
})
