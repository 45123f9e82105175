import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
import { aKey, signIn } from "../access/People.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { api, TestApp, testAppLayer } from "../support/TestApp.ts"

/** The store that a request names; a broken request breaks it. */
const storeResolver = (request: Request) => {
  const store = request.headers.get("x-store-id")
  if (store === "broken") throw new Error("no answer")
  const path = new URL(request.url).searchParams.get("store")
  return Promise.resolve(store ?? path)
}

const openStore = (id: string) =>
  onDatabase((sql) => sql`insert into organizations (id, slug, name) values (${id}, ${id}, ${id})`)

/** The organization in which a request makes a cart. */
const storeOf = (headers: Record<string, string>, path = "/api/carts") =>
  Effect.map(
    api("POST", path, { headers, body: { currency: "USD" } }),
    (answer) => answer.status === 201 ? answer.at("data.organizationId") : answer.status
  )

const where = (store: string) => ({ "x-store-id": store })

const lenient = layer(testAppLayer({ auth: { storeResolver } }), { excludeTestServices: true, timeout: "60 seconds" })

lenient("a deployment that resolves stores", (it) => {
  it.effect("serves visitors and shoppers in the store that they name, and else in the default one", () =>
    Effect.gen(function*() {
      yield* openStore("org_a")
      const shopper = yield* signIn()
      for (const credential of [{}, shopper.bearer]) {
        assert.strictEqual(yield* storeOf({ ...credential, ...where("org_a") }), "org_a")
        assert.strictEqual(yield* storeOf(credential, "/api/carts?store=org_a"), "org_a")
        assert.strictEqual(yield* storeOf(credential), "org_default")
        assert.strictEqual(yield* storeOf({ ...credential, ...where("org_none") }), "org_default")
        assert.strictEqual(yield* storeOf({ ...credential, ...where("broken") }), "org_default")
        assert.strictEqual(yield* storeOf({ ...credential, ...where("x".repeat(5_000)) }), "org_default")
      }
    }))

  it.effect("leaves members, and keys of a store, where they belong", () =>
    Effect.gen(function*() {
      yield* openStore("org_m")
      const member = yield* signIn({ role: "owner" })
      const active = yield* signIn({ role: "owner", organization: "org_m", active: "org_m" })
      const key = yield* aKey({ role: "admin", organization: "org_m" })
      assert.strictEqual(yield* storeOf({ ...member.bearer, ...where("org_m") }), "org_default")
      assert.strictEqual(yield* storeOf({ ...active.bearer, ...where("org_default") }), "org_m")
      assert.strictEqual(yield* storeOf({ ...key.headers, ...where("org_default") }), "org_m")
    }))

  it.effect("gives nobody rights in a store by its name alone", () =>
    Effect.gen(function*() {
      yield* openStore("org_r")
      const owner = yield* signIn({ role: "owner", organization: "org_r" })
      const outsider = yield* signIn()
      const orders = (headers: Record<string, string>) =>
        api("GET", "/api/orders", { headers: { ...headers, ...where("org_r") } })
      assert.strictEqual((yield* orders(owner.bearer)).status, 200)
      refused(yield* orders(outsider.bearer), 403, "FORBIDDEN", "a shopper")
      refused(yield* orders({}), 401, "UNAUTHORIZED", "a visitor")
    }))

  it.effect("finds a store that was opened after somebody asked for it", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* storeOf(where("org_late")), "org_default")
      yield* openStore("org_late")
      yield* eventually("the new store", Effect.map(storeOf(where("org_late")), (store) => store === "org_late"))
    }))
})

const strict = layer(
  testAppLayer({ auth: { storeResolver, strictOrgResolution: true } }),
  { excludeTestServices: true, timeout: "60 seconds" }
)

