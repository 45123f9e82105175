import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { buildersOf, inOrganization, testAdminActor } from "stoa/plugin/testing"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { ChannelRefused } from "../index.ts"
import { type ChannelShop, openShop } from "./ChannelShop.ts"
import { memoryProduct } from "./MemoryStore.ts"

describe("the catalog of a store", () => {
  let shop: ChannelShop
  let id: string
  beforeAll(async () => {
    shop = await openShop({ linkBySku: true })
    id = await shop.connect()
    await shop.ran(id, "import")
  })
  afterAll(() => shop.close())

  const goods = (storeId = id) =>
    shop.app.db.query(
      `select e.slug, e.status, e.source_store_id = $1::text as own, l.on_hand as stock, p.amount::int4 as amount
       from channel_entity_map m join catalog_entities e on e.id = m.entity_id
       left join stock_levels l on l.entity_id = e.id left join prices p on p.entity_id = e.id
       where m.store_id = $1::uuid and m.kind = 'entity' order by e.slug`,
      [storeId]
    )
  const things = (...numbers: ReadonlyArray<number>) =>
    numbers.map((n) => ({ slug: `thing-${n}`, status: "active", own: true, stock: 5, amount: 1_000 }))
  const changes = () =>
    shop.app.db.query(
      "select type, count(*)::int4 as n from outbox_events where type not like 'auth%' group by type order by type"
    )
  const restarted = async (storeId = id) => {
    await shop.done("POST", `/stores/${storeId}/backfill`, { restart: true })
    return shop.ran(storeId, "import")
  }

  it("is imported once it is connected, and another import writes nothing", async () => {
    assert.deepStrictEqual(await goods(), things(1, 2, 3, 4, 5))
    const before = await changes()
    const again = await restarted()
    assert.deepInclude(again, { imported: 0, converged: 0, archived: 0, inventoryUpdated: 0, skipped: [] })
    assert.deepStrictEqual(await changes(), before)
  })

  it("is rehearsed without a trace", async () => {
    shop.memory.products.push(memoryProduct(6))
    const before = await changes()
    const answer = await shop.done("POST", `/stores/${id}/backfill`, { dryRun: true })
    assert.deepInclude(answer.at("data"), { entitiesTouched: 1, attributesCreated: 1, cursor: null, complete: true })
    assert.deepStrictEqual(await changes(), before)
    assert.deepStrictEqual(await goods(), things(1, 2, 3, 4, 5))
    shop.memory.collects = "still"
    const refusal = await shop.refused("502 STORE_UNAVAILABLE", "POST", `/stores/${id}/backfill`, { dryRun: true })
    assert.include(refusal.text("error.message"), "It collects its products.")
    shop.memory.collects = "done"
    const collected = await shop.done("POST", `/stores/${id}/backfill`, { dryRun: true })
    assert.deepStrictEqual(collected.at("data"), answer.at("data"))
    shop.memory.collects = undefined
    assert.deepInclude(await restarted(), { imported: 1, inventoryUpdated: 1 })
  })

  it("follows what changes, archives what is gone, and restores what comes back", async () => {
    const [first, second, ...others] = shop.memory.products
    assert.isDefined(second)
    shop.memory.products = others
    assert.deepInclude(await restarted(), { archived: 2, imported: 0 })
    assert.deepStrictEqual((await goods()).map(({ status }) => status).slice(0, 3), ["archived", "archived", "active"])
    assert.deepInclude(await restarted(), { archived: 0, converged: 0 })
    shop.memory.products = [...first === undefined ? [] : [first], memoryProduct(2), ...others]
    assert.deepInclude(await restarted(), { imported: 0, converged: 2, archived: 0 })
    assert.deepStrictEqual(await goods(), things(...shop.memory.products.map((_, at) => at + 1)))
    shop.memory.hidden.add("p3")
    assert.deepInclude(await restarted(), { archived: 0, converged: 0 })
    shop.memory.hidden.clear()
  })

  it("goes on when products are refused, and says which", async () => {
    const broken = memoryProduct(7, { prices: [{ amount: "ten" }] })
    shop.memory.products.push(broken, memoryProduct(8))
    const report = await restarted()
    assert.deepInclude(report, { imported: 1 })
    assert.match(JSON.stringify(report), /prices\.0\.amount must be .*"externalId":"p7"/)
    shop.memory.products.splice(6)
    await restarted()
  })

  it("keeps drafts, rules of prices and categories, and slugs that are taken", async () => {
    const ruled = (n: number, status: string, categories: ReadonlyArray<ReadonlyArray<string>>) => {
      const { draft, ...rest } = memoryProduct(n, { variant: { sku: `R-${n}`, manageInventory: true } })
      return { ...rest, draft: { ...draft, categories, product: { ...draft.product, status } } }
    }
    shop.memory.products = [ruled(1, "active", [["Toys"]]), ruled(2, "draft", [["Toys"]]), ruled(3, "active", [])]
    const other = await shop.connect({ storeDomain: "https://ruled.example" })
    await shop.ran(other, "import")
    await shop.done("PATCH", `/stores/${other}`, {
      priceRule: { percent: 50 },
      catalog: { categories: ["toys"] },
      buffer: 2
    })
    await restarted(other)
    const [one, two, three] = await goods(other)
    assert.deepStrictEqual(one, { slug: "thing-1-p1", status: "active", own: true, stock: 3, amount: 1_500 })
    assert.deepInclude(two, { slug: "thing-2-p2", status: "draft", stock: 3 })
    assert.deepInclude(three, { slug: "thing-3-p3", status: "archived" })
  })

  it("is linked to products of ours by SKU, which it does not change", async () => {
    const ours = await buildersOf(shop.app).product({ price: 700, stock: 0 })
    assert.strictEqual(
      (await shop.ask("POST", `/catalog/entities/${ours}/variants`, { sku: "OURS", options: {} })).status,
      201
    )
    shop.memory.products.push(memoryProduct(9, { variant: { sku: "OURS", manageInventory: true } }))
    assert.deepInclude(await restarted(), { linked: 1, imported: 0 })
    const [row] = await shop.app.db.query(
      "select entity_id, is_linked from channel_entity_map where external_id = 'p9' and store_id = $1",
      [id]
    )
    assert.deepStrictEqual(row, { entity_id: ours, is_linked: true })
    shop.memory.products.pop()
    assert.deepInclude(await restarted(), { linked: 0, archived: 0 })
    assert.deepStrictEqual(
      await shop.app.db.query("select status from catalog_entities where id = $1", [ours]),
      [{ status: "active" }]
    )
  })

  it("of one address in two organizations is two catalogs", async () => {
    await shop.app.db.query("insert into organizations (id, slug, name) values ('org_b', 'org_b', 'B')")
    const there = inOrganization("org_b", testAdminActor)
    const { storeDomain } = { storeDomain: "https://shared.example" }
    const body = { provider: "memory", storeDomain, credentials: { key: "right-key-1" } }
    const [here, beside] = [
      (await shop.done("POST", "/stores", body)).text("data.id"),
      (await shop.done("POST", "/stores", body, there)).text("data.id")
    ]
    await shop.ran(here, "import")
    await shop.ran(beside, "import")
    const rows = await shop.app.db.query(
      `select m.organization_id, e.organization_id as of_entity, e.slug from channel_entity_map m
       join catalog_entities e on e.id = m.entity_id where m.store_id = $1 and m.kind = 'entity' order by e.slug`,
      [beside]
    )
    assert.lengthOf(rows, shop.memory.products.length)
    assert.deepStrictEqual(rows[0], { organization_id: "org_b", of_entity: "org_b", slug: "thing-1" })
    await shop.refused("404 NOT_FOUND", "POST", `/stores/${here}/backfill`, {}, there)
    await shop.refused("404 NOT_FOUND", "GET", `/stores/${here}/reconcile-status`, undefined, there)
  })

  it("is begun again while it is imported, and loses neither", async () => {
    shop.memory.products = Array.from({ length: 250 }, (_, n) => memoryProduct(n + 1_000))
    let pages = 0
    shop.memory.beforePage = Effect.promise(async () => {
      if (++pages === 2) await shop.done("POST", `/stores/${id}/backfill`, { restart: true })
    })
    await restarted()
    // Two pages of the first time, of which the second was not written, and three of the second time.
    assert.strictEqual(pages, 5)
    assert.lengthOf(
      (await goods()).filter(({ slug, status }) => /thing-1\d{3}$/.test(String(slug)) && status === "active"),
      250
    )
    shop.memory.beforePage = Effect.void
  })

  it("is imported from the first page again after the store refused a page", async () => {
    let pages = 0
    shop.memory.beforePage = Effect.sync(() => {
      if (++pages === 2) shop.memory.failure = new ChannelRefused({ message: "The cursor has expired." })
    })
    await shop.done("POST", `/stores/${id}/backfill`, {})
    await waitFor(
      "the import gives up",
      async () =>
        (await shop.jobs(id, "channel/backfill-catalog")).some(({ error }) => error === "The cursor has expired.")
    )
    shop.memory.failure = undefined
    await shop.done("POST", `/stores/${id}/backfill`, {})
    await waitFor("all pages are read", () => pages === 5)
    assert.deepInclude(await shop.ran(id, "import"), { imported: 0, warnings: [] })
    shop.memory.beforePage = Effect.void
  })
})
