import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { createHmac } from "node:crypto"
import { inOrganization, testAdminActor } from "stoa/plugin/testing"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { channelAdapter, isSigned } from "../index.ts"
import { shopifyCompliance } from "../shopify/ShopifyApp.ts"
import { type ChannelShop, openShop } from "./ChannelShop.ts"
import { memoryStore, signedBy } from "./MemoryStore.ts"

const appSecret = "secret of the app"
const other = memoryStore()
/** The store in memory as a provider with an app. */
const withApp = channelAdapter({
  ...other.definition,
  id: "app",
  app: shopifyCompliance({ clientId: "app", clientSecret: Redacted.make(appSecret), scopes: [] })
})

const secret = "webhook-secret"

describe("webhooks of stores", () => {
  let shop: ChannelShop
  let id: string
  beforeAll(async () => {
    shop = await openShop({ adapters: [withApp] })
    id = await shop.connect()
  })
  afterAll(() => shop.close())

  const post = async (path: string, { body, headers }: ReturnType<typeof signedBy>) => {
    const { body: got, status } = await shop.app.app.request("POST", `/api/channels${path}`, {
      body: Buffer.from(body).toString("utf8"),
      headers: { ...headers, "content-type": "application/json" }
    })
    return { status, body: got }
  }
  const body = JSON.stringify({ topic: "product", id: "p1" })
  const deliveries = (storeId = id) =>
    shop.app.db.query(
      "select delivery_id, topic, status from channel_deliveries where store_id = $1 order by created_at",
      [
        storeId
      ]
    )

  it("are claimed once with the job that handles them, also when eight come at once", async () => {
    const all = await Promise.all(
      Array.from({ length: 8 }, () => post(`/webhooks/${id}`, signedBy(secret, body, "d1")))
    )
    assert.deepStrictEqual(all.map(({ status }) => status), Array(8).fill(200))
    assert.lengthOf(all.filter((one) => JSON.stringify(one.body) === `{"received":true}`), 1)
    assert.lengthOf(all.filter((one) => JSON.stringify(one.body) === `{"received":true,"duplicate":true}`), 7)
    await shop.settled(id)
    assert.deepStrictEqual(await deliveries(), [{ delivery_id: "d1", topic: "product", status: "handled" }])
    const second = await shop.connect()
    assert.deepStrictEqual((await post(`/webhooks/${second}`, signedBy(secret, body, "d1"))).body, { received: true })
  })

  it("are refused without a signature over their bytes, of unknown stores and of disconnected ones", async () => {
    const good = signedBy(secret, body, "d2")
    const before = await deliveries()
    assert.strictEqual((await post(`/webhooks/${id}`, { ...good, body: Buffer.from(` ${body}`) })).status, 401)
    assert.strictEqual((await post(`/webhooks/${id}`, signedBy("another secret", body, "d2"))).status, 401)
    assert.strictEqual((await post(`/webhooks/${id}`, { ...good, headers: {} })).status, 401)
    assert.strictEqual((await post("/webhooks/7f1d9b1a-3b39-4b7c-9d54-1f3f4f9a2b11", good)).status, 404)
    const gone = await shop.connect()
    await shop.done("POST", `/stores/${gone}/disconnect`)
    assert.strictEqual((await post(`/webhooks/${gone}`, good)).status, 409)
    assert.deepStrictEqual(await deliveries(), before)
    assert.isFalse(isSigned(body, createHmac("sha256", "").update(body).digest("base64"), Redacted.make("")))
  })

  it("that cannot be read are noted and answered with 200", async () => {
    for (const [at, nonsense] of ["[", "null", "{}", "\u0000"].entries()) {
      assert.strictEqual((await post(`/webhooks/${id}`, signedBy(secret, nonsense, `n${at}`))).status, 200)
    }
    const list = await shop.done("GET", `/deliveries?storeId=${id}&status=unreadable`)
    assert.strictEqual(list.at("meta.pagination.total"), 4)
  })

  it("belong to the organization of their store", async () => {
    await shop.app.db.query(
      "insert into organizations (id, slug, name) values ('org_b', 'org_b', 'B') on conflict do nothing"
    )
    const there = inOrganization("org_b", testAdminActor)
    const sent = { provider: "memory", credentials: { key: "right-key-1" }, webhookSecret: secret }
    const made = await shop.done("POST", "/stores", { ...sent, storeDomain: "https://b.example" }, there)
    const storeId = made.text("data.id")
    assert.strictEqual((await post(`/webhooks/${storeId}`, signedBy(secret, body, "d1"))).status, 200)
    const rows = await shop.app.db.query("select organization_id from channel_deliveries where store_id = $1", [
      storeId
    ])
    assert.deepStrictEqual(rows, [{ organization_id: "org_b" }])
    await shop.refused("404 NOT_FOUND", "GET", `/stores/${storeId}`)
  })

  it("that say that our app was removed disconnect the store, unless it still lets us in", async () => {
    const removed = JSON.stringify({ topic: "uninstalled", id: "" })
    await post(`/webhooks/${id}`, signedBy(secret, removed, "u1"))
    await shop.settled(id)
    assert.strictEqual((await shop.store(id)).at("data.status"), "connected")
    shop.memory.keys.delete("right-key-1")
    await post(`/webhooks/${id}`, signedBy(secret, removed, "u2"))
    await shop.until(id, "disconnected")
    shop.memory.keys.add("right-key-1")
    await shop.settled(id)
    assert.deepInclude(await deliveries(), { delivery_id: "u2", topic: "uninstalled", status: "handled" })
  })

  describe("of a provider to an app", () => {
    const comply = (topic: string, data: object, delivery: string, domain = "app-shop.example", key = appSecret) => {
      const text = JSON.stringify(data)
      return post("/compliance/app", {
        body: Buffer.from(text),
        headers: {
          "x-shopify-hmac-sha256": createHmac("sha256", key).update(text).digest("base64"),
          "x-shopify-topic": topic,
          "x-shopify-shop-domain": domain,
          "x-shopify-webhook-id": delivery
        }
      })
    }
    const exported = async (storeId: string, remoteOrderId: string, email: string) => {
      await shop.app.db.query(
        `insert into channel_order_exports (id, organization_id, store_id, order_id, customer_data, remote_order_id)
           select gen_random_uuid(), organization_id, id, gen_random_uuid(), $2, $3 from connected_stores where id = $1`,
        [storeId, JSON.stringify({ name: "Ann", email }), remoteOrderId]
      )
    }
    const kept = async (storeId: string) =>
      (await shop.app.db.query(
        "select remote_order_id from channel_order_exports where store_id = $1 and customer_data is not null order by 1",
        [storeId]
      )).map((row) => row["remote_order_id"])

    it("are refused without the signature of the app, and where an adapter has none", async () => {
      assert.strictEqual((await comply("customers/redact", {}, "c0", undefined, "wrong")).status, 401)
      assert.strictEqual((await post("/compliance/none", signedBy(secret, body, "c"))).status, 404)
      assert.strictEqual((await post("/compliance/memory", signedBy(secret, body, "c"))).status, 501)
      assert.deepStrictEqual((await comply("shop/redact", {}, "c1", "unknown.example")).body, { received: true })
      assert.deepStrictEqual((await comply("orders/paid", {}, "c2")).body, { received: true })
    })

    it("are about all organizations that the store is connected to", async () => {
      await shop.app.db.query(
        "insert into organizations (id, slug, name) values ('org_b', 'org_b', 'B') on conflict do nothing"
      )
      const there = inOrganization("org_b", testAdminActor)
      const [storeDomain, credentials] = ["https://shared.example", { key: "right-key-1" }]
      const theirs = await shop.done("POST", "/stores", { provider: "app", storeDomain, credentials }, there)
      const stores = [await shop.connect({ provider: "app", storeDomain }), theirs.text("data.id")]
      for (const storeId of stores) await exported(storeId, "7", "ann@x.example")
      const about = { customer: { email: "ann@x.example" }, orders_requested: [7], orders_to_redact: [7] }
      const shown = await comply("customers/data_request", about, "s1", "shared.example")
      assert.lengthOf(JSON.stringify(shown.body).match(/"name":"Ann"/g) ?? [], 2)
      const redacted = await comply("customers/redact", about, "s2", "shared.example")
      assert.deepStrictEqual(redacted.body, { received: true, redacted: 2 })
    })

    it("show and delete the data of a customer, and say what was done", async () => {
      const storeId = await shop.connect({ provider: "app", storeDomain: "app-shop.example" })
      await exported(storeId, "1", "ann@x.example")
      await exported(storeId, "2", "Ann@x.example")
      await exported(storeId, "3", "ben@x.example")
      const about = { customer: { email: "ann@X.example" }, orders_requested: [1] }
      const { body: shown } = await comply("customers/data_request", about, "r1")
      assert.lengthOf(JSON.stringify(shown).match(/"name":"Ann"/g) ?? [], 2)
      const redact = { customer: { email: null }, orders_to_redact: [1] }
      assert.deepStrictEqual((await comply("customers/redact", redact, "r2")).body, { received: true, redacted: 1 })
      assert.deepStrictEqual((await comply("customers/redact", redact, "r2")).body, { received: true, duplicate: true })
      assert.deepStrictEqual(await kept(storeId), ["2", "3"])
      // An old one: the store still lets us in.
      assert.deepStrictEqual((await comply("app/uninstalled", {}, "r4")).body, { received: true })
      await shop.settled(storeId)
      assert.strictEqual((await shop.store(storeId)).at("data.status"), "connected")
      assert.deepStrictEqual((await comply("shop/redact", {}, "r3")).body, { received: true, redacted: 2 })
      assert.deepStrictEqual(await kept(storeId), [])
      assert.strictEqual((await shop.store(storeId)).at("data.status"), "disconnected")
    })
  })

  it("are deleted after a while, but for those that wait for their job", async () => {
    const old = "now() - interval '400 days'"
    await shop.app.db.query(`update channel_deliveries set created_at = ${old}`)
    await shop.app.db.query("update channel_deliveries set status = 'received' where delivery_id = 'u1'")
    // Its job died before it deleted the credentials.
    const kept = await shop.connect()
    await shop.app.db.query(
      "update connected_stores set status = 'disconnected', updated_at = now() - interval '2 hours' where id = $1",
      [kept]
    )
    await shop.app.serviceRegistry.enqueue("channel/forget", {})
    const withSecrets = "select 1 from connected_stores where id = $1 and credentials is not null"
    await waitFor(
      "its credentials are deleted",
      async () => (await shop.app.db.query(withSecrets, [kept])).length === 0
    )
    const left = "select delivery_id from channel_deliveries where organization_id = 'org_default'"
    await waitFor("old webhooks are deleted", async () => (await shop.app.db.query(left)).length === 1)
    assert.deepStrictEqual(await shop.app.db.query(left), [{ delivery_id: "u1" }])
  })
})
