import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import type { Credential } from "../../src/http/access/Actors.ts"
import { isCrossSite, originTest } from "../../src/http/server/Origins.ts"
import { signIn } from "../access/People.ts"
import { api, withApp } from "../support/TestApp.ts"

const isTrusted = originTest(["https://shop.example"], true)

type Sent = Readonly<Record<string, string>>

const request = (headers: Sent, method = "POST") =>
  HttpServerRequest.fromWeb(
    new Request("http://localhost/api/carts", { method, headers: { host: "stoa.example", ...headers } })
  )

/** Whether a request to a service outside of production passes. */
const passes = (credential: Credential, headers: Sent, method?: string) =>
  !isCrossSite(request(headers, method), credential, isTrusted, false)

const origins: Readonly<Record<string, Sent>> = {
  "no origin": {},
  "the same origin": { origin: "http://stoa.example" },
  "a trusted origin": { origin: "https://shop.example" },
  "a foreign origin": { origin: "https://evil.example" },
  "the origin null": { origin: "null" }
}

/** The origins from which a credential may change something; a key or a token from every one. */
const allowed: Readonly<Record<Exclude<Credential, "test">, ReadonlyArray<string>>> = {
  cookie: ["the same origin", "a trusted origin"],
  none: ["no origin", "the same origin", "a trusted origin"],
  bearer: Object.keys(origins),
  key: Object.keys(origins)
}

describe("a change", () => {
  for (const credential of ["cookie", "none", "bearer", "key"] as const) {
    it(`with the credential ${credential} passes from ${allowed[credential].join(", ")} only`, () => {
      for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded"]) {
        const passing = Object.entries(origins).filter(([, sent]) =>
          passes(credential, { ...sent, "content-type": type })
        )
        assert.deepStrictEqual(passing.map(([name]) => name), allowed[credential], type)
      }
    })
  }

  it("with a cookie passes where the browser or the referrer names the same site", () => {
    const cases: ReadonlyArray<readonly [headers: Sent, passing: boolean]> = [
      [{ "sec-fetch-site": "same-origin" }, true],
      [{ "sec-fetch-site": "same-origin", origin: "null" }, true],
      ...["same-site", "cross-site", "none", "nonsense"].map((site) => [{ "sec-fetch-site": site }, false] as const),
      [{ referer: "http://stoa.example/cart?a=1" }, true],
      [{ referer: "https://shop.example/cart" }, true],
      [{ referer: "https://evil.example/https://shop.example" }, false],
      [{ referer: "https://shop.example.evil.example/" }, false],
      [{ referer: "x" }, false]
    ]
    for (const [headers, passing] of cases) {
      assert.strictEqual(passes("cookie", headers), passing, JSON.stringify(headers))
    }
  })

  it("is checked for every unsafe method, and reading is not", () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "GET"]) {
      assert.strictEqual(passes("cookie", { origin: "https://evil.example" }, method), method === "GET", method)
    }
  })

  it("passes from the same host, with or without its usual port, and in production over TLS alone", () => {
    const foreign = (origin: string, host: string, production: boolean) =>
      isCrossSite(request({ origin, host }), "cookie", () => false, production)
    const cases: ReadonlyArray<readonly [origin: string, host: string, foreign: boolean]> = [
      ["https://stoa.example", "stoa.example", false],
      ["https://stoa.example", "Stoa.example:443", false],
      ["https://stoa.example:8443", "stoa.example:8443", false],
      ["https://stoa.example:8443", "stoa.example", true],
      ["https://stoa.example.evil.example", "stoa.example", true],
      ["https://evil.example", "stoa.example", true],
      ["null", "null", true],
      ["file://stoa.example", "stoa.example", true]
    ]
    for (const [origin, host, expected] of cases) {
      for (const production of [true, false]) assert.strictEqual(foreign(origin, host, production), expected, origin)
    }
    assert.isTrue(foreign("http://stoa.example", "stoa.example", true))
    assert.isFalse(foreign("http://stoa.example:80", "stoa.example", false))
  })
})

withApp("the service", (it) => {
  it.effect("refuses a visitor's or a session's change from another site, and takes it with a key", () =>
    Effect.gen(function*() {
      const { cookie } = yield* signIn({ role: "admin" })
      const make = (headers: Sent) =>
        Effect.map(api("POST", "/api/carts", { body: { currency: "USD" }, headers }), (answer) => [
          answer.status,
          answer.at("error.code")
        ])
      const origin = "https://evil.example"
      const rejected = [403, "CSRF_ORIGIN_REJECTED"]
      assert.deepStrictEqual(yield* make({ origin }), rejected)
      assert.deepStrictEqual(yield* make({ origin, ...cookie }), rejected)
      assert.deepStrictEqual(yield* make({ ...cookie }), rejected)
      assert.deepStrictEqual(yield* make({ origin: "http://localhost:3000", ...cookie }), [201, undefined])
      assert.deepStrictEqual(yield* make({ origin, "x-api-key": "dev-admin-key" }), [201, undefined])
      assert.deepStrictEqual(yield* make({ origin, authorization: "Bearer dev-admin-key" }), [201, undefined])
      assert.deepStrictEqual(yield* make({ origin, "x-api-key": "forged" }), [401, "UNAUTHORIZED"])
      const [status] = yield* make({ origin, "x-api-key": "forged", ...cookie })
      assert.include([401, 403], status, "a forged key does not lift the check of a cookie")
      assert.deepStrictEqual(yield* make({ origin: "http://localhost:3000" }), [201, undefined])
      assert.deepStrictEqual(yield* make({}), [201, undefined])
    }))
})
