import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import { createHmac } from "node:crypto"
import { inOrganization, type TestActor, testAdminActor, testNoPermActor } from "stoa/plugin/testing"
import { answering, serviceEmulator } from "../../../../test/plugins/ServiceEmulator.ts"
import {
  channelAdapter,
  isShopDomain,
  renewShopify,
  shopifyCompliance,
  ShopifyCredentials,
  shopifyExpiry,
  shopifyOAuth
} from "../index.ts"
import { type ChannelShop, openShop, publicUrl } from "./ChannelShop.ts"

const appSecret = "secret of the app"
const app = { clientId: "app-id", clientSecret: Redacted.make(appSecret), scopes: ["read_products", "write_orders"] }
const shopify = channelAdapter({
  id: "shopify",
  capabilities: [],
  credentialsForm: "{ accessToken }",
  credentials: ShopifyCredentials,
  expiresAt: shopifyExpiry,
  oauth: shopifyOAuth(app),
  app: shopifyCompliance(app),
  connect: ({ credentials, domain, http }) => ({
    verify: Effect.void,
    renew: renewShopify(http, domain, Redacted.value(credentials), app)
  })
})

describe("stores that are connected by consent", () => {
  const scope = Scope.makeUnsafe()
  let shop: ChannelShop
  let emulator: Effect.Success<typeof serviceEmulator>
  let domain = ""
  beforeAll(async () => {
    emulator = await Effect.runPromise(Effect.provideService(serviceEmulator, Scope.Scope, scope))
    domain = emulator.origin
    shop = await openShop({ adapters: [shopify], origins: [domain], postConnectRedirect: "/admin?x=1" })
  })
  afterAll(async () => {
    await shop.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const get = async (path: string, as: TestActor | null = null) => {
    const headers: Record<string, string> = as === null ? {} : { "x-test-actor": JSON.stringify(as) }
    const answer = await fetch(`${shop.app.app.url}/api/channels/oauth${path}`, { headers, redirect: "manual" })
    const text = await answer.text()
    const [, code = ""] = /"code":"(\w+)"/.exec(text) ?? []
    return { status: answer.status, location: answer.headers.get("location") ?? "", code }
  }
  const start = async (as = testAdminActor) => {
    const { location, status } = await get(`/shopify/start?shop=${encodeURIComponent(domain)}`, as)
    assert.strictEqual(status, 302)
    return new URL(location)
  }
  const callback = (state: string, { key = appSecret, shop: named = domain, extra = {} } = {}) => {
    const query = new URLSearchParams({ code: "c0de", shop: named, state, timestamp: "1700000000", ...extra })
    query.sort()
    const text = [...query].map(([name, value]) => `${name}=${value}`).join("&")
    query.set("hmac", createHmac("sha256", key).update(text).digest("hex"))
    return get(`/shopify/callback?${query}`)
  }
  const stateOf = async (as = testAdminActor) => (await start(as)).searchParams.get("state") ?? ""
  const token = (body: object = {}) =>
    answering(
      200,
      JSON.stringify({ access_token: "granted-token", refresh_token: "refresh-1", expires_in: 3600, ...body })
    )
  const sent = () => new URLSearchParams(Object.entries(JSON.parse(emulator.received.at(-1)?.body ?? "{}")))

  it("send the merchant to the provider, and get a token for the answer, once", async () => {
    const consent = await start()
    assert.strictEqual(`${consent.origin}${consent.pathname}`, `${domain}/admin/oauth/authorize`)
    assert.deepInclude(Object.fromEntries(consent.searchParams), {
      client_id: "app-id",
      scope: "read_products,write_orders",
      redirect_uri: `${publicUrl}/api/channels/oauth/shopify/callback`
    })
    emulator.script.push(token())
    const state = consent.searchParams.get("state") ?? ""
    const done = await callback(state, { extra: { host: "YWJj", locale: "de" } })
    const [, id = ""] = /^\/admin\?x=1&store=(.+)$/.exec(done.location) ?? []
    assert.strictEqual(sent().toString(), "client_id=app-id&client_secret=secret+of+the+app&code=c0de&expiring=1")
    const row = await shop.store(id)
    assert.deepInclude(row.at("data"), { provider: "shopify", storeDomain: domain, status: "connected" })
    const left = Date.parse(row.text("data.credentialsExpireAt")) - shop.app.clock.now()
    assert.isTrue(left > 3_000_000 && left <= 3_600_000)
    assert.strictEqual((await callback(state)).code, "OAUTH_STATE_REPLAYED")
    await shop.done("POST", `/stores/${id}/disconnect`)
  })

  it("are those of the organization that asked", async () => {
    await shop.app.db.query("insert into organizations (id, slug, name) values ('org_c', 'org_c', 'C')")
    const there = inOrganization("org_c", testAdminActor)
    emulator.script.push(token())
    const { location } = await callback(await stateOf(there))
    const [, id = ""] = /store=(.+)$/.exec(location) ?? []
    assert.strictEqual((await shop.done("GET", `/stores/${id}`, undefined, there)).at("data.status"), "connected")
    await shop.refused("404 NOT_FOUND", "GET", `/stores/${id}`)
  })

  it("are refused without the state, its time, the signature or the store that were asked for", async () => {
    const before = emulator.received.length
    const state = await stateOf()
    const other = await stateOf()
    assert.strictEqual((await callback("")).code, "INVALID_OAUTH_STATE")
    assert.strictEqual((await callback(`${state.slice(0, 36)}${other.slice(36)}`)).code, "INVALID_OAUTH_STATE")
    assert.strictEqual((await callback(state, { key: "another secret" })).code, "INVALID_OAUTH_STATE")
    assert.strictEqual((await callback(state, { shop: "other.myshopify.com" })).code, "OAUTH_STORE_MISMATCH")
    assert.strictEqual((await callback(state)).code, "OAUTH_STATE_REPLAYED")
    shop.app.clock.advance("6 minutes")
    assert.strictEqual((await callback(other)).code, "INVALID_OAUTH_STATE")
    assert.strictEqual(emulator.received.length, before)
  })

  it("are refused when the store gives no token", async () => {
    emulator.script.push(answering(400, "no"))
    const refused = await callback(await stateOf())
    assert.deepInclude(refused, { status: 422, code: "STORE_CONNECTION_FAILED" })
  })

  it("need an adapter with consent, an address and a permission", async () => {
    const asked = async (path: string, as: TestActor = testAdminActor) => {
      const { code, status } = await get(path, as)
      return `${status} ${code}`
    }
    assert.strictEqual(await asked("/none/start?shop=x.example"), "404 CONNECTOR_NOT_FOUND")
    assert.strictEqual(await asked("/memory/start?shop=x.example"), "501 OAUTH_UNSUPPORTED")
    assert.strictEqual(await asked("/shopify/start"), "400 STORE_DOMAIN_REQUIRED")
    const unnamed = await openShop({ adapters: [shopify], publicUrl: undefined })
    const refused = await unnamed.refused("501 OAUTH_NOT_CONFIGURED", "GET", "/oauth/shopify/start?shop=x.example")
    assert.strictEqual(refused.text("error.message"), "Consent needs the option publicUrl of the plugin.")
    await unnamed.close()
    assert.strictEqual(await asked("/shopify/start?store=ftp://x"), "422 VALIDATION_FAILED")
    assert.strictEqual(await asked("/shopify/start?shop=x.example", testNoPermActor), "403 FORBIDDEN")
    assert.isTrue(isShopDomain("https://a-shop.myshopify.com"))
    for (
      const wrong of [
        "https://a.b.myshopify.com",
        "https://evil.example",
        "http://a.myshopify.com",
        "https://a.myshopify.com.evil.example"
      ]
    ) {
      assert.isFalse(isShopDomain(wrong), wrong)
    }
  })

  it("get the next token by the last one, and custom apps by their keys", async () => {
    const renewed = async (credentials: object) => {
      emulator.script.push(token({ access_token: "next-token", refresh_token: undefined }))
      const made = await shop.done("POST", "/stores", { provider: "shopify", storeDomain: domain, credentials })
      const id = made.text("data.id")
      await shop.settled(id)
      const row = await shop.store(id)
      assert.strictEqual(row.at("data.status"), "connected", row.text("data.status"))
      await shop.done("POST", `/stores/${id}/disconnect`)
      return sent()
    }
    const ended = new Date(shop.app.clock.now()).toISOString()
    const grant = await renewed({ accessToken: "old-token", refreshToken: "refresh-1", expiresAt: ended })
    assert.strictEqual(
      grant.toString(),
      "client_id=app-id&client_secret=secret+of+the+app&grant_type=refresh_token&refresh_token=refresh-1"
    )
    const keys = await renewed({ clientId: "custom", clientSecret: "custom-secret" })
    assert.strictEqual(keys.toString(), "client_id=custom&client_secret=custom-secret&grant_type=client_credentials")
  })
})
