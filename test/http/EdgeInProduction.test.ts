import { assert, describe, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { connect } from "node:net"
import { api, TestApp, testAppLayer } from "../support/TestApp.ts"

const shop = "https://shop.example"

/** As in production behind a proxy, with little time for slow senders. */
const inProduction = layer(
  testAppLayer(
    { auth: { trustedOrigins: [shop] }, server: { requestTimes: { headersMs: 300, requestMs: 900 } } },
    { environment: "production", trustedProxy: Option.some("127.0.0.1") }
  ),
  { excludeTestServices: true, timeout: "60 seconds" }
)

/**
 * Everything that comes back over a connection until the service ends it. `more` is sent letter by letter meanwhile,
 * one whenever the service has answered another request.
 */
const converse = (begin: string, more = "") =>
  Effect.flatMap(TestApp, ({ url }) =>
    Effect.callback<string>((resume) => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1", async () => {
        socket.write(begin)
        for (const letter of more) {
          if (!socket.writable) break
          await fetch(`${url}/health/live`)
          socket.write(letter)
        }
      })
      let heard = ""
      socket.on("data", (part: Buffer) => {
        heard += part.toString()
      })
      socket.on("error", () => undefined)
      socket.on("close", () => resume(Effect.succeed(heard)))
    }))

const isRefused = (heard: string, status: number, code: string) => {
  const [head = "", body = ""] = heard.split("\r\n\r\n")
  assert.match(head, new RegExp(`^HTTP/1.1 ${status} `))
  assert.match(head, /\r\nx-request-id: [\w-]{8,}/i)
  assert.match(head, /\r\nconnection: close/i)
  assert.strictEqual(JSON.parse(body).error.code, code)
}

inProduction("the edge in production", (it) => {
  describe("a slow sender", () => {
    it.effect("loses the connection when the headers do not arrive, at once or byte by byte", () =>
      Effect.gen(function*() {
        const begin = "GET /api/health HTTP/1.1\r\nHost: shop\r\n"
        isRefused(yield* converse(begin), 408, "REQUEST_TIMEOUT")
        isRefused(yield* converse(begin, "X-Slow: and slower\r\n".repeat(100)), 408, "REQUEST_TIMEOUT")
      }))

    it.effect("loses the connection when the body does not arrive", () =>
      Effect.gen(function*() {
        const begin = "POST /api/carts HTTP/1.1\r\nHost: shop\r\nContent-Type: application/json\r\n"
        isRefused(yield* converse(`${begin}Content-Length: 500\r\n\r\n{`, " ".repeat(400)), 408, "REQUEST_TIMEOUT")
        isRefused(yield* converse(`${begin}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`), 408, "REQUEST_TIMEOUT")
      }))

    it.effect("does not keep other clients waiting", () =>
      Effect.gen(function*() {
        const slow = Array.from({ length: 50 }, () => converse("GET / HTTP/1.1\r\n"))
        const [health] = yield* Effect.all([api("GET", "/api/health"), ...slow], { concurrency: "unbounded" })
        assert.strictEqual(health.status, 200)
      }))
  })

  it.effect("invalid HTTP and too many headers are refused in the envelope", () =>
    Effect.gen(function*() {
      isRefused(yield* converse("HELLO\r\n\r\n"), 400, "BAD_REQUEST")
      isRefused(
        yield* converse(
          "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        400,
        "BAD_REQUEST"
      )
      isRefused(
        yield* converse(`GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`),
        431,
        "HEADERS_TOO_LARGE"
      )
    }))

  it.effect("answers demand TLS for a year, but not those to a client that came without", () =>
    Effect.gen(function*() {
      const transport = (headers: Readonly<Record<string, string>>) =>
        Effect.map(api("GET", "/api/nothing", { headers }), (answer) => answer.headers.get("strict-transport-security"))
      const demanded = "max-age=31536000; includeSubDomains"
      assert.strictEqual(yield* transport({}), demanded)
      assert.strictEqual(yield* transport({ "x-forwarded-proto": "https" }), demanded)
      assert.isNull(yield* transport({ "x-forwarded-proto": "http" }))
    }))

  it.effect("only pages of listed origins may read answers and act for their visitors", () =>
    Effect.gen(function*() {
      for (const origin of [shop, "http://localhost:3000", "https://evil.example", "http://shop.example", "null"]) {
        const read = yield* api("GET", "/api/health", { headers: { origin } })
        assert.strictEqual(read.headers.get("access-control-allow-origin"), origin === shop ? shop : null, origin)
        assert.strictEqual(read.headers.get("vary"), "Origin")
        const acted = yield* api("POST", "/api/carts", { body: { currency: "USD" }, headers: { origin } })
        assert.strictEqual(acted.status, origin === shop ? 201 : 403, origin)
      }
      assert.strictEqual((yield* api("GET", "/api/health")).headers.get("vary"), "Origin", "caches keep them apart")
    }))

  it.effect("answers to requests with credentials are stored by no cache", () =>
    Effect.gen(function*() {
      const cached = (headers: Readonly<Record<string, string>>) =>
        Effect.map(api("GET", "/api/catalog/entities", { headers }), (answer) => answer.headers.get("cache-control"))
      assert.isNull(yield* cached({}))
      for (const name of ["authorization", "x-api-key", "x-cart-secret"]) {
        assert.strictEqual(yield* cached({ [name]: "anything" }), "no-store", name)
      }
      assert.strictEqual(yield* cached({ cookie: "a=b; __Secure-uc.session_token=x" }), "no-store")
    }))
})
