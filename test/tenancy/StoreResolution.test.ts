import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
import { aKey, signIn } from "../access/People.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { api, TestApp, testAppLayer } from "../support/TestApp.ts"

/** The store that a request names; fails for `broken`. */
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
  it.effect("a deployment that resolves stores serves visitors and shoppers in the store that they name, and else in the default one", () =>
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

  it.effect("a deployment that resolves stores keeps members and keys of a store in their store, whichever store they name", () =>
    Effect.gen(function*() {
      yield* openStore("org_m")
      const member = yield* signIn({ role: "owner" })
      const active = yield* signIn({ role: "owner", organization: "org_m", active: "org_m" })
      const key = yield* aKey({ role: "admin", organization: "org_m" })
      assert.strictEqual(yield* storeOf({ ...member.bearer, ...where("org_m") }), "org_default")
      assert.strictEqual(yield* storeOf({ ...active.bearer, ...where("org_default") }), "org_m")
      assert.strictEqual(yield* storeOf({ ...key.headers, ...where("org_default") }), "org_m")
    }))

  it.effect("a deployment that resolves stores grants no rights in a store to a request that only names it", () =>
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

  it.effect("a deployment that resolves stores finds a store that was opened after a request for it", () =>
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
  it.effect("a deployment that is strict about stores refuses a request that names no store, an unknown one, or breaks the resolver", () =>
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

  it.effect("a deployment that is strict about stores serves members and keys without the resolver", () =>
    Effect.gen(function*() {
      const [member, key] = [yield* signIn({ role: "staff" }), yield* aKey({ role: "staff" })]
      for (const headers of [member.bearer, key.headers]) {
        assert.strictEqual((yield* api("GET", "/api/orders", { headers })).status, 200)
      }
    }))

  it.effect("a deployment that is strict about stores serves routes of no store: health, metrics, documents, sign-in and events of providers", () =>
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

const ofItsOwn = layer(testAppLayer({ store: { defaultOrganizationId: "acme", defaultCurrency: "EUR" } }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})

ofItsOwn("a deployment that names its organization", (it) => {
  it.effect("a deployment that names its organization creates the organization at the first start and writes to it", () =>
    Effect.gen(function*() {
      const headers = { "x-api-key": "dev-admin-key" }
      const entity = yield* api("POST", "/api/catalog/entities", { headers, body: { type: "product", slug: "mug" } })
      assert.deepStrictEqual([entity.status, entity.at("data.organizationId")], [201, "acme"])
      const category = yield* api("POST", "/api/catalog/categories", { headers, body: { slug: "mug" } })
      const cart = yield* api("POST", "/api/carts", { body: { currency: "EUR" } })
      assert.deepStrictEqual([category.status, cart.status, cart.at("data.organizationId")], [201, 201, "acme"])
    }))
})

describe("the settings of stores and access", () => {
  const scope = { prefix: "wh_", permissions: { orders: ["read"] } }
  const access = (auth: NonNullable<DeploymentConfig["auth"]>) => ({ auth })
  const scopes = (one: object) => access({ apiKeyScopes: { a: { ...scope, ...one } } })
  const wrong: ReadonlyArray<readonly [config: DeploymentConfig, name: string]> = [
    [{ store: { defaultCurrency: "EURO" } }, "store.defaultCurrency=\"EURO\""],
    [{ store: { defaultCurrency: "XXX" } }, "store.defaultCurrency=\"XXX\""],
    [{ store: { defaultCurrency: "eur" } }, "store.defaultCurrency=\"eur\""],
    [{ store: { defaultOrganizationId: "" } }, "store.defaultOrganizationId=\"\""],
    [{ store: { defaultOrganizationId: "a b" } }, "store.defaultOrganizationId=\"a b\""],
    [{ store: { defaultOrganizationId: "o".repeat(65) } }, "store.defaultOrganizationId="],
    [access({ strictOrgResolution: true }), "auth.strictOrgResolution=\"true\""],
    [access({ defaultOrganizationId: "a b" }), "auth.defaultOrganizationId=\"a b\""],
    [access({ roles: { editor: ["*:read"] } }), "auth.roles.editor=\"*:read\""],
    [access({ roles: { editor: { permissions: ["catalog update"] } } }), "auth.roles.editor=\"catalog update\""],
    [access({ roles: { "a,b": [] } }), "auth.roles=\"a,b\""],
    [access({ customerPermissions: [""] }), "auth.customerPermissions=\"\""],
    [access({ apiKeys: { defaultPermissions: [":"] } }), "auth.apiKeys.defaultPermissions=\":\""],
    [access({ apiKeyScopes: { default: scope } }), "auth.apiKeyScopes=\"default\""],
    [access({ apiKeyScopes: { a: scope, b: scope } }), "auth.apiKeyScopes.a.prefix=\"wh_\""],
    [scopes({ prefix: "stoa_x_" }), "auth.apiKeyScopes.a.prefix=\"stoa_x_\""],
    [scopes({ permissions: { "*": ["read"] } }), "auth.apiKeyScopes.a.permissions=\"*:read\""],
    [scopes({ keyExpiration: 0 }), "auth.apiKeyScopes.a.keyExpiration=\"0\""],
    [scopes({ rateLimit: { timeWindow: 0, maxRequests: 1 } }), "auth.apiKeyScopes.a.rateLimit="]
  ]

  for (const [config, name] of wrong) {
    it.effect(`the settings of stores and access end the start with a line that names ${name}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(readSettings(config))
        assert.include(error.message, name)
        assert.match(error.message, /is not allowed: expected .+\.$/)
      }))
  }

  it.effect("the settings of stores and access end the start when they name two default organizations", () =>
    Effect.gen(function*() {
      const two = readSettings({ store: { defaultOrganizationId: "a" }, auth: { defaultOrganizationId: "b" } })
      assert.include((yield* Effect.flip(two)).message, "auth.defaultOrganizationId")
    }))

  it.effect("the settings of stores and access are read when they are usable", () =>
    Effect.gen(function*() {
      const store = { defaultCurrency: "JPY", defaultOrganizationId: "org-1_A", timeZone: "Asia/Tokyo" }
      assert.deepStrictEqual((yield* readSettings({ store })).deployment.store, store)
      const { access } = yield* readSettings({
        auth: {
          roles: { staff: ["orders:*"], manager: { permissions: ["catalog:read:unpublished", "*:*"] } },
          strictOrgResolution: true,
          defaultOrganizationId: "acme"
        }
      })
      assert.deepStrictEqual([access.strictOrgResolution, access.defaultOrganizationId], [true, "acme"])
      assert.deepStrictEqual(
        [access.roles["staff"], access.roles["manager"], access.roles["owner"]],
        [["orders:*"], ["catalog:read:unpublished", "*:*"], ["*:*"]]
      )
    }))
})
