import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { ann, type BoxShop, customer, openBoxShop } from "./BoxShop.ts"

describe("goods that are held from the scheduling on", () => {
  let shop: BoxShop
  beforeAll(async () => {
    shop = await openBoxShop({
      holdGoods: "scheduling",
      maxHoldDays: 30,
      maxHeldUnits: 100,
      retryMinutes: [60],
      slotMinutes: 60,
      slotCapacity: 1_000
    })
  })
  afterAll(() => shop.close())

  const reserved = async (product: string) => {
    const [row] = await shop.db.query("select sum(reserved)::int as n from stock_levels where entity_id = $1::uuid", [
      product
    ])
    return row?.["n"]
  }
  /** Schedules so many of a product; the id of the order. */
  const hold = async (product: string, more: object = {}, as = ann) =>
    (await shop.done("POST", "", shop.wish(await shop.cart(as, product, 2), more), as)).text("data.id")

  it("are given back on every way that an order can end without them", async () => {
    const product = await shop.product({ stock: 10 })
    const act = (id: string, word: string, as = ann) => shop.done("POST", `/${id}/${word}`, undefined, as)
    const cancelled = await hold(product)
    const paused = await hold(product, { everyDays: 7 })
    assert.strictEqual(await reserved(product), 4)
    await act(paused, "pause")
    assert.strictEqual(await reserved(product), 2)
    await act(paused, "resume")
    await act(paused, "skip")
    assert.strictEqual(await reserved(product), 4)
    await act(paused, "pause")
    await act(paused, "cancel")
    await act(cancelled, "cancel")
    assert.strictEqual(await reserved(product), 0)
    const failed = await hold(product, { paymentMethodId: "test_decline" })
    await shop.due(failed, "failed")
    assert.strictEqual(await reserved(product), 0)
    await shop.done("PATCH", `/${failed}`, { scheduledFor: shop.inHours(3) }, ann)
    assert.strictEqual(await reserved(product), 2)
    await act(failed, "cancel")
    const expired = await hold(product, { everyDays: 7 })
    assert.strictEqual(await reserved(product), 2)
    shop.clock.advance("30 hours")
    await shop.tick()
    await shop.isNow(expired, "expired")
    assert.strictEqual(await reserved(product), 0)
    const eve = customer("eve")
    const erased = await hold(product, {}, eve)
    assert.strictEqual((await shop.ask("DELETE", "/me", undefined, eve)).status, 200)
    await shop.serviceRegistry.enqueue("scheduled-orders/forget", {})
    await shop.isNow(erased, "cancelled")
    assert.strictEqual(await reserved(product), 0)
  })

  it("are not held for an order that cannot go on because they are short", async () => {
    const product = await shop.product({ stock: 2 })
    const paused = await hold(product, { everyDays: 7 })
    await shop.done("POST", `/${paused}/pause`, undefined, ann)
    const other = await hold(product)
    await shop.refused("422 VALIDATION_FAILED", "POST", `/${paused}/resume`, undefined, ann)
    assert.strictEqual((await shop.row(paused)).status, "paused")
    await shop.done("POST", `/${other}/cancel`, undefined, ann)
    assert.strictEqual(await reserved(product), 0)
  })

  it("are held for carts with the same goods in another order at the same time", async () => {
    const [one, other] = [await shop.product(), await shop.product()]
    const carts = await Promise.all(Array.from({ length: 16 }, async (_, n) => {
      const [first, second] = n % 2 === 0 ? [one, other] : [other, one]
      const id = await shop.cart(ann, first)
      const added = await shop.ask("POST", `/carts/${id}/items`, { entityId: second, quantity: 1 }, ann)
      assert.strictEqual(added.status, 201)
      return id
    }))
    const made = await Promise.all(carts.map((id) => shop.done("POST", "", shop.wish(id), ann)))
    assert.deepStrictEqual([await reserved(one), await reserved(other)], [16, 16])
    await Promise.all(made.map(({ text }) => shop.done("POST", `/${text("data.id")}/cancel`, undefined, ann)))
    assert.deepStrictEqual([await reserved(one), await reserved(other)], [0, 0])
  })

  it("are given to the checkouts of orders that repeat while others are scheduled for their next time", async () => {
    const product = await shop.product({ stock: 1_000 })
    const at = shop.inHours(2)
    const next = new Date(Date.parse(at) + 86_400_000).toISOString()
    const series: Array<string> = []
    for (let n = 0; n < 8; n++) series.push(await hold(product, { scheduledFor: at, everyDays: 1 }))
    const wishes: Array<object> = []
    for (let n = 0; n < 8; n++) wishes.push(shop.wish(await shop.cart(ann, product), { scheduledFor: next }))
    const released = [1, 2, 3].map(() => shop.ask("POST", "/scheduled-orders/process-due", { bufferMinutes: 121 }))
    const scheduled = wishes.map((wish) => shop.ask("POST", "/scheduled-orders", wish, ann))
    for (const { status } of await Promise.all([...released, ...scheduled])) assert.strictEqual(status, 201)
    for (const id of series) await shop.isNow(id, "completed")
    await waitFor("what is scheduled alone is held", async () => (await reserved(product)) === 16 + 8)
  })

  it("stay held, and the order scheduled, when the job of a release cannot be written", async () => {
    const product = await shop.product({ stock: 2 })
    const id = await hold(product, { scheduledFor: shop.inHours(1), everyDays: 7 })
    await shop.db.query(`create function no_jobs() returns trigger language plpgsql as
      $$ begin if new.task_slug = 'scheduled-orders/place' then raise exception 'no jobs'; end if; return new; end $$`)
    await shop.db.query("create trigger no_jobs before insert on commerce_jobs for each row execute function no_jobs()")
    const answer = await shop.ask("POST", "/scheduled-orders/process-due", { bufferMinutes: 61 })
    await shop.db.query("drop trigger no_jobs on commerce_jobs")
    assert.strictEqual(answer.status, 500)
    const { cartId, status } = await shop.row(id)
    assert.deepStrictEqual([status, (await shop.rows(`cartId=${cartId}`)).length], ["scheduled", 1])
    assert.strictEqual(await reserved(product), 2)
    await shop.due(id, "completed", 1)
  })
})

