import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { endpoints } from "../../src/http/docs/Docs.ts"
import { refused } from "../checkout/CheckoutFixtures.ts"
import { api, asAdmin, asAnonymous, at, withApp } from "../support/TestApp.ts"

/** Open to everyone: no permission is asked for. A route comes onto this list by decision, never by itself. */
const open: ReadonlySet<string> = new Set([
  "GET /api/health",
  "GET /api/ready",
  "GET /health/live",
  "GET /health/ready",
  "GET /api/jobs/run",
  "GET /api/downloads/{id}",
  "GET /api/media/files/{year}/{name}",
  "POST /api/jobs/run",
  "POST /api/payments/webhook",
  "POST /api/promotions/validate"
])

/** Whoever has signed in may do this for himself, whatever his permissions are (contract, platform §7). */
const personal: ReadonlySet<string> = new Set([
  "GET /api/me/profile",
  "GET /api/me/export",
  "GET /api/me/addresses",
  "POST /api/me/addresses",
  "DELETE /api/me/addresses/{id}",
  "GET /api/me/orders",
  "GET /api/me/orders/{idOrNumber}",
  "GET /api/me/orders/{idOrNumber}/notes",
  "GET /api/me/orders/{idOrNumber}/tracking",
  "GET /api/me/orders/{orderId}/downloads",
  "POST /api/me/orders/{orderId}/reorder"
])

/** Whoever has signed in as a customer is answered about what is his own; test/analytics/Scopes.test.ts says who sees what. */
const scoped: ReadonlySet<string> = new Set(["GET /api/analytics/meta", "POST /api/analytics/query"])

/**
 * What an anonymous visitor may do with the permissions of the role customer (contract §0.4): catalog:read,
 * cart:create, cart:read, cart:update, orders:create and orders:read:own.
 */
const storefront: ReadonlySet<string> = new Set([
  "GET /api/catalog/entities",
  "GET /api/catalog/entities/{id}",
  "GET /api/catalog/entities/{id}/attributes/{locale}",
  "GET /api/catalog/categories",
  "GET /api/catalog/categories/{categoryId}",
  "GET /api/catalog/categories/{categoryId}/subtree",
  "GET /api/media/{id}",
  "GET /api/catalog/brands",
  "GET /api/search",
  "GET /api/search/suggest",
  "POST /api/carts",
  "GET /api/carts/{id}",
  "POST /api/carts/{id}/items",
  "PATCH /api/carts/{id}/items/{itemId}",
  "DELETE /api/carts/{id}/items/{itemId}",
  "POST /api/checkout",
  "POST /api/shipping/quotes",
  "GET /api/orders/{idOrNumber}",
  "GET /api/orders/{id}/fulfillments",
  "GET /api/orders/{id}/invoice.pdf",
  "GET /api/orders/{id}/invoice.html",
  "GET /api/orders/{id}/receipt.html",
  // Who asks for a sensible order without being signed in is asked for credentials then.
  "POST /api/orders"
])

/** Routes of the session itself (contract, authentication): they answer in their own shape and are tested apart. */
const isAuthentication = (path: string) => path.startsWith("/api/auth/")

const methods = ["get", "post", "put", "patch", "delete"]

interface Documented {
  readonly method: string
  readonly path: string
  readonly key: string
}

/** The routes of the document, read from the running service. */
const documented = Effect.map(
  api("GET", "/api/doc"),
  (document) =>
    Object.entries(Object(document.at("paths"))).flatMap(([path, item]) =>
      methods.filter((method) => at(item, method) !== undefined).map((method): Documented => ({
        method: method.toUpperCase(),
        path,
        key: `${method.toUpperCase()} ${path}`
      }))
    )
)

/** A path with an identifier that nobody has in every place. */
const filled = (path: string) => path.replace(/\{[^}]+\}/g, () => randomUUID())

const call = ({ method, path }: Documented, as?: typeof asAdmin) =>
  api(method, filled(path), { ...(as && { as }), ...(method === "GET" || method === "DELETE" ? {} : { body: {} }) })

/** Runs a check for every route and names the routes that fail it. */
const failing = Effect.fnUntraced(function*<R>(
  routes: ReadonlyArray<Documented>,
  check: (route: Documented) => Effect.Effect<string | undefined, never, R>
) {
  const found = yield* Effect.forEach(
    routes,
    (route) => Effect.map(check(route), (why) => why && `${route.key}: ${why}`),
    {
      concurrency: 4
    }
  )
  return found.filter((one) => one !== undefined && one !== "")
})

