import { assert, describe, it as plain, layer } from "@effect/vitest"
import { Effect } from "effect"
import { request } from "node:http"
import { hostTest } from "../../src/http/server/Origins.ts"
import { live, TestApp, testAppLayer } from "../support/TestApp.ts"

/** Status and body of a request under a host of the client's choice; 101 where a socket was opened. */
const under = Effect.fnUntraced(function*(
  host: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = "GET"
) {
  const { url } = yield* TestApp
  return yield* Effect.promise(() =>
    new Promise<{ readonly status: number; readonly body: string }>((resolve, reject) => {
      const sent = request(`${url}${path}`, {
        agent: false,
        method,
        headers: { "x-api-key": "dev-admin-key", ...headers, host }
      })
      sent.once("upgrade", (_, socket) => {
        socket.destroy()
        resolve({ status: 101, body: "" })
      })
      sent.once("response", (answer) => {
        let body = ""
        answer.setEncoding("utf8").on("data", (part: string) => body += part)
        answer.once("end", () => resolve({ status: answer.statusCode ?? 0, body }))
      })
      sent.once("error", reject).end()
    })
  )
})

const socket = {
  connection: "upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="
}

const app = testAppLayer({ server: { publicUrl: "https://shop.example" } })

layer(app, live)("a service outside of production", (it) => {
  it.effect("answers to names of its machine and to its public one, and refuses those that were made to lead to it", () =>
    Effect.gen(function*() {
      for (
        const host of ["localhost:4000", "api.localhost", "127.0.0.1", "127.8.9.10:1", "[::1]:4000", "shop.example"]
      ) {
        assert.strictEqual((yield* under(host, "/api/orders")).status, 200, host)
        assert.strictEqual((yield* under(host, "/rpc", socket)).status, 101, host)
      }
      for (
        const host of ["evil.example", "evil.example:4000", "localhost.evil.example", "x.shop.example"]
      ) {
        for (const path of ["/api/orders", "/api/auth/get-session", "/api/doc", "/api/health", "/nothing"]) {
          const answer = yield* under(host, path)
          assert.strictEqual(answer.status, 421, `${host} ${path}`)
          assert.strictEqual(JSON.parse(answer.body).error.code, "MISDIRECTED_REQUEST")
        }
        assert.strictEqual((yield* under(host, "/rpc", socket)).status, 421, host)
        assert.strictEqual((yield* under(host, "/rpc", {}, "POST")).status, 421, host)
        const preflight = { origin: "http://evil.example", "access-control-request-method": "POST" }
        assert.strictEqual((yield* under(host, "/api/carts", preflight, "OPTIONS")).status, 421, host)
      }
    }))
})

layer(testAppLayer({}, { environment: "production" }), live)(
  "a service in production",
  (it) => {
    it.effect("leaves the names to the proxy in front of it", () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* under("shop.example", "/api/catalog/entities")).status, 200)
      }))
  }
)

describe("the names of a machine", () => {
  plain("are those that no name server decides about", () => {
    const isOwn = hostTest(undefined, false)
    for (
      const host of [
        undefined,
        "LOCALHOST",
        "localhost.",
        "a.b.localhost:80",
        "2130706433",
        "[0:0:0:0:0:0:0:1]",
        "192.168.1.7:4000",
        "[fe80::1]:4000"
      ]
    ) {
      assert.isTrue(isOwn(host), host)
    }
    for (
      const host of ["", "evil", "localhost@evil", "127.0.0.1.evil", "notlocalhost", "a b", "%"]
    ) {
      assert.isFalse(isOwn(host), host)
    }
  })
})
