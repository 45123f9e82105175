import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { contractOf, machineOf, optionsTable } from "stoa/plugin/testing"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { channelConnector, ChannelUnavailable } from "../index.ts"
import { canonicalDomain } from "../StoreDomain.ts"
import { admitsProduct, offeredUnits, ruledPrice } from "../StoreRules.ts"
import { store } from "../StoreTables.ts"
import { type ChannelShop, openShop } from "./ChannelShop.ts"

const sent = { provider: "memory", credentials: { key: "right-key-1" } }

describe("connected stores", () => {
  let shop: ChannelShop
  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(() => shop.close())

  it("are connected before anything is called, and get their webhooks from a job, once", async () => {
    const made = await shop.done("POST", "/stores", { ...sent, storeDomain: "first.example" })
    const id = made.text("data.id")
    assert.deepInclude(made.at("data"), {
      storeDomain: "https://first.example",
      status: "connected",
      credentials: "[REDACTED]",
      webhookSecret: "[REDACTED]"
    })
    await shop.settled(id)
    assert.deepStrictEqual(
      [...shop.memory.subscriptions.values()].map(({ address, topic }) => [topic, address]),
      ["product", "order", "uninstalled"].map((topic) => [topic, `https://stoa.example/api/channels/webhooks/${id}`])
    )
    for (const one of shop.memory.subscriptions.values()) {
      shop.memory.subscriptions.set(one.externalId, { ...one, isActive: one.topic !== "order" })
    }
    const before = shop.memory.calls.filter((one) => one === "register").length
    await shop.app.serviceRegistry.enqueue("channel/register-webhooks", { storeId: id })
    await shop.settled(id)
    assert.strictEqual(shop.memory.calls.filter((one) => one === "register").length, before + 1)
    assert.isTrue([...shop.memory.subscriptions.values()].every(({ isActive }) => isActive))
  })

  it("are one for each address: 409 also for eight at once, and again free when it is disconnected", async () => {
    const body = { ...sent, storeDomain: "https://Second.example:443/" }
    const all = await Promise.all(Array.from({ length: 8 }, () => shop.ask("POST", "/channels/stores", body)))
    assert.deepStrictEqual(all.map(({ status }) => status).toSorted(), [201, ...Array(7).fill(409)])
    const id = all.find(({ status }) => status === 201)?.text("data.id") ?? ""
    await shop.app.db.query(
      `insert into channel_entity_map (id, organization_id, store_id, kind, external_id, entity_id)
         values (gen_random_uuid(), 'org_default', $1, 'entity', 'p1', gen_random_uuid())`,
      [id]
    )
    const gone = await shop.done("POST", `/stores/${id}/disconnect`)
    assert.deepInclude(gone.at("data"), { status: "disconnected", credentials: null, webhookSecret: null })
    await shop.settled(id)
    assert.isFalse([...shop.memory.subscriptions.values()].some(({ address }) => address.endsWith(id)))
    assert.deepStrictEqual(
      await shop.app.db.query("select credentials, webhook_secret from connected_stores where id = $1", [id]),
      [{ credentials: null, webhook_secret: null }]
    )
    await shop.refused("422 INVALID_TRANSITION", "POST", `/stores/${id}/disconnect`)
    await shop.refused("409 CONFLICT", "PUT", `/stores/${id}/credentials`, { credentials: { key: "right-key-1" } })
    const again = await Promise.all(Array.from({ length: 4 }, () => shop.ask("POST", "/channels/stores", body)))
    assert.deepStrictEqual(again.map(({ status }) => status).toSorted(), [201, 409, 409, 409])
    assert.strictEqual(again.find(({ status }) => status === 201)?.text("data.id"), id)
    const map = await shop.app.db.query("select external_id from channel_entity_map where store_id = $1", [id])
    assert.deepInclude(map, { external_id: "p1" })
  })

  it("refuse providers, addresses and credentials without showing what was sent", async () => {
    const store = { ...sent, storeDomain: "https://third.example" }
    await shop.refused("404 CONNECTOR_NOT_FOUND", "POST", "/stores", { ...store, provider: "none" })
    for (
      const storeDomain of [
        "https://a:b@x.example",
        "https://x.example/path",
        "ftp://x.example",
        "https://",
        "other.example"
      ]
    ) {
      await shop.refused("422 VALIDATION_FAILED", "POST", "/stores", { ...store, storeDomain })
    }
    const wrong = await shop.refused("422 VALIDATION_FAILED", "POST", "/stores", {
      ...store,
      credentials: { key: "hush" }
    })
    assert.include(wrong.text("error.message"), "credentials must be { key } of memory.")
    assert.notInclude(JSON.stringify(wrong.body), "hush")
    await shop.refused("422 VALIDATION_FAILED", "POST", "/stores", { ...store, extra: 1 })
  })

  it("are in error while their credentials are refused, and connected with others", async () => {
    const id = await shop.connect({ credentials: { key: "wrong-key-9" } })
    const broken = await shop.until(id, "error")
    assert.strictEqual(broken.at("data.lastError"), "The key [REDACTED] is not accepted.")
    const [job] = await shop.jobs(id, "channel/register-webhooks")
    assert.deepInclude(job, { status: "failed", error: "The key [REDACTED] is not accepted." })
    await shop.done("PUT", `/stores/${id}/credentials`, { credentials: { key: "right-key-1" } })
    assert.strictEqual((await shop.until(id, "connected")).at("data.lastError"), null)
  })

  it("that cannot be reached are tried again, and as late as they ask", async () => {
    shop.memory.failure = new ChannelUnavailable({ message: "Busy.", retryAfterMs: 40_000 })
    const id = await shop.connect()
    assert.deepInclude((await shop.jobs(id, "channel/register-webhooks"))[0], { status: "pending", attempts: 0 })
    shop.memory.failure = new ChannelUnavailable({ message: "Not there." })
    shop.app.clock.advance("41 seconds")
    const tries = async () => (await shop.jobs(id, "channel/register-webhooks"))[0]?.["attempts"]
    while (Number(await tries()) < 8) shop.app.clock.advance("11 minutes")
    assert.strictEqual((await shop.until(id, "error")).at("data.lastError"), "Not there.")
    await shop.done("POST", `/stores/${id}/disconnect`)
    await waitFor("its credentials are deleted all the same", async () => {
      const [job] = await shop.jobs(id, "channel/unregister-webhooks")
      if (job?.["status"] === "pending") shop.app.clock.advance("11 seconds")
      const [row] = await shop.app.db.query("select credentials from connected_stores where id = $1", [id])
      return row?.["credentials"] === null
    })
    shop.memory.failure = undefined
  })

  it("keep units back, change prices and choose products by their rules", async () => {
    const id = await shop.connect()
    const patch = {
      buffer: 2,
      maxQuantity: 10,
      priceRule: { percent: 12.5, add: 5, roundTo: 10 },
      catalog: { categories: ["toys"] }
    }
    assert.deepInclude((await shop.done("PATCH", `/stores/${id}`, patch)).at("data"), patch)
    await shop.refused("422 VALIDATION_FAILED", "PATCH", `/stores/${id}`, { status: "error" })
    await shop.refused("422 VALIDATION_FAILED", "PATCH", `/stores/${id}`, { priceRule: { roundTo: 0 } })
    await shop.refused("422 VALIDATION_FAILED", "PATCH", `/stores/${id}`, {
      warehouseId: "7f1d9b1a-3b39-4b7c-9d54-1f3f4f9a2b11"
    })
    assert.strictEqual(ruledPrice(patch.priceRule, 999), 1130)
    assert.strictEqual(ruledPrice({ add: -500 }, 100), 0)
    assert.deepStrictEqual([20, 7, 1, null].map((units) => offeredUnits(patch, units)), [10, 5, 0, 10])
    assert.isFalse(admitsProduct({ catalog: patch.catalog }, { status: "active", categories: ["books"] }))
    assert.isTrue(admitsProduct({ catalog: { statuses: [] } }, { status: "draft", categories: [] }))
  })

  it("have their options in the README", async () => {
    assert.include(await readFile(join(import.meta.dirname, "../README.md"), "utf8"), optionsTable(channelConnector()))
  })

  it("have addresses of one form, with https only in production", () => {
    const form = (text: string, environment: "production" | "test") => {
      const read = canonicalDomain(text, environment)
      return read._tag === "Success" ? read.success : undefined
    }
    assert.strictEqual(form(" SHOP.Exämple.com./ ", "production"), "https://shop.xn--exmple-cua.com")
    assert.strictEqual(form("http://127.0.0.1:8080", "test"), "http://127.0.0.1:8080")
    assert.isUndefined(form("http://shop.example", "production"))
  })

  it("keep to the rules of every plugin, and to their moves", async () => {
    const without = ["fail", "recover", "reconnect"] as const
    for (const { name, run } of [...contractOf(shop.app), ...machineOf(shop.app, store, { without })]) {
      await run().catch((error) => assert.fail(`${name}: ${error}`))
    }
  })
})
