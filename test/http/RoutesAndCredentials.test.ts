import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { endpoints } from "../../src/http/docs/Docs.ts"
import { refused } from "../checkout/CheckoutFixtures.ts"
import { api, asAdmin, at, withApp } from "../support/TestApp.ts"

const methods = ["get", "post", "put", "patch", "delete"]

/** The routes of the document, read from the running service. Who may call them: `test/access/matrix.txt`. */
const documented = Effect.map(
  api("GET", "/api/doc"),
  (document) =>
    Object.entries(Object(document.at("paths"))).flatMap(([path, item]) =>
      methods.filter((method) => at(item, method) !== undefined).map((method) => ({
        method: method.toUpperCase(),
        path
      }))
    )
)

withApp("access", (it) => {
  it.effect("every endpoint has a rule and is in the document, which has no other", () =>
    Effect.gen(function*() {
      const all = endpoints()
      assert.isAbove(all.length, 40)
      assert.deepStrictEqual(all.filter(({ rule }) => rule === undefined).map(({ name }) => name), [])
      const declared = all.map(({ method, path }) => `${method} ${path.replace(/:([^/]+)/g, "{$1}")}`)
      assert.sameMembers((yield* documented).map(({ method, path }) => `${method} ${path}`), declared)
      assert.strictEqual(new Set(declared).size, declared.length)
    }))

  it.effect("every path is routed for its methods and lists them when called with another", () =>
    Effect.gen(function*() {
      const byPath = Map.groupBy(yield* documented, ({ path }) => path)
      const answers = Effect.forEach(byPath, ([path, routes]) =>
        Effect.gen(function*() {
          const own = routes.map(({ method }) => method)
          const foreign = ["PUT", "DELETE", "PATCH", "POST", "GET"].find((method) => !own.includes(method))
          if (foreign === undefined) return
          const answer = yield* api(foreign, path.replace(/\{[^}]+\}/g, () => randomUUID()), { as: asAdmin })
          assert.strictEqual(answer.status, 405, `${foreign} ${path}`)
          assert.includeMembers((answer.headers.get("allow") ?? "").split(", "), own, path)
        }), { concurrency: 4, discard: true })
      yield* answers
    }))

  it.effect("invalid credentials are refused, also where an anonymous visitor is admitted", () =>
    Effect.gen(function*() {
      for (const key of ["wrong", ""]) {
        refused(yield* api("GET", "/api/orders", { headers: { "x-api-key": key } }), 401, "UNAUTHORIZED", key)
      }
      assert.strictEqual((yield* api("GET", "/api/catalog/entities")).status, 200)
      for (const authorization of ["Basic YTpi", "Bearer wrong", "Bearer", "dev-admin-key", ""]) {
        for (const path of ["/api/catalog/entities", "/api/orders"]) {
          refused(yield* api("GET", path, { headers: { authorization } }), 401, "UNAUTHORIZED", authorization)
        }
      }
    }))

  it.effect("an injected actor that is not valid is ignored, and the usual credentials count", () =>
    Effect.gen(function*() {
      for (const actor of ["{", "{}", "[]", "root", "null"]) {
        const headers = { "x-test-actor": actor }
        assert.strictEqual((yield* api("GET", "/api/catalog/entities", { headers })).status, 200, actor)
        refused(yield* api("GET", "/api/orders", { headers }), 401, "UNAUTHORIZED", actor)
        const known = { ...headers, "x-api-key": "dev-admin-key" }
        assert.strictEqual((yield* api("GET", "/api/orders", { headers: known })).status, 200, actor)
      }
    }))

  it.effect("the built-in test actors have short names", () =>
    Effect.gen(function*() {
      const statusOf = (method: string, path: string, actor: string, body?: object) =>
        Effect.map(api(method, path, { headers: { "x-test-actor": actor }, body }), ({ status }) => status)
      const seen: Record<string, ReadonlyArray<number>> = {}
      for (const actor of ["admin", "staff", "customer", "none"]) {
        seen[actor] = [
          yield* statusOf("GET", "/api/catalog/entities", actor),
          yield* statusOf("GET", "/api/orders", actor),
          yield* statusOf("GET", "/api/pricing/prices", actor),
          yield* statusOf("POST", "/api/carts", actor, { currency: "USD" })
        ]
      }
      assert.deepStrictEqual(seen, {
        admin: [200, 200, 200, 201],
        staff: [200, 200, 403, 403],
        customer: [200, 403, 403, 201],
        none: [403, 403, 403, 403]
      })
    }))
})