describe("goods that are held without a payment", () => {
  let shop: BoxShop
  beforeAll(async () => {
    shop = await openBoxShop({ holdGoods: "scheduling", maxHoldDays: 5, maxHeldUnits: 3 })
  })
  afterAll(() => shop.close())

  const days = (count: number) => ({ scheduledFor: shop.inHours(24 * count) })

  it("are at most so many units of a customer, also of orders that come at once; staff is not bound", async () => {
    const [product, eve] = [await shop.product({ stock: 100 }), customer("eve")]
    const four = await shop.refused(
      "422 VALIDATION_FAILED",
      "POST",
      "",
      shop.wish(await shop.cart(eve, product, 4)),
      eve
    )
    assert.match(
      four.text("error.message"),
      /cartId must have at most 3 units: the orders of a customer to come hold at most 3\.$/
    )
    const carts = await Promise.all(Array.from({ length: 6 }, () => shop.cart(eve, product)))
    const sent = await Promise.all(carts.map((cart) => shop.ask("POST", "/scheduled-orders", shop.wish(cart), eve)))
    assert.deepStrictEqual(sent.map(({ status }) => status).toSorted(), [201, 201, 201, 422, 422, 422])
    const [level] = await shop.db.query("select sum(reserved)::int as n from stock_levels where entity_id = $1", [
      product
    ])
    assert.strictEqual(level?.["n"], 3)
    const [first] = sent.filter(({ status }) => status === 201)
    await shop.done("POST", `/${first?.text("data.id")}/cancel`, undefined, eve)
    await shop.done("POST", "", shop.wish(await shop.cart(eve, product)), eve)
    const customerId = (await shop.ask("GET", "/me/profile", undefined, eve)).text("data.id")
    await shop.done("POST", "", { ...shop.wish(await shop.cart(eve, product, 50), days(60)), customerId })
  })

  it("are at most so many units of orders that are resumed at once, too", async () => {
    const [product, max] = [await shop.product({ stock: 100 }), customer("max")]
    const paused = async () => {
      const wish = shop.wish(await shop.cart(max, product, 2), { everyDays: 1 })
      const id = (await shop.done("POST", "", wish, max)).text("data.id")
      await shop.done("POST", `/${id}/pause`, undefined, max)
      return id
    }
    const ids: Array<string> = []
    for (let n = 0; n < 6; n++) ids.push(await paused())
    const sent = await Promise.all(ids.map((id) => shop.ask("POST", `/scheduled-orders/${id}/resume`, undefined, max)))
    assert.deepStrictEqual(sent.map(({ status }) => status).toSorted(), [201, 422, 422, 422, 422, 422])
  })

  it("are held for at most so many days, and not for repeats that are skipped beyond them", async () => {
    const [product, zoe] = [await shop.product({ stock: 100 }), customer("zoe")]
    const cart = await shop.cart(zoe, product)
    const late = await shop.refused("422 VALIDATION_FAILED", "POST", "", shop.wish(cart, days(6)), zoe)
    assert.include(
      late.text("error.message"),
      "scheduledFor must be within 5 days, because its goods are held until then."
    )
    const held = async () =>
      (await shop.db.query("select sum(reserved)::int as n from stock_levels where entity_id = $1", [product]))[0]
        ?.["n"]
    for (const rhythm of [{ everyDays: 7 }, { everyMonths: 1 }]) {
      const id = (await shop.done("POST", "", shop.wish(cart, { ...days(4), ...rhythm }), zoe)).text("data.id")
      await shop.refused("422 VALIDATION_FAILED", "PATCH", `/${id}`, days(6), zoe)
      assert.strictEqual(await held(), 1)
      await shop.done("POST", `/${id}/skip`, undefined, zoe)
      assert.strictEqual(await held(), 0)
      // What it gets from then on is not held either: it is far ahead.
      const items = [{ entityId: product, quantity: 2 }]
      assert.strictEqual((await shop.ask("PUT", `/scheduled-orders/${id}/items`, { items }, zoe)).status, 200)
      assert.strictEqual(await held(), 0)
      await shop.done("POST", `/${id}/cancel`, undefined, zoe)
    }
  })
})
