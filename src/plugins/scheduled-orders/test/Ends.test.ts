import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { type BoxShop, customer, openBoxShop } from "./BoxShop.ts"

const address = { line1: "Main 1", city: "Town", postalCode: "10001", country: "US" }

describe("the end of a scheduled order", () => {
  let shop: BoxShop
  beforeAll(async () => {
    shop = await openBoxShop({ retryMinutes: [60], keepDays: 30 })
  })
  afterAll(() => shop.close())

  const erase = async (name: string) =>
    assert.strictEqual((await shop.ask("DELETE", "/me", undefined, customer(name))).status, 200)
  const forget = () => shop.serviceRegistry.enqueue("scheduled-orders/forget", {})

  it("comes also when the last attempt fails after its customer was erased", async () => {
    const id = await shop.scheduled({ paymentMethodId: "test_decline" }, customer("eve"))
    await shop.due(id, "failed")
    await erase("eve")
    shop.clock.advance("61 minutes")
    await shop.tick()
    const failed = await waitFor("the last attempt", async () => {
      const found = await shop.row(id)
      return found.attempts === 2 && found
    })
    assert.deepInclude(failed, { status: "failed", dueAt: null })
  })

  it("takes the texts of its lines with it when its customer is erased, and its repeats", async () => {
    const eva = customer("eva")
    const cartId = (await shop.ask("POST", "/carts", { currency: "USD" }, eva)).text("data.id")
    const line = { entityId: await shop.product(), quantity: 1, notes: "For Eva", metadata: { engraving: "Eva" } }
    assert.strictEqual((await shop.ask("POST", `/carts/${cartId}/items`, line, eva)).status, 201)
    const wish = shop.wish(cartId, { everyDays: 7, paymentMethodId: "test_decline" })
    await shop.due((await shop.done("POST", "", wish, eva)).text("data.id"), "failed")
    await erase("eva")
    await forget()
    const rows = await waitFor("both are cancelled", async () => {
      const found = await shop.rows(`cartId=${cartId}&status=cancelled`)
      return found.length === 2 && !JSON.stringify(found).includes("Eva") && found
    })
    for (const { items } of rows) assert.deepInclude(items[0], { quantity: 1, notes: null, metadata: {} })
  })

  it("leaves address and notes where they are for as long as they are kept", async () => {
    const details = { orderType: "delivery", deliveryAddress: address, notes: "Ring twice" }
    const old = await shop.scheduled(details)
    const young = await shop.scheduled(details)
    const open = await shop.scheduled({ ...details, scheduledFor: shop.inHours(24 * 60) })
    await Promise.all([shop.due(old, "completed"), shop.due(young, "completed", 0)])
    await shop.db.query(
      "update scheduled_orders set updated_at = now() - interval '31 days' where id::text = any($1)",
      [[
        old,
        open
      ]]
    )
    await forget()
    await waitFor("the old one is forgotten", async () => (await shop.row(old)).notes === null)
    assert.isNull((await shop.row(old)).deliveryAddress)
    for (const id of [young, open]) {
      assert.deepInclude(await shop.row(id), { notes: "Ring twice", deliveryAddress: address })
    }
  })

  it("comes by itself for what nothing has placed for a day, also when staff places what is due", async () => {
    const id = await shop.scheduled()
    shop.clock.advance("30 hours")
    const moved = await shop.done("POST", "/process-due", {})
    assert.notInclude(moved.list("data").map((one) => Object(one).id), id)
    await shop.tick()
    await shop.isNow(id, "expired")
  })
})
