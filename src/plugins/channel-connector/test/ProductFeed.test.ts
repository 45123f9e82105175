import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { buildersOf } from "stoa/plugin/testing"
import { answering, serviceEmulator } from "../../../../test/plugins/ServiceEmulator.ts"
import { productFeed } from "../index.ts"
import { type ChannelShop, openShop } from "./ChannelShop.ts"

const file = (name: string, rest: object = {}) => ({
  name,
  form: "google",
  country: "DE",
  currency: "USD",
  locale: "en",
  ...rest
})

describe("product feeds", () => {
  const scope = Scope.makeUnsafe()
  let shop: ChannelShop
  let emulator: Effect.Success<typeof serviceEmulator>
  let id: string
  beforeAll(async () => {
    emulator = await Effect.runPromise(Effect.provideService(serviceEmulator, Scope.Scope, scope))
    shop = await openShop({ adapters: [productFeed], origins: [emulator.origin] })
    id = await shop.connect({
      provider: "product-feed",
      storeDomain: "https://front.example",
      credentials: { authorization: "Bearer of-the-feed" }
    })
  })
  afterAll(async () => {
    await shop.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const core = async (method: string, path: string, body: object) => {
    const got = await shop.ask(method, path, body)
    assert.isBelow(got.status, 300, JSON.stringify(got.body))
    return got
  }
  const listing = (...files: ReadonlyArray<object>) =>
    shop.done("PATCH", `/stores/${id}`, { listing: { productPath: "/p/{slug}?ref=feed", files } })
  const fetched = async (name: string) => {
    const links = await shop.done("GET", `/stores/${id}/feeds`)
    const link = links.list("data").map((one) => Object(one)).find((one) => one.name === name)
    const path = new URL(link.url).pathname
    const got = await fetch(`${shop.app.app.url}${path}`)
    return { path, headers: got.headers, status: got.status, body: await got.text() }
  }
  const lines = async (name: string) => {
    const { body, status } = await fetched(name)
    assert.strictEqual(status, 200)
    return body.trim().split("\n").filter((line) => line !== "").map((line) => Object(JSON.parse(line)))
  }

  it("show what is sold with its price, stock, picture and codes, and nothing else", async () => {
    const product = await buildersOf(shop.app).product({ price: 1000, stock: 5 })
    const without = await buildersOf(shop.app).product({ price: 700, stock: 0 })
    await core("POST", "/pricing/prices", { entityId: product, currency: "USD", amount: 800, compareAtAmount: 1000 })
    await listing(file("de.jsonl"), file("meta.jsonl", { form: "meta" }))
    const all = await lines("de.jsonl")
    const one = all.find((item) => item.id === product)
    assert.deepInclude(one, {
      availability: "in_stock",
      condition: "new",
      price: "10.00 USD",
      sale_price: "8.00 USD",
      identifier_exists: "no"
    })
    assert.match(one.link, /^https:\/\/front\.example\/p\/[^?]+\?ref=feed&country=DE&currency=USD$/)
    assert.deepInclude(all.find((item) => item.id === without), { availability: "out_of_stock", price: "7.00 USD" })
    const meta = (await lines("meta.jsonl")).find((item) => item.id === product)
    assert.deepInclude(meta, { availability: "in stock", quantity_to_sell_on_facebook: "5" })
    // A text that waits for approval is not published.
    await core("PUT", `/catalog/entities/${product}/attributes/en`, { title: "Draft of a title", status: "draft" })
    assert.strictEqual((await lines("de.jsonl")).find((item) => item.id === product)?.title, one.title)
    await core("PATCH", `/catalog/entities/${without}`, { isVisible: false })
    assert.notInclude((await lines("de.jsonl")).map((item) => item.id), without)
  })

  it("show each variant with its code, by the rules of the store", async () => {
    const product = await buildersOf(shop.app).product({ price: 2000, stock: 0 })
    const variant = await core("POST", `/catalog/entities/${product}/variants`, {
      options: {},
      sku: "S-1",
      barcode: "4006381333931"
    })
    const variantId = variant.text("data.id")
    await shop.done("PATCH", `/stores/${id}`, { priceRule: { percent: 10 }, buffer: 1 })
    const [item] = (await lines("de.jsonl")).filter((one) => one.item_group_id === product)
    assert.deepInclude(item, {
      id: variantId,
      gtin: "4006381333931",
      mpn: "S-1",
      price: "22.00 USD",
      identifier_exists: "yes"
    })
    await shop.done("PATCH", `/stores/${id}`, { priceRule: null, buffer: 0 })
  })

  it("are files of three formats that can be cached, with text escaped as each needs it", async () => {
    const product = await buildersOf(shop.app).product({ price: 100, stock: 1 })
    await core("PUT", `/catalog/entities/${product}/attributes/en`, { title: `A "b" <c> & d, e` })
    await listing(file("de.xml"), file("de.csv"))
    const xml = await fetched("de.xml")
    assert.strictEqual(xml.headers.get("cache-control"), "public, max-age=900")
    assert.include(xml.headers.get("content-type") ?? "", "application/rss+xml")
    assert.include(xml.body, `<g:title>A "b" &lt;c&gt; &amp; d, e</g:title>`)
    assert.match(xml.body, /^<\?xml [^]*<\/channel><\/rss>\n$/)
    const [head = "", ...rows] = (await fetched("de.csv")).body.trim().split("\n")
    const row = rows.find((one) => one.includes(product)) ?? ""
    assert.include(row, `"A ""b"" <c> & d, e"`)
    assert.strictEqual(head.split(",").length, 14)
    assert.strictEqual((row.match(/","/g) ?? []).length, 13)
  })

  it("have more products than a page", async () => {
    await listing(file("de.jsonl"))
    const before = (await lines("de.jsonl")).length
    const more = await Promise.all(
      Array.from({ length: 110 }, () => buildersOf(shop.app).product({ price: 100, stock: 1 }))
    )
    const all = (await lines("de.jsonl")).map((item) => item.id)
    assert.strictEqual(new Set(all).size, all.length)
    assert.strictEqual(all.length, before + more.length)
  })

  it("have an address with a key, which another secret makes another one", async () => {
    const { path } = await fetched("de.jsonl")
    const status = async (at: string) => (await fetch(`${shop.app.app.url}${at}`)).status
    const [key = ""] = path.split("/").slice(-2)
    assert.strictEqual(await status(path.replace(key, `${key.slice(1)}A`)), 404)
    assert.strictEqual(await status(path.replace("de.jsonl", "fr.jsonl")), 404)
    assert.strictEqual(await status(path.replace(id, "7f1d9b1a-3b39-4b7c-9d54-1f3f4f9a2b11")), 404)
    await shop.done("PUT", `/stores/${id}/credentials`, {
      credentials: { authorization: "Bearer of-the-feed" },
      webhookSecret: "another secret"
    })
    assert.strictEqual(await status(path), 404)
    assert.strictEqual((await fetched("de.jsonl")).status, 200)
  })

  it("are put to an address once a day, and when staff says so", async () => {
    await listing(file("de.csv", { pushUrl: `${emulator.origin}/de.csv` }), file("us.xml"))
    await shop.done("POST", `/stores/${id}/feeds/push`)
    await shop.settled(id)
    const [first] = emulator.received
    assert.deepInclude(first, { method: "PUT", path: "/de.csv" })
    assert.strictEqual(first?.headers.authorization, "Bearer of-the-feed")
    assert.strictEqual(first?.body, (await fetched("de.csv")).body)
    emulator.script.push(answering(401, "no"))
    await shop.app.serviceRegistry.enqueue("channel/push-feeds", {})
    assert.strictEqual((await shop.until(id, "error")).at("data.lastError"), "The store answered 401.")
    assert.lengthOf(emulator.received, 2)
  })
})
