import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { createServer } from "node:http"
import { Access, open } from "../../src/domain/access/AccessRule.ts"
import { anonymousActor } from "../../src/domain/access/Actor.ts"
import { Unauthorized } from "../../src/domain/errors/ApiErrors.ts"
import { Actors, type Credential } from "../../src/http/access/Actors.ts"
import { AccessControl } from "../../src/http/middleware/Access.ts"
import { accessLayer } from "../../src/http/middleware/AccessLayer.ts"
import { originTest, TrustedOrigins } from "../../src/http/server/Cors.ts"
import { isCrossSite } from "../../src/http/server/CrossSite.ts"
import { edge } from "../../src/http/server/Edge.ts"
import { RateLimiting } from "../../src/http/server/RateLimiting.ts"
import { api, withApp } from "../support/TestApp.ts"

const methods = ["POST", "PUT", "PATCH", "DELETE", "GET"] as const

/** A route for each method that changes something, if it is let through. */
const Probe = HttpApi.make("probe").add(
  HttpApiGroup.make("probe").add(
    HttpApiEndpoint.post("POST", "/api/probe").annotate(Access, open),
    HttpApiEndpoint.put("PUT", "/api/probe").annotate(Access, open),
    HttpApiEndpoint.patch("PATCH", "/api/probe").annotate(Access, open),
    HttpApiEndpoint.delete("DELETE", "/api/probe").annotate(Access, open),
    HttpApiEndpoint.get("GET", "/api/probe").annotate(Access, open)
  ).middleware(AccessControl)
)

const changed = () => Effect.succeed(HttpServerResponse.jsonUnsafe({ data: "changed" }))

const handlers = HttpApiBuilder.group(
  Probe,
  "probe",
  (routes) =>
    routes.handleRaw("POST", changed).handleRaw("PUT", changed).handleRaw("PATCH", changed)
      .handleRaw("DELETE", changed).handleRaw("GET", changed)
)

/** Knows one key, one token and one cookie; a key that it does not know counts for nothing beside a cookie. */
const actors = Layer.succeed(Actors, {
  fromSession: () => Effect.succeed({ ...anonymousActor("org_default", []), credential: "none" }),
  fromHeaders: (headers) => {
    const known = (credential: Credential) => Effect.succeed({ ...anonymousActor("org_default", []), credential })
    if (headers["authorization"] === "Bearer good") return known("bearer")
    if (headers["cookie"]?.includes("session_token=good")) return known("cookie")
    if (headers["x-api-key"] === "good") return known("key")
    return headers["x-api-key"] === undefined ? known("none") : Effect.fail(Unauthorized.of())
  }
})

const standing = { admitted: true, limit: 1, remaining: 1, resetsAt: 0, resetsInMs: 0 }
const limiting = RateLimiting.of({
  arrive: () => Effect.succeed(true),
  identify: () => Effect.void,
  mail: () => Effect.succeed(true),
  signIn: () => Effect.succeed(true),
  outsider: () => Effect.void,
  mayGuess: () => Effect.succeed(true),
  guessed: () => Effect.void,
  leave: () => Effect.succeed(standing)
})
const isTrusted = originTest(["https://shop.example"], true)
const doubles = Layer.mergeAll(
  actors,
  Layer.succeed(RateLimiting, limiting),
  Layer.succeed(TrustedOrigins, { isTrusted, production: false })
)

class ProbeUrl extends Context.Service<ProbeUrl, string>()("stoa/test/http/ProbeUrl") {}

const served = Layer.unwrap(Effect.gen(function*() {
  const router = HttpApiBuilder.layer(Probe).pipe(
    Layer.provide(handlers),
    Layer.provide(Layer.provide(accessLayer, doubles))
  )
  const app = yield* HttpRouter.toHttpEffect(router)
  const farewell = { begun: false, waitsFor: "" }
  const options = {
    production: false,
    allowedOrigin: isTrusted,
    isProxy: undefined,
    farewell,
    isOwnHost: () => true,
    limiting,
    methodsOf: () => []
  }
  return HttpServer.serve(edge(app, options))
})).pipe(Layer.provide(NodeHttpServer.layerHttpServices))

const probe = Layer.effect(
  ProbeUrl,
  Effect.map(HttpServer.HttpServer, ({ address }) => "port" in address ? `http://127.0.0.1:${address.port}` : "")
).pipe(
  Layer.provideMerge(served),
  Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
)

const credentials = {
  cookie: { cookie: "uc.session_token=good" },
  bearer: { authorization: "Bearer good" },
  key: { "x-api-key": "good" },
  "forged key + cookie": { cookie: "uc.session_token=good", "x-api-key": "forged" },
  none: {}
} as const

const origins = {
  "no Origin": () => ({}),
  "the same": (url: string) => ({ origin: url }),
  "a trusted one": () => ({ origin: "https://shop.example" }),
  "a foreign one": () => ({ origin: "https://evil.example" }),
  null: () => ({ origin: "null" })
} as const

const contentTypes = ["application/json", "text/plain", "application/x-www-form-urlencoded"] as const

/** What is let through from where; a key or a token from everywhere. */
const allowed: Readonly<Record<string, ReadonlyArray<string>>> = {
  cookie: ["the same", "a trusted one"],
  "forged key + cookie": ["the same", "a trusted one"],
  none: ["no Origin", "the same", "a trusted one"],
  bearer: Object.keys(origins),
  key: Object.keys(origins)
}

