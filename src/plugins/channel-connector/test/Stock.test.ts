import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ChannelUnavailable } from "../index.ts"
import { type ChannelShop, openShop } from "./ChannelShop.ts"

const states = ["pending", "exported", "confirmed", "failed", "abandoned"] as const

describe("the stock of a store", () => {
  let shop: ChannelShop
  let id: string
  beforeAll(async () => {
    shop = await openShop()
    id = await shop.connect()
    await shop.ran(id, "import")
  })
  afterAll(() => shop.close())
  beforeEach(() => {
    shop.memory.failure = undefined
    // What stores said before is forgotten.
    shop.app.clock.advance("6 seconds")
  })

  const unit = (n: number) => shop.thing(id, `v${n}`)
  const levelOf = async (n: number) => {
    const [row] = await shop.app.db.query("select on_hand, reserved from stock_levels where variant_id = $1", [
      (await unit(n)).variantId
    ])
    return row
  }
  const synced = async () => {
    await shop.app.serviceRegistry.enqueue("channel/sync-inventory", { storeId: id })
    await shop.settled(id)
    return shop.ran(id, "sync")
  }
  const cartOf = async (...items: ReadonlyArray<object>) => {
    const cart = await shop.ask("POST", "/carts", { currency: "EUR" }, null)
    const headers = { "x-cart-secret": cart.text("data.secret") }
    for (const item of items) {
      const added = await shop.ask("POST", `/carts/${cart.text("data.id")}/items`, item, null, headers)
      assert.strictEqual(added.status, 201, JSON.stringify(added.body))
    }
    const body = { cartId: cart.text("data.id"), paymentMethodId: "test", currency: "EUR" }
    return () => shop.ask("POST", "/checkout", body, null, headers)
  }
  const bought = async (n: number, quantity: number) => {
    const order = await (await cartOf({ ...await unit(n), quantity }))()
    assert.strictEqual(order.status, 201, JSON.stringify(order.body))
    return order
  }
  const exported = (orderId: string, state: string) =>
    shop.app.db.query(
      `insert into channel_order_exports (id, organization_id, store_id, order_id, state)
       values (gen_random_uuid(), 'org_default', $1, $2, $3)
       on conflict (organization_id, store_id, order_id) do update set state = excluded.state`,
      [id, orderId, state]
    )

  it("is what the store has and what it took off for our orders, and equal levels write nothing", async () => {
    const orderId = (await bought(1, 2)).text("data.id")
    for (const state of states) {
      await exported(orderId, state)
      const isTaken = state === "exported" || state === "confirmed"
      shop.memory.levels.set("v1", isTaken ? 3 : 5)
      await synced()
      assert.deepStrictEqual(await levelOf(1), { on_hand: 5, reserved: 2 }, state)
      shop.memory.levels.set("v1", 4)
      await synced()
      assert.deepStrictEqual(await levelOf(1), { on_hand: isTaken ? 6 : 4, reserved: 2 }, state)
    }
    await exported(orderId, "confirmed")
    shop.memory.levels.set("v1", 3)
    await synced()
    const written = () =>
      shop.app.db.query(
        "select (select count(*) from outbox_events) as n, (select string_agg(xmin::text, ' ' order by sellable_id) from stock_items) as versions"
      )
    const before = await written()
    assert.deepInclude(await synced(), { inventoryUpdated: 0 })
    assert.deepStrictEqual(await written(), before)
    // A part is sent, then the rest: the units leave here too.
    for (const status of ["confirmed", "processing"]) {
      assert.strictEqual((await shop.ask("PATCH", `/orders/${orderId}/status`, { status })).status, 200)
    }
    const lines = await shop.ask("GET", `/orders/${orderId}`)
    for (const onHand of [4, 3]) {
      const lineItems = [{ orderLineItemId: lines.text("data.lineItems.0.id"), quantity: 1 }]
      const sent = await shop.ask("POST", `/orders/${orderId}/fulfillments`, { lineItems })
      assert.strictEqual(sent.status, 201, JSON.stringify(sent.body))
      await synced()
      assert.deepInclude(await levelOf(1), { on_hand: onHand })
    }
  })

  it("falls below what is promised, rises, and is zero for what the store no longer has", async () => {
    await bought(2, 3)
    for (const [level, onHand] of [[1, 1], [9, 9], [undefined, 0]] as const) {
      shop.memory.levels.set("v2", level)
      await synced()
      assert.deepStrictEqual(await levelOf(2), { on_hand: onHand, reserved: 3 })
    }
  })

  it("is not counted while the store does not count it", async () => {
    const { variantId } = await unit(3)
    const counted = () => shop.app.db.query("select manage_inventory from variants where id = $1", [variantId])
    shop.memory.levels.set("v3", null)
    await synced()
    assert.deepStrictEqual(await counted(), [{ manage_inventory: false }])
    shop.memory.levels.set("v3", 7)
    await synced()
    assert.deepStrictEqual(await counted(), [{ manage_inventory: true }])
    assert.deepInclude(await levelOf(3), { on_hand: 7 })
  })

  it("goes to the warehouse of the store, without what is kept back", async () => {
    const made = await shop.ask("POST", "/inventory/warehouses", { name: "Beside", code: "BESIDE" })
    await shop.done("PATCH", `/stores/${id}`, { warehouseId: made.text("data.id"), buffer: 2, maxQuantity: 4 })
    shop.memory.levels.set("v4", 5)
    shop.memory.levels.set("v5", 50)
    await synced()
    const there = async (n: number) =>
      shop.app.db.query("select on_hand from stock_levels where variant_id = $1 and warehouse_id = $2", [
        (await unit(n)).variantId,
        made.text("data.id")
      ])
    assert.deepStrictEqual([await there(4), await there(5)], [[{ on_hand: 3 }], [{ on_hand: 4 }]])
    await shop.done("PATCH", `/stores/${id}`, { warehouseId: null, buffer: 0, maxQuantity: null })
  })

  describe("is asked before a checkout takes money, which", () => {
    const read = () => shop.memory.calls.filter((one) => one === "read").length

    it("is refused for lines of one thing that are too many together, with a sentence and their items", async () => {
      const thing = await unit(5)
      shop.memory.levels.set("v5", 3)
      const checkout = await cartOf({ ...thing, quantity: 2 }, { ...thing, quantity: 2, metadata: { gift: true } })
      const refused = await checkout()
      assert.strictEqual(refused.text("error.message"), "Only 3 of “Thing 5” are left.")
      assert.strictEqual(refused.text("error.details.reason"), "insufficient_stock")
      assert.lengthOf(refused.list("error.details.lines"), 2)
      assert.strictEqual(refused.text("error.details.lines.0.variantId"), thing.variantId)
      assert.isString(refused.at("error.details.lines.0.lineItemId"))
      const before = read()
      assert.strictEqual((await checkout()).status, 422)
      assert.strictEqual(read(), before)
      shop.memory.levels.set("v5", 4)
      shop.app.clock.advance("6 seconds")
      assert.strictEqual((await checkout()).status, 201)
      assert.strictEqual(read(), before + 1)
    })

    it("is refused for what the store does not have, and while it cannot be reached or is too late", async () => {
      const checkout = await cartOf({ ...await unit(4), quantity: 1 })
      shop.memory.levels.set("v4", undefined)
      assert.strictEqual((await checkout()).text("error.message"), "“Thing 4” is sold out.")
      shop.app.clock.advance("6 seconds")
      shop.memory.failure = new ChannelUnavailable({ message: "Not there." })
      const away = await checkout()
      assert.deepInclude(away.at("error.details"), { reason: "out_of_service", retryable: true })
      assert.match(away.text("error.message"), /^The stock of “Thing 4” cannot be checked/)
      shop.memory.failure = undefined
      shop.memory.beforeRead = Effect.never
      assert.deepInclude((await checkout()).at("error.details"), { reason: "out_of_service" })
      shop.memory.beforeRead = Effect.void
      shop.memory.levels.set("v4", null)
      assert.strictEqual((await checkout()).status, 201)
    })
  })
})