strict("a deployment that is strict about stores", (it) => {
  it.effect("refuses whoever names none, an unknown one, or breaks the resolver", () =>
    Effect.gen(function*() {
      yield* openStore("org_a")
      const shopper = yield* signIn()
      for (const credential of [{}, shopper.bearer]) {
        for (const named of [{}, where("org_none"), where("broken")]) {
          const answer = yield* api("GET", "/api/catalog/entities", { headers: { ...credential, ...named } })
          refused(answer, 503, "ORG_RESOLUTION_FAILED", JSON.stringify(named))
        }
        assert.strictEqual(yield* storeOf({ ...credential, ...where("org_a") }), "org_a")
      }
    }))

  it.effect("serves members and keys without asking", () =>
    Effect.gen(function*() {
      const [member, key] = [yield* signIn({ role: "staff" }), yield* aKey({ role: "staff" })]
      for (const headers of [member.bearer, key.headers]) {
        assert.strictEqual((yield* api("GET", "/api/orders", { headers })).status, 200)
      }
    }))

  it.effect("answers what belongs to no store: health, metrics, documents, sign-in and events of providers", () =>
    Effect.gen(function*() {
      const { url } = yield* TestApp
      for (const path of ["/api/health", "/api/ready", "/health/live", "/api/doc", "/api/reference"]) {
        const { status } = yield* Effect.promise(() => fetch(`${url}${path}`))
        assert.notStrictEqual(status, 503, path)
      }
      assert.strictEqual((yield* api("GET", "/api/auth/get-session")).status, 200)
      const event = yield* api("POST", "/api/payments/webhook", { body: { type: "payment_intent.succeeded" } })
      refused(event, 400, "WEBHOOK_SIGNATURE_MISSING", "an event")
      refused(yield* api("GET", "/api/metrics"), 401, "UNAUTHORIZED", "metrics")
      const headers = { "x-api-key": "a-key-for-metrics-alone" }
      assert.strictEqual((yield* api("GET", "/api/metrics", { headers })).status, 200)
    }))
})

describe("settings of access that cannot be used", () => {
  type Auth = NonNullable<DeploymentConfig["auth"]>
  const scope = { prefix: "wh_", permissions: { orders: ["read"] } }
  const wrong: ReadonlyArray<readonly [auth: Auth, name: string]> = [
    [{ strictOrgResolution: true }, "auth.strictOrgResolution=\"true\""],
    [{ defaultOrganizationId: "a b" }, "auth.defaultOrganizationId=\"a b\""],
    [{ roles: { editor: ["*:read"] } }, "auth.roles.editor=\"*:read\""],
    [{ roles: { editor: { permissions: ["catalog update"] } } }, "auth.roles.editor=\"catalog update\""],
    [{ roles: { "a,b": [] } }, "auth.roles=\"a,b\""],
    [{ customerPermissions: [""] }, "auth.customerPermissions=\"\""],
    [{ apiKeys: { defaultPermissions: [":"] } }, "auth.apiKeys.defaultPermissions=\":\""],
    [{ apiKeyScopes: { default: scope } }, "auth.apiKeyScopes=\"default\""],
    [{ apiKeyScopes: { a: { ...scope, prefix: "stoa_x_" } } }, "auth.apiKeyScopes.a.prefix=\"stoa_x_\""],
    [{ apiKeyScopes: { a: scope, b: scope } }, "auth.apiKeyScopes.a.prefix=\"wh_\""],
    [
      { apiKeyScopes: { a: { ...scope, permissions: { "*": ["read"] } } } },
      "auth.apiKeyScopes.a.permissions=\"*:read\""
    ],
    [{ apiKeyScopes: { a: { ...scope, keyExpiration: 0 } } }, "auth.apiKeyScopes.a.keyExpiration=\"0\""],
    [
      { apiKeyScopes: { a: { ...scope, rateLimit: { timeWindow: 0, maxRequests: 1 } } } },
      "auth.apiKeyScopes.a.rateLimit="
    ]
  ]

  for (const [auth, name] of wrong) {
    it.effect(`${name} ends the start with a line that names it`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(readSettings({ auth }))
        assert.include(error.message, name)
        assert.match(error.message, /is not allowed: expected .+\.$/)
      }))
  }

  it.effect("are refused, and usable ones are not", () =>
    Effect.gen(function*() {
      const { access } = yield* readSettings({
        auth: {
          roles: { staff: ["orders:*"], manager: { permissions: ["catalog:read:unpublished", "*:*"] } },
          strictOrgResolution: true,
          defaultOrganizationId: "acme"
        }
      })
      assert.deepStrictEqual([access.strictOrgResolution, access.defaultOrganizationId], [true, "acme"])
      assert.deepStrictEqual(access.roles["staff"], ["orders:*"])
      assert.deepStrictEqual(access.roles["manager"], ["catalog:read:unpublished", "*:*"])
      assert.deepStrictEqual(access.roles["owner"], ["*:*"])
    }))

  it.effect("include one default organization under two names", () =>
    Effect.gen(function*() {
      const two = readSettings({ store: { defaultOrganizationId: "a" }, auth: { defaultOrganizationId: "b" } })
      assert.include((yield* Effect.flip(two)).message, "auth.defaultOrganizationId")
    }))
})