withApp("access", (it) => {
  it.effect("the document tells of the whole service", () =>
    Effect.gen(function*() {
      const routes = yield* documented
      assert.isAbove(routes.length, 40)
      const keys = new Set(routes.map(({ key }) => key))
      for (const key of open) assert.isTrue(keys.has(key), key)
      assert.isTrue(keys.has("POST /api/checkout"))
    }))

  it.effect("somebody signed in without permissions is forbidden everything that is neither open nor his own", () =>
    Effect.gen(function*() {
      const guarded = (yield* documented).filter(({ key, path }) =>
        !open.has(key) && !personal.has(key) && !scoped.has(key) && !isAuthentication(path)
      )
      const wrong = yield* failing(
        guarded,
        (route) =>
          Effect.map(
            call(route, asAnonymous),
            (answer) =>
              answer.status === 403 && answer.at("error.code") === "FORBIDDEN"
                ? undefined
                : `${answer.status} ${JSON.stringify(answer.body)}`
          )
      )
      assert.deepStrictEqual(wrong, [])
    }))

  it.effect("an anonymous visitor is asked for credentials wherever a customer may not go", () =>
    Effect.gen(function*() {
      const guarded = (yield* documented).filter(({ key, path }) =>
        !open.has(key) && !storefront.has(key) && !isAuthentication(path)
      )
      const wrong = yield* failing(
        guarded,
        (route) =>
          Effect.map(call(route), (answer) =>
            answer.status === 401 && answer.at("error.code") === "UNAUTHORIZED"
              ? undefined
              : `${answer.status} ${JSON.stringify(answer.body)}`)
      )
      assert.deepStrictEqual(wrong, [])
    }))

  it.effect("what is one's own asks for a signed-in person: a key of the API is none", () =>
    Effect.gen(function*() {
      const own = (yield* documented).filter(({ path }) => path.startsWith("/api/me/") || path === "/api/me")
      assert.includeMembers(own.map(({ key }) => key), [...personal])
      const wrong = yield* failing(own, (route) =>
        Effect.map(
          api(route.method, filled(route.path), {
            headers: { "x-api-key": "dev-admin-key" },
            ...(route.method === "GET" || route.method === "DELETE" ? {} : { body: {} })
          }),
          (answer) =>
            answer.status === 401 && answer.at("error.code") === "UNAUTHORIZED" ? undefined : `${answer.status}`
        ))
      assert.deepStrictEqual(wrong, [])
    }))

  it.effect("an anonymous visitor is let into the storefront, and open routes ask for nothing", () =>
    Effect.gen(function*() {
      const free = (yield* documented).filter(({ key }) => open.has(key) || storefront.has(key))
      const wrong = yield* failing(
        free,
        (route) =>
          Effect.map(call(route), ({ status }) => status === 401 || status === 403 ? String(status) : undefined)
      )
      assert.deepStrictEqual(wrong, [])
    }))

  it.effect("every path is routed for its methods and tells of them when asked by another", () =>
    Effect.gen(function*() {
      const routes = yield* documented
      const paths = [...new Set(routes.map(({ path }) => path))]
      const wrong = yield* failing(
        paths.map((path) => ({ method: "", path, key: path })),
        ({ path }) =>
          Effect.gen(function*() {
            const own = routes.filter((route) => route.path === path).map(({ method }) => method)
            const foreign = ["PUT", "DELETE", "PATCH", "POST", "GET"].find((method) => !own.includes(method))
            if (foreign === undefined) return undefined
            const answer = yield* api(foreign, filled(path), { as: asAdmin })
            const allow = (answer.headers.get("allow") ?? "").split(", ")
            const recorded = answer.status === 405 && own.every((method) => allow.includes(method))
            return recorded
              ? undefined
              : `${foreign} gave ${answer.status} with Allow ${allow.join(" ")}, documented ${own}`
          })
      )
      assert.deepStrictEqual(wrong, [])
    }))

  it.effect("no route fails on an administrator's empty request", () =>
    Effect.gen(function*() {
      const routes = (yield* documented).filter(({ path }) => !isAuthentication(path))
      const wrong = yield* failing(routes, (route) =>
        Effect.map(call(route, asAdmin), (answer) => {
          const unrouted = answer.status === 404 && answer.at("error.message") === "Not found."
          return answer.status >= 500 || unrouted ? `${answer.status} ${JSON.stringify(answer.body)}` : undefined
        }))
      assert.deepStrictEqual(wrong, [])
    }))

  it.effect("no credential is not a weak one: unknown keys, bearer tokens and broken actors are not let in", () =>
    Effect.gen(function*() {
      for (
        const headers of [
          { "x-api-key": "wrong" },
          { "x-api-key": "" },
          { authorization: "Bearer wrong" },
          { authorization: "Basic YTpi" }
        ]
      ) {
        refused(yield* api("GET", "/api/orders", { headers }), 401, "UNAUTHORIZED", JSON.stringify(headers))
      }
    }))

  it.effect("credentials that are not valid do not make an anonymous visitor where one would be let in", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* api("GET", "/api/catalog/entities")).status, 200)
      for (const authorization of ["Basic YTpi", "Bearer wrong", "Bearer", "dev-admin-key", ""]) {
        const answer = yield* api("GET", "/api/catalog/entities", { headers: { authorization } })
        refused(answer, 401, "UNAUTHORIZED", authorization)
      }
    }))

  it.effect("an injected actor that is none is ignored, and the usual credentials count", () =>
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

  describe("rules", () => {
    it.effect("every endpoint has one", () =>
      Effect.sync(() => {
        assert.isAbove(endpoints().length, 40)
        assert.deepStrictEqual(endpoints().filter(({ rule }) => rule === undefined).map(({ name }) => name), [])
      }))

    it.effect("every endpoint is in the document, and the document has no other", () =>
      Effect.gen(function*() {
        const declared = endpoints().map(({ method, path }) => `${method} ${path.replace(/:([^/]+)/g, "{$1}")}`)
        assert.sameMembers((yield* documented).map(({ key }) => key), declared)
        assert.strictEqual(new Set(declared).size, declared.length)
      }))
  })
})
