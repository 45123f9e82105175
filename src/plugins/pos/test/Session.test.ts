import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { elsewhere, onDatabase, openElsewhere, refused } from "../../../../test/checkout/CheckoutFixtures.ts"
import { aProduct } from "../../../../test/support/Purchase.ts"
import { type Answer, api, asAdmin, at, live, testAppLayer } from "../../../../test/support/TestApp.ts"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { aTaxRate, to } from "../../../../test/tax/TaxedShop.ts"
import { pos } from "../index.ts"
import { aTill, get } from "./Till.ts"
import { openTills } from "./TillShop.ts"

const shop = layer(testAppLayer({ plugins: [pos()] }, { logLevel: "none" }), live)

const session = (terminalId: string, cursor?: string, headers: Readonly<Record<string, string>> = {}) =>
  api("GET", `/api/pos/session?terminalId=${terminalId}${cursor === undefined ? "" : `&cursor=${cursor}`}`, {
    as: asAdmin,
    headers
  })
const goodsOf = (answer: Answer) => new Map(answer.list("data.goods").map((one) => [at(one, "entityId"), one]))

shop("the data of a till without a connection", (it) => {
  it.effect("has each thing that is sold with its price and the taxes of the till", () =>
    Effect.gen(function*() {
      yield* aTaxRate({ country: "CH", rateBps: 260 })
      const [soup, hidden] = [yield* aProduct({ price: 900 }), yield* aProduct({ price: 800 })]
      yield* api("PATCH", `/api/catalog/entities/${hidden}`, { as: asAdmin, body: { isVisible: false } })
      const { terminalId } = yield* aTill({ address: to("CH").shippingAddress })
      const answer = yield* session(terminalId)
      assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
      const goods = goodsOf(answer)
      assert.deepStrictEqual(
        ["unitPrice", "variantId", "taxes.0.rate"].map((field) => at(goods.get(soup), field)),
        [900, null, "2.6"],
        JSON.stringify(goods.get(soup))
      )
      assert.isFalse(goods.has(hidden))
      assert.deepStrictEqual([answer.at("data.isComplete"), answer.at("data.terminal.id")], [true, terminalId])
      const tag = answer.headers.get("etag") ?? ""
      assert.strictEqual((yield* session(terminalId, undefined, { "if-none-match": tag })).status, 304)
      yield* openElsewhere
      refused(yield* get(`/session?terminalId=${terminalId}`, elsewhere), 404, "NOT_FOUND")
    }))

  it.effect("comes in parts since a cursor: what has changed, what is gone, and all when all prices may differ", () =>
    Effect.gen(function*() {
      const [kept, changed, gone] = [yield* aProduct(), yield* aProduct(), yield* aProduct()]
      const { terminalId } = yield* aTill()
      const cursor = (yield* session(terminalId)).text("data.cursor")
      const idle = yield* session(terminalId, cursor)
      assert.deepStrictEqual(
        [idle.at("data.isComplete"), idle.at("data.goods")],
        [false, []],
        JSON.stringify(idle.body)
      )
      const priced = yield* api("POST", "/api/pricing/prices", {
        as: asAdmin,
        body: { entityId: changed, currency: "USD", amount: 1_234 }
      })
      assert.strictEqual(priced.status, 201)
      yield* api("PATCH", `/api/catalog/entities/${gone}`, { as: asAdmin, body: { isVisible: false } })
      const part = yield* session(terminalId, cursor)
      assert.deepStrictEqual(
        new Set(part.list("data.changed")),
        new Set([changed, gone]),
        JSON.stringify(part.body).slice(0, 500)
      )
      const goods = goodsOf(part)
      assert.strictEqual(at(goods.get(changed), "unitPrice"), 1_234)
      assert.isFalse(goods.has(gone) || goods.has(kept))
      yield* aTaxRate({ country: "AT", rateBps: 2_000 })
      const whole = yield* session(terminalId, part.text("data.cursor"))
      assert.isTrue(whole.at("data.isComplete") === true && goodsOf(whole).has(kept))
    }))

  it.effect("of 5,000 things is at most 2 MB packed", () =>
    Effect.gen(function*() {
      yield* aProduct({ price: 900 })
      yield* onDatabase((sql) =>
        sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible, metadata)
        select gen_random_uuid(), 'org_default', 'product', 'thing-of-many-' || n, 'active', true, '{}'
        from generate_series(1, 5000) n`
      )
      yield* onDatabase((sql) =>
        sql`insert into entity_attributes (id, organization_id, entity_id, locale, title)
        select gen_random_uuid(), organization_id, id, 'en', 'A thing of many ' || slug from catalog_entities where slug like 'thing-of-many-%'`
      )
      yield* onDatabase((sql) =>
        sql`insert into prices (id, organization_id, entity_id, currency, amount)
        select gen_random_uuid(), organization_id, id, 'USD', 1000 from catalog_entities where slug like 'thing-of-many-%'`
      )
      const { terminalId } = yield* aTill()
      const answer = yield* session(terminalId)
      assert.isAtLeast(answer.list("data.goods").length, 5_000)
      assert.isAtMost(gzipSync(JSON.stringify(answer.body)).length, 2_000_000)
    }))
})

it(
  "prices that begin and end at a time are news of a till then, and each answer says when the next ones are",
  async () => {
    const shop = await openTills()
    const [kept, entityId] = [await shop.product(), await shop.product({ price: 1_000 })]
    const { terminalId } = await shop.till()
    const hour = (n: number) => new Date(Math.ceil(shop.app.clock.now() / 1_000) * 1_000 + n * 3_600_000).toISOString()
    const [start, end, later] = [hour(1), hour(2), hour(30)]
    const price = { currency: "USD", validFrom: start, validUntil: end }
    await shop.core("POST", "/pricing/prices", { entityId, amount: 800, ...price })
    await shop.core("POST", "/pricing/modifiers", {
      name: "x",
      type: "percentage_discount",
      value: 10,
      validFrom: later
    })
    const read = async (cursor: string) => {
      const got = await shop.read(`/session?terminalId=${terminalId}&cursor=${cursor}`)
      const goods = got.list("data.goods").map((one) => [at(one, "entityId"), at(one, "unitPrice")])
      return {
        cursor: got.text("data.cursor"),
        isComplete: got.at("data.isComplete"),
        until: got.at("data.validUntil"),
        goods
      }
    }
    let begun = (await read("0")).cursor
    // What was written before is news until it is relayed.
    const before = await waitFor("an answer without news", async () => {
      const delta = await read(begun)
      begun = delta.cursor
      return delta.isComplete === false && delta.goods.length === 0 ? delta : undefined
    })
    assert.strictEqual(before.until, start)
    shop.app.clock.advance("61 minutes")
    const during = await read(before.cursor)
    assert.deepInclude(during, { isComplete: false, until: end, goods: [[entityId, 800]] })
    assert.deepInclude(await read(during.cursor), { until: end, goods: [] })
    shop.app.clock.advance("1 hour")
    const after = await read(during.cursor)
    assert.deepInclude(after, { until: later, goods: [[entityId, 1_000]] })
    // A rule for all prices.
    shop.app.clock.advance("28 hours")
    const whole = await read(after.cursor)
    assert.isTrue(whole.isComplete === true && whole.until === null)
    assert.includeDeepMembers(whole.goods, [[kept, 900], [entityId, 900]])
    await shop.close()
  }
)
