import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { buildersOf } from "stoa/plugin/testing"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { ChannelUnavailable } from "../index.ts"
import { type ChannelShop, openShop } from "./ChannelShop.ts"
import { memoryProduct } from "./MemoryStore.ts"

describe("the stock of a product of ours that a store sells, too", () => {
  let shop: ChannelShop
  let storeId: string
  let entityId: string
  let variantId: string
  let warehouseId: string

  const adjust = async (quantity: number, type = "adjustment") => {
    const sent = await shop.ask("POST", "/inventory/adjust", { entityId, variantId, warehouseId, type, quantity })
    assert.strictEqual(sent.status, 200, JSON.stringify(sent.body))
  }
  beforeAll(async () => {
    shop = await openShop({ linkBySku: true })
    entityId = await buildersOf(shop.app).product({ stock: 0 })
    const made = await shop.ask("POST", `/catalog/entities/${entityId}/variants`, { sku: "OURS", options: {} })
    variantId = made.text("data.id")
    warehouseId = (await shop.ask("GET", "/inventory/warehouses")).text("data.0.id")
    await adjust(20, "restock")
    shop.memory.products = [memoryProduct(9, { variant: { sku: "OURS", manageInventory: true } })]
    storeId = await shop.connect()
    await shop.ran(storeId, "import")
  })
  afterAll(() => shop.close())
  afterEach(async () => {
    shop.memory.silence = undefined
    await shop.done("PATCH", `/stores/${storeId}`, { buffer: 0, maxQuantity: null })
    await reconciled()
  })

  const there = () => shop.memory.levels.get("v9")
  const here = async () => {
    const [row] = await shop.app.db.query(
      "select on_hand, on_hand - reserved as available from stock_levels where variant_id = $1",
      [variantId]
    )
    return { onHand: Number(row?.["on_hand"]), available: Number(row?.["available"]) }
  }
  const reconciled = async () => {
    await shop.app.serviceRegistry.enqueue("channel/sync-inventory", { storeId })
    await shop.settled(storeId)
  }
  /** The store sells units, and says so. */
  const soldThere = async (units: number) => {
    shop.memory.levels.set("v9", (there() ?? 0) - units)
    await shop.hint(storeId, "stock", "v9")
  }
  /** Waits until both sides have so many to sell. */
  const both = (units: number) =>
    waitFor(`${units} units on both sides`, async () => {
      const found = [there(), (await here()).available]
      return found.every((one) => one === units) || assert.fail(found.join())
    })

  it("is ours when it is linked, without what is kept back and up to the most that is offered", async () => {
    assert.strictEqual(there(), 20)
    assert.deepInclude(await here(), { onHand: 20 })
    for (const [buffer, maxQuantity, level] of [[3, null, 17], [3, 10, 10], [25, null, 0]] as const) {
      await shop.done("PATCH", `/stores/${storeId}`, { buffer, maxQuantity })
      await reconciled()
      assert.strictEqual(there(), level)
    }
    assert.deepInclude(await here(), { onHand: 20 })
  })

  it("follows what is sold here, and what is sold or put back there", async () => {
    const cart = await shop.ask("POST", "/carts", { currency: "USD" }, null)
    const headers = { "x-cart-secret": cart.text("data.secret") }
    const cartId = cart.text("data.id")
    await shop.ask("POST", `/carts/${cartId}/items`, { entityId, variantId, quantity: 2 }, null, headers)
    const body = { cartId, paymentMethodId: "test", currency: "USD" }
    assert.strictEqual((await shop.ask("POST", "/checkout", body, null, headers)).status, 201)
    await both(18)
    await soldThere(5)
    await both(13)
    await soldThere(-4)
    await both(17)
    await shop.settled(storeId)
    const calls = shop.memory.calls.filter((one) => one === "set").length
    await reconciled()
    assert.strictEqual(shop.memory.calls.filter((one) => one === "set").length, calls, "equal levels are not written")
  })

  it("is set once where the answer was lost, also when the store sold meanwhile", async () => {
    const before = (await here()).available
    shop.memory.silence = new ChannelUnavailable({ message: "No answer." })
    await adjust(-3)
    await both(before - 3)
    shop.memory.levels.set("v9", before - 5)
    shop.memory.silence = undefined
    await reconciled()
    await both(before - 5)
  })

  it("loses no unit while both sides sell at once", async () => {
    await adjust(200, "restock")
    const before = (await here()).available
    await both(before)
    await Promise.all(Array.from({ length: 30 }, (_, n) => n % 2 === 0 ? adjust(-1) : soldThere(2)))
    await both(before - 45)
  })

  it("is asked for again by a job where a sync had no answer, and stops nothing else", async () => {
    const before = (await here()).available
    shop.memory.silence = new ChannelUnavailable({ message: "No answer." })
    await shop.done("PATCH", `/stores/${storeId}`, { maxQuantity: before - 1 })
    await shop.done("POST", `/stores/${storeId}/reconcile`)
    await shop.ran(storeId, "reconcile")
    const [sent] = await shop.app.db.query("select sent_level from channel_entity_map where sent_key is not null")
    assert.deepStrictEqual([there(), sent], [before - 1, { sent_level: before - 1 }])
    shop.memory.silence = undefined
    await waitFor("the answer", async () => {
      const [job] = (await shop.jobs(storeId, "channel/push-stock")).slice(-1)
      if (job?.["status"] === "pending") shop.app.clock.advance("11 minutes")
      return (await shop.app.db.query("select 1 from channel_entity_map where sent_key is not null")).length === 0
    })
  })

  it("is posted once where another run agreed on it between the look and the lock", async () => {
    const { available: before } = await here()
    shop.memory.levels.set("v9", before - 2)
    shop.memory.beforeRead = Effect.promise(async () => {
      shop.memory.beforeRead = Effect.void
      await shop.app.db.query("update channel_entity_map set level = $1 where variant_id = $2", [before - 2, variantId])
      await adjust(-2)
    })
    await reconciled()
    await both(before - 2)
  })

  it("is left alone while the store does not count it, or it is not counted here", async () => {
    const before = await here()
    shop.memory.levels.set("v9", null)
    await adjust(-1)
    await reconciled()
    assert.isNull(there())
    await shop.app.db.query("update variants set manage_inventory = false where id = $1", [variantId])
    shop.memory.levels.set("v9", 4)
    await reconciled()
    assert.strictEqual(there(), 4)
    await shop.app.db.query("update variants set manage_inventory = true where id = $1", [variantId])
    assert.strictEqual((await here()).onHand, before.onHand - 1)
  })
})
