import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { beforeHook, definePlugin } from "stoa/plugin"
import { ann, type BoxShop, customer, openBoxShop } from "./BoxShop.ts"

describe("the items of a scheduled order", () => {
  let shop: BoxShop
  /** Happens while the next item is looked at. */
  let meanwhile: (() => Promise<unknown>) | undefined
  beforeAll(async () => {
    const look = beforeHook("cart.beforeAddItem", ({ data }) =>
      Effect.promise(async () => {
        const run = meanwhile
        meanwhile = undefined
        await run?.()
        return data
      }))
    const plugin = definePlugin({ id: "meanwhile", version: "1.0.0", hooks: () => [look] })
    shop = await openBoxShop({ holdGoods: "scheduling", maxHeldUnits: 1_000, maxHoldDays: 10 }, {}, [plugin])
  })
  afterAll(() => shop.close())

  const reserved = async (product: string) =>
    (await shop.db.query("select sum(reserved)::int as n from stock_levels where entity_id = $1", [product]))[0]?.["n"]
  const set = (id: string, items: ReadonlyArray<object>, as = ann) =>
    shop.ask("PUT", `/scheduled-orders/${id}/items`, { items }, as)
  const sold = async (id: string) => {
    const { orderId } = await shop.due(id, "completed")
    const lines = (await shop.ask("GET", `/orders/${orderId}`)).list("data.lineItems").map(Object)
    return lines.map(({ entityId, quantity }) => [entityId, quantity])
  }

  it("are changed by customer and staff with what is held, and are ordered from then on", async () => {
    const [box, honey] = [await shop.product({ stock: 50 }), await shop.product({ stock: 50 })]
    const made = await shop.done("POST", "", shop.wish(await shop.cart(ann, box, 2), { everyDays: 7 }), ann)
    const id = made.text("data.id")
    const both = [{ entityId: box, quantity: 5 }, { entityId: honey, quantity: 3, notes: "Dark" }]
    assert.strictEqual((await set(id, both)).status, 200)
    assert.deepStrictEqual([await reserved(box), await reserved(honey)], [5, 3])
    await shop.done("POST", `/${id}/pause`, undefined, ann)
    assert.strictEqual((await shop.ask("PUT", `/scheduled-orders/${id}/items`, { items: both.slice(1) })).status, 200)
    assert.deepStrictEqual([await reserved(box), await reserved(honey)], [0, 0])
    await shop.done("POST", `/${id}/resume`, undefined, ann)
    assert.deepStrictEqual([await reserved(box), await reserved(honey)], [0, 3])
    assert.deepStrictEqual(await sold(id), [[honey, 3]])
    const [next] = await shop.rows(`cartId=${made.text("data.cartId")}&status=scheduled`)
    assert.deepInclude(Object(next?.items[0]), { entityId: honey, quantity: 3, notes: "Dark" })
    assert.strictEqual((await set(id, both)).status, 422)
  })

  it("are refused as by a cart, and leave what is there", async () => {
    const [box, draft] = [await shop.product({ stock: 4 }), await shop.product({ stock: 50 })]
    await shop.ask("PATCH", `/catalog/entities/${draft}`, { status: "draft" })
    const id = (await shop.done("POST", "", shop.wish(await shop.cart(ann, box, 2)), ann)).text("data.id")
    assert.strictEqual((await set(id, [{ entityId: draft, quantity: 1 }])).status, 404)
    assert.strictEqual((await set(id, [{ entityId: box, quantity: 1 }], customer("eve"))).status, 404)
    for (const items of [[], [{ entityId: box, quantity: 5 }], [{ entityId: box, quantity: 0 }]]) {
      assert.strictEqual((await set(id, items)).status, 422)
    }
    const many = await shop.product({ stock: 2_000 })
    const answer = await set(id, [{ entityId: many, quantity: 1_001 }])
    assert.match(answer.text("error.message"), /^items must have at most \d+ units/)
    assert.deepStrictEqual([await reserved(box), await reserved(many)], [2, 0])
    assert.deepStrictEqual(await sold(id), [[box, 2]])
  })

  it("are those before or those after a change at the moment of the renewal, and no goods stay held", async () => {
    const [one, other] = [await shop.product({ stock: 500 }), await shop.product({ stock: 500 })]
    const make = async (product: string) =>
      (await shop.done("POST", "", shop.wish(await shop.cart(ann, product, 2)), ann)).text("data.id")
    const pairs: Array<readonly [string, string, string]> = []
    const change = ([id, , after]: typeof pairs[number]) => set(id, [{ entityId: after, quantity: 3 }])
    const release = () => shop.ask("POST", "/scheduled-orders/process-due", { bufferMinutes: 121 })
    const early = await make(one)
    meanwhile = release
    const late = await set(early, [{ entityId: other, quantity: 3 }])
    assert.deepStrictEqual([late.status, late.at("error.code")], [422, "INVALID_TRANSITION"])
    assert.deepStrictEqual(await sold(early), [[one, 2]])
    for (let n = 0; n < 12; n++) {
      const [before, after] = n % 2 === 0 ? [one, other] : [other, one]
      pairs.push([await make(before), before, after])
    }
    const first = pairs.slice(0, 6).map(change)
    const released = [release(), release()]
    const answers = await Promise.all([...first, ...pairs.slice(6).map(change)])
    for (const { status } of await Promise.all(released)) assert.strictEqual(status, 201)
    const ordered: Record<string, number> = { [one]: 2, [other]: 0 }
    for (const [n, [id, before, after]] of pairs.entries()) {
      const isChanged = answers[n]?.status === 200
      if (!isChanged) assert.strictEqual(answers[n]?.at("error.code"), "INVALID_TRANSITION")
      const [item, quantity] = isChanged ? [after, 3] : [before, 2]
      assert.deepStrictEqual(await sold(id), [[item, quantity]])
      ordered[item] = (ordered[item] ?? 0) + quantity
    }
    assert.deepStrictEqual([await reserved(one), await reserved(other)], [ordered[one], ordered[other]])
  })
})