const send = (headers: Readonly<Record<string, string>>, method = "POST") =>
  Effect.flatMap(ProbeUrl, (url) =>
    Effect.promise(async () => {
      const response = await fetch(`${url}/api/probe`, {
        method,
        headers,
        ...(method === "GET" ? {} : { body: "{}" })
      })
      return { status: response.status, body: JSON.parse(await response.text()) }
    }))

layer(probe, { excludeTestServices: true })("a change", (it) => {
  for (const [credential, shown] of Object.entries(credentials)) {
    for (const [name, origin] of Object.entries(origins)) {
      const passes = allowed[credential]?.includes(name) === true
      it.effect(`with ${credential} and ${name} as origin is ${passes ? "made" : "refused"}, of any type`, () =>
        Effect.gen(function*() {
          const url = yield* ProbeUrl
          for (const type of contentTypes) {
            const { body, status } = yield* send({ ...shown, ...origin(url), "content-type": type })
            assert.strictEqual(status, passes ? 200 : 403, type)
            if (!passes) assert.strictEqual(body.error.code, "CSRF_ORIGIN_REJECTED")
          }
        }))
    }
  }

  it.effect("with a cookie is made from where the browser or the referrer says that it is no other site", () =>
    Effect.gen(function*() {
      const url = yield* ProbeUrl
      const statusOf = (headers: Readonly<Record<string, string>>) =>
        Effect.map(send({ ...credentials.cookie, ...headers }), ({ status }) => status)
      assert.strictEqual(yield* statusOf({ "sec-fetch-site": "same-origin" }), 200)
      assert.strictEqual(yield* statusOf({ "sec-fetch-site": "same-origin", origin: "null" }), 200)
      for (const site of ["same-site", "cross-site", "none", "nonsense"]) {
        assert.strictEqual(yield* statusOf({ "sec-fetch-site": site }), 403, site)
      }
      assert.strictEqual(yield* statusOf({ referer: `${url}/cart?a=1` }), 200)
      assert.strictEqual(yield* statusOf({ referer: "https://shop.example/cart" }), 200)
      for (const referer of ["https://evil.example/https://shop.example", "https://shop.example.evil.example/", "x"]) {
        assert.strictEqual(yield* statusOf({ referer }), 403, referer)
      }
    }))

  it.effect("is held to it by every method that changes something, and reading is not", () =>
    Effect.gen(function*() {
      for (const method of methods) {
        const { status } = yield* send({ ...credentials.cookie, origin: "https://evil.example" }, method)
        assert.strictEqual(status, method === "GET" ? 200 : 403, method)
      }
    }))

  it.effect("with a forged key alone is not authenticated, from any origin", () =>
    Effect.gen(function*() {
      const { status } = yield* send({ "x-api-key": "forged", origin: "https://evil.example" })
      assert.strictEqual(status, 401)
    }))
})

describe("the same origin", () => {
  const changing = (origin: string, host: string) =>
    HttpServerRequest.fromWeb(
      new Request("http://localhost/api/carts", { method: "POST", headers: { origin, host } })
    )

  it("is one host, with or without its usual port, and in production over TLS alone", () => {
    const foreign = (origin: string, host: string, production: boolean) =>
      isCrossSite(changing(origin, host), "cookie", () => false, production)
    for (const production of [true, false]) {
      assert.isFalse(foreign("https://stoa.example", "stoa.example", production))
      assert.isFalse(foreign("https://stoa.example", "Stoa.example:443", production))
      assert.isFalse(foreign("https://stoa.example:8443", "stoa.example:8443", production))
      assert.isTrue(foreign("https://stoa.example:8443", "stoa.example", production))
      assert.isTrue(foreign("https://stoa.example.evil.example", "stoa.example", production))
      assert.isTrue(foreign("https://evil.example", "stoa.example", production))
      assert.isTrue(foreign("null", "null", production))
      assert.isTrue(foreign("file://stoa.example", "stoa.example", production))
    }
    assert.isTrue(foreign("http://stoa.example", "stoa.example", true))
    assert.isFalse(foreign("http://stoa.example:80", "stoa.example", false))
  })
})

withApp("the service", (it) => {
  it.effect("refuses a visitor's change from another site, and takes it with a key", () =>
    Effect.gen(function*() {
      const make = (headers: Readonly<Record<string, string>>) =>
        Effect.map(api("POST", "/api/carts", { body: { currency: "USD" }, headers }), (answer) => [
          answer.status,
          answer.at("error.code")
        ])
      const origin = "https://evil.example"
      assert.deepStrictEqual(yield* make({ origin }), [403, "CSRF_ORIGIN_REJECTED"])
      assert.deepStrictEqual(yield* make({ origin, "x-api-key": "dev-admin-key" }), [201, undefined])
      assert.deepStrictEqual(yield* make({ origin, authorization: "Bearer dev-admin-key" }), [201, undefined])
      assert.deepStrictEqual(yield* make({ origin, "x-api-key": "forged" }), [401, "UNAUTHORIZED"])
      assert.deepStrictEqual(yield* make({ origin: "http://localhost:3000" }), [201, undefined])
      assert.deepStrictEqual(yield* make({}), [201, undefined])
    }))
})
