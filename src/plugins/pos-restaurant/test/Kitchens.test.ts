import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { contractOf, testCustomerActor } from "stoa/plugin/testing"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { outsider } from "../../pos/test/TillShop.ts"
import { columns, type KitchenShop, openKitchen } from "./KitchenShop.ts"

describe("kitchens", () => {
  let shop: KitchenShop
  beforeAll(async () => {
    shop = await openKitchen({ printing: true, keepTicketDays: 30, fireOnComplete: false, shortage: "block" })
  })
  afterAll(() => shop.close())

  const aStation = async (body: object = {}) => {
    const food = shop.group()
    return { station: await shop.station([food], body), entityId: await shop.dish(food) }
  }

  it("cook orders of other channels once they are paid, with their modifiers, until they are cancelled", async () => {
    const { entityId, station } = await aStation()
    const group = await shop.done("POST", "/modifier-groups", { name: "Sauces", entityId })
    const option = await shop.done("POST", `/modifier-groups/${group.text("data.id")}/options`, {
      name: "Garlic",
      priceAdjustment: 50
    })
    const modifiers = [{ groupId: group.at("data.id"), optionIds: [option.at("data.id")] }]
    const cart = await shop.core("POST", "/carts", { currency: "USD" })
    const item = { entityId, quantity: 2, metadata: { modifiers } }
    await shop.core("POST", `/carts/${cart.text("data.id")}/items`, item)
    const order = await shop.core("POST", "/checkout", {
      cartId: cart.at("data.id"),
      paymentMethodId: "test",
      currency: "USD",
      metadata: { orderType: "takeaway" }
    })
    const orderId = order.text("data.id")
    await waitFor("the ticket", async () => (await shop.tickets(station)).length === 1)
    const shown = columns(await shop.tickets(station), "orderId", "transactionId", "orderType", "items.0.quantity")
    assert.deepStrictEqual(shown, [[orderId, null, "takeaway", 2]])
    const [cooked] = columns(await shop.tickets(station), "items.0.modifiers").flat()
    assert.deepStrictEqual(cooked, [{ name: "Garlic", priceAdjustment: 50 }])
    await shop.core("PATCH", `/orders/${orderId}/status`, { status: "cancelled", reason: "x" })
    const now = async () => columns(await shop.tickets(station), "type", "items.0.cancelledQuantity")
    await waitFor("the cancellation", async () => String(await now()) === "cancelled,2")
  })

  it("cook nothing of unpaid orders, and of completed sales as the option says", async () => {
    const { entityId, station } = await aStation()
    await shop.core("POST", "/orders", { currency: "USD", lineItems: [{ entityId, quantity: 1 }] })
    const sale = await shop.order(await shop.till(), [{ entityId }])
    await shop.pay(sale.salePath, 1_000)
    await shop.complete(sale.salePath)
    const handled = () =>
      shop.query(
        "select 1 from commerce_jobs where task_slug = 'pos-restaurant/on/pos.completed' and status = 'succeeded'"
      )
    await waitFor("the event", async () => (await handled()).length === 1)
    assert.deepStrictEqual(await shop.tickets(station), [])
  })

  it("are refused more than their ingredients are for, where the option says so", async () => {
    const { entityId, station } = await aStation()
    const flour = await shop.product({ stock: 5 })
    const ingredients = [{ ingredientName: "Flour", quantity: 2, entityId: flour }]
    await shop.done("POST", "/recipes", { entityId, name: "Bread", ingredients })
    const sale = await shop.order(await shop.till(), [{ entityId, quantity: 2 }])
    await shop.fire(sale.id)
    await shop.core("PATCH", `/pos${sale.salePath}/items/${sale.items[0]}`, { quantity: 3 })
    const fire = { transactionId: sale.id }
    const refused = await shop.refused("422 VALIDATION_FAILED", "POST", "/kds/tickets/fire", fire)
    assert.include(refused.text("error.message"), "Flour")
    assert.lengthOf(await shop.tickets(station), 1)
  })

  it("print each ticket once, on as many pages as it takes", async () => {
    const { entityId, station } = await aStation({ metadata: { printerId: "P1" } })
    const notes = "ä".repeat(500)
    const dishes = Array.from({ length: 12 }, (_, seat) => ({ entityId, seat, notes }))
    const sale = await shop.order(await shop.till(), dishes)
    await Promise.all([shop.fire(sale.id), shop.fire(sale.id)])
    const jobs = await shop.query(
      "select type, content from notification_print_jobs where printer_id = 'P1' order by id"
    )
    assert.deepStrictEqual(columns(jobs, "type", "content.page", "content.pages"), [["kot", 1, 2], ["kot", 2, 2]])
    const items = columns(jobs, "content.items").flat(2)
    assert.sameMembers(columns(items, "seat").flat(), dishes.map(({ seat }) => seat))
    assert.strictEqual((await shop.tickets(station)).length, 1)
  })

  it("forget tickets after the days of the option, and what they say of an erased customer", async () => {
    const { entityId, station } = await aStation()
    const permissions = [...testCustomerActor.permissions, "customers:read:self", "customers:update:self"]
    const guest = { ...testCustomerActor, userId: "guest", permissions }
    const customerId = (await shop.core("GET", "/me/profile", undefined, guest)).text("data.id")
    const sale = await shop.order(await shop.till(), [{ entityId, notes: "Allergic" }], { customerId })
    await shop.fire(sale.id, { comments: "A regular" })
    await shop.core("DELETE", "/me", undefined, guest)
    const [erased] = await shop.tickets(station)
    assert.deepStrictEqual(columns([erased], "customerId", "comments", "items.0.notes"), [[null, null, null]])
    await shop.query("update kds_tickets set fired_at = now() - interval '31 days' where station_id = $1", [station.id])
    await shop.app.serviceRegistry.enqueue("pos-restaurant/forget-tickets", {})
    await waitFor("the job", async () => (await shop.tickets(station)).length === 0)
    assert.deepStrictEqual(await shop.unitsOf(String(sale.items[0])), [])
  })

  it("know the customer who was named after the fire", async () => {
    const { entityId, station } = await aStation()
    const sale = await shop.order(await shop.till(), [{ entityId }])
    await shop.fire(sale.id)
    const customerId = await shop.customer()
    await shop.core("POST", `/pos${sale.salePath}/customer`, { customerId })
    await shop.pay(sale.salePath, 1_000)
    await shop.complete(sale.salePath)
    const named = async () => columns(await shop.tickets(station), "customerId").flat()
    await waitFor("the name", async () => (await named())[0] === customerId)
  })

  it("are unknown to other organizations", async () => {
    const { station } = await aStation()
    const sale = await shop.order(await shop.till(), [])
    const paths: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
      ["GET", `${station.path}/tickets`],
      ["GET", `${station.path}/stream`],
      ["PATCH", station.path, { name: "x" }],
      ["POST", `${station.path}/item-groups`, { itemGroup: "x" }],
      ["DELETE", `${station.path}/item-groups/x`],
      ["GET", `/analytics/station-performance/${station.id}?from=2026-01-01&to=2026-01-02`],
      ["POST", "/kds/tickets/fire", { transactionId: sale.id }]
    ]
    for (const [method, path, body] of paths) await shop.refused("404 NOT_FOUND", method, path, body, outsider)
  })

  it("keep the rules of every plugin", { timeout: 240_000 }, async () => {
    const wrong: Array<string> = []
    for (const { name, run } of contractOf(shop.app, { bodies: 2 })) {
      if (!name.includes("kds") && !name.includes("performance")) continue
      await run().catch((error) => wrong.push(`${name}: ${error}`))
    }
    assert.deepStrictEqual(wrong, [])
  })
})

it("a restaurant without kitchens has no stations, and fires nothing", async () => {
  const shop = await openKitchen({ enableKDS: false })
  assert.strictEqual((await shop.ask("GET", "/pos/restaurant/kds/stations")).status, 404)
  const sale = await shop.order(await shop.till(), [{ entityId: await shop.product() }])
  await shop.core("DELETE", `/pos${sale.salePath}/items/${sale.items[0]}`)
  await shop.close()
})
