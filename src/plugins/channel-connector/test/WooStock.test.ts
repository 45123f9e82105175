import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { wooTests } from "./WooShop.ts"

const test = wooTests()
const counted = (stock_quantity: number) => ({ manage_stock: true, stock_quantity })

describe("the stock of a WooCommerce", () => {
  test("is read, and set where it is counted and not shared", ({ shop, stock }) =>
    Effect.gen(function*() {
      const add = (fields: object, parent?: number) => shop.catalog.create({ name: "Mug", ...fields }, parent).id
      const [free, out, back, short] = [
        add({}),
        add({ stock_status: "outofstock" }),
        add({ stock_status: "onbackorder" }),
        add({ ...counted(-2), backorders: "yes" })
      ]
      const shirt = add({ type: "variable", ...counted(5) })
      const [shared, separate, disabled, unlimited] = [
        add({}, shirt),
        add({ ...counted(3) }, shirt),
        add({ ...counted(3), status: "private" }, shirt),
        add({ status: "private" }, shirt)
      ].map((id) => `${shirt}/${id}`)
      const ids = [free, out, back, short, shared, "999999999999", `999999/1`, separate, disabled, unlimited].map(
        String
      )
      const levels = yield* stock.read(ids)
      assert.deepStrictEqual(levels.map(({ available }) => available), [null, 0, null, -2, 5, 3, 0, 0])
      const fixed = levels.filter(({ isFixed }) => isFixed).map(({ externalId }) => externalId)
      assert.deepStrictEqual(
        fixed,
        [free, out, back, shared, disabled, unlimited].map(String),
        "have no stock of their own"
      )
      assert.deepStrictEqual(levels.map(({ externalId }) => externalId), ids.filter((id) => !id.startsWith("999999")))
      const changes = [[shared, 5, 4], [separate, 3, 9], [`${free}`, null, 7], [`${out}`, 1, 2], ["999999999999", 1, 2]]
        .map(([externalId, expected, available]) => ({
          externalId: `${externalId}`,
          expected: expected === null ? null : Number(expected),
          available: Number(available)
        }))
      const outcomes = yield* stock.set(changes, "key-1")
      assert.deepStrictEqual(outcomes.map(({ available, outcome }) => [available, outcome]), [
        [5, "differs"],
        [9, "set"],
        [7, "set"],
        [0, "differs"]
      ])
      assert.deepStrictEqual(yield* stock.set(changes, "key-1"), outcomes, "the same again")
      assert.deepStrictEqual([shirt, free].map((id) => shop.catalog.get(id).fields.stock_quantity), [5, 7])
      shop.catalog.moveStock(free, -2)
      const again = yield* stock.set([{ externalId: `${free}`, expected: null, available: 7 }], "key-1")
      assert.deepStrictEqual(
        again,
        [{ externalId: `${free}`, available: 5, outcome: "set" }],
        "was made, and sold since"
      )
    }))

  test("is asked for once per product with variations, and once for a hundred others", ({ shop, stock }) =>
    Effect.gen(function*() {
      const simple = Array.from({ length: 101 }, (_, n) => shop.catalog.create({ name: `Mug ${n}` }).id)
      const shirt = shop.catalog.create({ name: "Shirt", type: "variable" }).id
      const sizes = [1, 2, 3].map((n) => `${shirt}/${shop.catalog.create(counted(n), shirt).id}`)
      assert.lengthOf(yield* stock.read([...simple.map(String), ...sizes]), 104)
      assert.lengthOf(shop.calls, 3)
    }))
})
