import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { channelAdapter } from "../index.ts"
import { type ChannelShop, openShop } from "./ChannelShop.ts"
import { memoryProduct, memoryStore } from "./MemoryStore.ts"

const dead = memoryStore()
const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9]

/** A store that makes many calls at once. */
const busy = channelAdapter({
  id: "busy",
  capabilities: ["catalog"],
  credentialsForm: "{}",
  credentials: Schema.Struct({}),
  connect: ({ domain, http }) => ({
    verify: Effect.forEach(numbers, (n) => Effect.ignore(http.request({ url: `${domain}/${n}` })), {
      concurrency: "unbounded",
      discard: true
    })
  })
})

describe("a store beside us", () => {
  let shop: ChannelShop
  let id: string
  const held: Array<ServerResponse> = []
  const server = createServer((request, response) => request.url === "/ping" ? response.end() : held.push(response))
  let origin: string
  beforeAll(async () => {
    await once(server.listen(0, "127.0.0.1"), "listening")
    const address = server.address()
    origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
    shop = await openShop({
      adapters: [channelAdapter({ ...dead.definition, id: "dead" }), busy],
      driftAlertThreshold: 3,
      origins: [origin]
    })
    shop.memory.products = numbers.map((n) => memoryProduct(n))
    id = await shop.connect()
    await shop.ran(id, "import")
  })
  afterAll(async () => {
    await shop.close()
    server.close()
  })

  const hint = (topic: string, externalId: string) => shop.hint(id, topic, externalId)
  const reconciled = async (storeId = id) => {
    await shop.done("POST", `/stores/${storeId}/reconcile`)
    await shop.ran(storeId, "reconcile")
    return (await shop.done("GET", `/stores/${storeId}/reconcile-status`)).at("data")
  }
  const titles = async () =>
    (await shop.app.db.query(
      `select a.title, e.status from channel_entity_map m join catalog_entities e on e.id = m.entity_id
       join entity_attributes a on a.entity_id = e.id where m.store_id = $1 and m.kind = 'entity' order by e.slug`,
      [id]
    )).map(({ status, title }) => `${title} ${status}`)
  const changes = () => shop.app.db.query("select count(*)::int4 as n from outbox_events")
  const deliveries = (...statuses: ReadonlyArray<string>) =>
    shop.app.db.query(
      "select status, error from channel_deliveries where store_id = $1 and status = any(string_to_array($2, ',')) order by created_at",
      [id, statuses.join(",")]
    )
  const handled = () => waitFor("all hints are handled", async () => (await deliveries("received")).length === 0)
  const renamed = (n: number, title: string) => {
    const { draft, ...rest } = memoryProduct(n)
    return { ...rest, draft: { ...draft, product: { ...draft.product, attributes: [{ title }] } } }
  }

  /** Does something while a job about the store runs, which others wait for. */
  const whileBusy = async (work: () => Promise<void>) => {
    const [gate, reached] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    shop.memory.beforeProduct = Effect.promise(() => {
      reached.resolve()
      return gate.promise
    })
    await hint("product", "p9")
    await reached.promise
    await work()
    shop.memory.beforeProduct = Effect.void
    gate.resolve()
  }

  it("sends hints, after which its record of now is written, and storms of them write nothing", async () => {
    shop.memory.products[0] = renamed(1, "New 1")
    await hint("product", "p1")
    shop.memory.levels.set("v2", 11)
    await hint("stock", "v2")
    await handled()
    assert.strictEqual((await titles())[0], "New 1 active")
    const [level] = await shop.app.db.query(
      "select on_hand from stock_levels l join channel_entity_map m on m.variant_id = l.variant_id where m.external_id = 'v2'"
    )
    assert.deepStrictEqual(level, { on_hand: 11 })
    const before = await changes()
    for (let n = 0; n < 12; n++) await hint(n % 2 === 0 ? "product" : "stock", n % 2 === 0 ? "p1" : "v2")
    await handled()
    assert.deepStrictEqual(await changes(), before)
    assert.lengthOf(await deliveries("failed"), 0)
  })

  it("refuses a hint, and later ones are handled", async () => {
    shop.memory.refused.add("p3")
    // Hints that wait for a job that runs are handled together.
    await whileBusy(async () => {
      await hint("product", "p3")
      shop.memory.products[3] = renamed(4, "New 4")
      await hint("product", "p4")
      await hint("product", "p99")
    })
    await handled()
    assert.strictEqual((await titles())[3], "New 4 active")
    assert.deepStrictEqual(await deliveries("failed"), [{ status: "failed", error: "The store does not show p3." }])
    shop.memory.refused.clear()
  })

  it("refuses to show a product that its pages leave out, and all else is reconciled", async () => {
    shop.memory.hidden.add("p3")
    shop.memory.refused.add("p3")
    shop.memory.products[4] = renamed(5, "New 5")
    await shop.done("POST", `/stores/${id}/reconcile`)
    const report = await shop.ran(id, "reconcile")
    assert.deepInclude(report, { archived: 0, skipped: [{ externalId: "p3", message: "The store does not show p3." }] })
    assert.strictEqual((await titles())[4], "New 5 active")
    shop.memory.hidden.clear()
    shop.memory.refused.clear()
  })

  it("loses a third of its hints, and a reconciliation heals what they were about, once", async () => {
    shop.memory.products = numbers.map((n) => renamed(n, `Later ${n}`)).filter((_, at) => at !== 7)
    shop.memory.products.push(renamed(10, "Later 10"))
    for (const n of numbers.filter((n) => n % 3 !== 0 && n !== 8)) await hint("product", `p${n}`)
    await handled()
    const later = (n: number) => `Later ${n} active`
    assert.notDeepEqual((await titles()).filter((title) => title.startsWith("Later")).length, 9)
    const status = await reconciled()
    assert.deepInclude(Object(status).report, { imported: 1, converged: 3, archived: 1 })
    assert.isTrue(Object(status).driftAlert)
    assert.deepStrictEqual(
      (await titles()).toSorted(),
      [...numbers.filter((n) => n !== 8), 10].map(later).concat("Thing 8 archived").toSorted()
    )
    const before = await changes()
    const again = await reconciled()
    assert.deepInclude(Object(again).report, { imported: 0, converged: 0, archived: 0, inventoryUpdated: 0 })
    assert.isFalse(Object(again).driftAlert)
    assert.deepStrictEqual(await changes(), before)
  })

  it("is reconciled at once when it was asked for, also while all stores are", async () => {
    await whileBusy(async () => {
      await shop.done("POST", `/stores/${id}/reconcile`)
      const job = await shop.app.serviceRegistry.enqueue("channel/reconcile-sweep", {})
      await waitFor("all stores have their jobs", async () => {
        const [row] = await shop.app.db.query("select status from commerce_jobs where id = $1", [job])
        return row?.["status"] === "succeeded"
      })
    })
    await shop.ran(id, "reconcile")
  })

  it("turns webhooks off, and gets them registered again", async () => {
    for (const one of shop.memory.subscriptions.values()) {
      shop.memory.subscriptions.set(one.externalId, { ...one, isActive: false })
    }
    assert.deepInclude(Object(await reconciled()).report, { webhooksRegistered: 3 })
    assert.isTrue([...shop.memory.subscriptions.values()].every(({ isActive }) => isActive))
  })

  it("is called by at most four calls at once", async () => {
    await shop.connect({ provider: "busy", storeDomain: origin, credentials: {} }, false)
    for (const most of [4, 4, 1]) {
      await waitFor("calls are made", () => held.length >= most)
      // Others would have arrived before these.
      for (let n = 0; n < 5; n++) await fetch(`${origin}/ping`)
      assert.lengthOf(held, most)
      for (const response of held.splice(0)) response.end("{}")
    }
  })

  it("that is dead delays no other one, and is reconciled at another time", async () => {
    dead.state.beforePage = Effect.never
    const deadId = await shop.connect({ provider: "dead" }, false)
    await waitFor(
      "the dead store is asked",
      async () => (await shop.jobs(deadId, "channel/import-catalog")).some(({ status }) => status === "processing")
    )
    shop.memory.products.push(renamed(11, "Later 11"))
    assert.deepInclude(Object(await reconciled()).report, { imported: 1 })
    await shop.app.serviceRegistry.enqueue("channel/reconcile-sweep", {})
    const waiting = () =>
      shop.app.db.query(
        `select input->>'storeId' as store, wait_until > now() as later from commerce_jobs
         where task_slug = 'channel/reconcile' and status = 'pending'`
      )
    await waitFor("all stores have their job", async () => (await waiting()).length === 3)
    assert.isTrue((await waiting()).every(({ later }) => later))
    dead.state.beforePage = Effect.void
  })
})
