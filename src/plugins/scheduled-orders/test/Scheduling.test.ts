import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { contractOf, raceOf } from "stoa/plugin/testing"
import { ann, type BoxShop, customer, openBoxShop } from "./BoxShop.ts"

const bob = customer("bob")

describe("scheduled orders", () => {
  let shop: BoxShop
  beforeAll(async () => {
    shop = await openBoxShop()
  })
  afterAll(() => shop.close())

  it(
    "become orders of their customer at their time, at the price of then and without shipping where they are picked up",
    async () => {
      const product = await shop.product({ price: 1_000 })
      const cartId = await shop.cart(ann, product, 2)
      const made = await shop.done("POST", "", shop.wish(cartId, { pickupLocation: "Market 1" }), ann)
      const id = made.text("data.id")
      assert.deepInclude(Object(made.at("data")), { status: "scheduled", orderType: "pickup", cartId })
      const raised = await shop.ask("POST", "/pricing/prices", { entityId: product, currency: "USD", amount: 1_500 })
      assert.strictEqual(raised.status, 201)
      await shop.tick()
      assert.strictEqual((await shop.row(id)).status, "scheduled")
      const { customerId, orderId } = await shop.due(id, "completed")
      const order = await shop.ask("GET", `/orders/${orderId}`)
      assert.deepInclude(Object(order.at("data")), {
        customerId,
        grandTotal: 3_000,
        amountCaptured: 3_000,
        shippingTotal: 0
      })
      assert.deepInclude(Object(order.at("data.metadata")), { scheduledOrderId: id, pickupLocation: "Market 1" })
      assert.strictEqual((await shop.ask("GET", `/me/orders/${orderId}`, undefined, ann)).status, 200)
      await shop.refused("422 INVALID_TRANSITION", "POST", `/${id}/cancel`, undefined, ann)
    }
  )

  it("are the customer's: others see none, staff all, and only staff schedules for others", async () => {
    const id = await shop.scheduled()
    for (const path of [`/${id}/cancel`, `/${id}/retry`, `/${id}/skip`, `/${id}/pause`, `/${id}/resume`]) {
      await shop.refused("404 NOT_FOUND", "POST", path, undefined, bob)
    }
    await shop.refused("404 NOT_FOUND", "GET", `/${id}`, undefined, bob)
    await shop.refused("404 NOT_FOUND", "PATCH", `/${id}`, { notes: "mine" }, bob)
    assert.strictEqual((await shop.done("GET", "", undefined, bob)).at("meta.pagination.total"), 0)
    const { cartId, customerId } = await shop.row(id)
    const others = await shop.cart(bob, await shop.product())
    await shop.refused("404 NOT_FOUND", "POST", "", shop.wish(cartId), bob)
    await shop.refused("403 FORBIDDEN", "POST", "", shop.wish(others, { customerId }), bob)
    await shop.refused("422 VALIDATION_FAILED", "POST", "", shop.wish(others, { customerId }))
    await shop.refused("422 VALIDATION_FAILED", "POST", "", shop.wish(others, { customerId: randomUUID() }))
    const guests = await shop.ask("POST", "/carts", { currency: "USD" })
    await shop.ask("POST", `/carts/${guests.text("data.id")}/items`, { entityId: await shop.product(), quantity: 1 })
    const named = await shop.done("POST", "", shop.wish(guests.text("data.id"), { customerId }))
    assert.strictEqual(
      (await shop.done("GET", `/${named.text("data.id")}`, undefined, ann)).at("data.customerId"),
      customerId
    )
    const filtered = await shop.rows(
      `customerId=${customerId}&cartId=${cartId}&status=scheduled&from=${shop.inHours(1)}`
    )
    assert.deepStrictEqual(filtered.map((one) => one.id), [id])
  })

  it("sends what is picked up nowhere, also when it was to be delivered before", async () => {
    const deliveryAddress = { line1: "Main 1", city: "Town", postalCode: "10001", country: "US" }
    for (const orderType of ["pickup", "dine_in", undefined]) {
      const wish = shop.wish(await shop.cart(ann, await shop.product()), { orderType, deliveryAddress })
      await shop.refused("422 VALIDATION_FAILED", "POST", "", wish, ann)
    }
    const id = await shop.scheduled({ orderType: "delivery", deliveryAddress })
    await shop.done("PATCH", `/${id}`, { orderType: "pickup" }, ann)
    await shop.refused("422 VALIDATION_FAILED", "PATCH", `/${id}`, { deliveryAddress }, ann)
    const { orderId } = await shop.due(id, "completed")
    assert.isNull((await shop.ask("GET", `/orders/${orderId}`)).at("data.shippingAddress"))
  })

  it("need a cart with items, a time to come and an address for a delivery", async () => {
    const cartId = await shop.cart(ann, await shop.product())
    const empty = (await shop.ask("POST", "/carts", { currency: "USD" }, ann)).text("data.id")
    for (
      const body of [
        shop.wish(empty),
        shop.wish(cartId, { scheduledFor: shop.inHours(-1) }),
        shop.wish(cartId, { scheduledFor: shop.inHours(24 * 91) }),
        shop.wish(cartId, { orderType: "delivery" }),
        shop.wish(cartId, { orderType: "drone" }),
        shop.wish(cartId, { paymentMethodId: undefined })
      ]
    ) await shop.refused("422 VALIDATION_FAILED", "POST", "", body, ann)
    await shop.refused("404 NOT_FOUND", "POST", "", shop.wish(randomUUID()), ann)
    const deliveryAddress = { line1: "Main 1", city: "Town", postalCode: "10001", country: "US" }
    const made = await shop.done("POST", "", shop.wish(cartId, { orderType: "delivery", deliveryAddress }), ann)
    const { orderId } = await shop.due(made.text("data.id"), "completed")
    const shipped = await shop.ask("GET", `/orders/${orderId}`)
    assert.deepInclude(Object(shipped.at("data.shippingAddress")), deliveryAddress)
  })

  it("keep their cart: it is neither bought nor scheduled beside them, until they are cancelled", async () => {
    const cartId = await shop.cart(ann, await shop.product())
    await raceOf(shop, { method: "POST", path: "/api/scheduled-orders", as: ann, body: shop.wish(cartId) })
    const body = { cartId, paymentMethodId: "test", currency: "USD" }
    const buyer = { ...ann, permissions: [...ann.permissions, "orders:create"] }
    const refused = await shop.ask("POST", "/checkout", body, buyer)
    assert.deepStrictEqual([refused.status, refused.at("error.code")], [422, "CHECKOUT_FAILED"])
    const [{ id }] = await shop.rows(`cartId=${cartId}`) as [{ id: string }]
    assert.strictEqual((await shop.done("POST", `/${id}/cancel`, undefined, ann)).at("data.status"), "cancelled")
    const bought = await shop.ask("POST", "/checkout", body, buyer)
    assert.strictEqual(bought.status, 201, JSON.stringify(bought.body))
  })

  it("are moved and changed until they are placed", async () => {
    const id = await shop.scheduled()
    const changed = await shop.done("PATCH", `/${id}`, { notes: "Ring twice", scheduledFor: shop.inHours(5) }, ann)
    assert.deepInclude(Object(changed.at("data")), { notes: "Ring twice", status: "scheduled" })
    await shop.refused("422 VALIDATION_FAILED", "PATCH", `/${id}`, { scheduledFor: shop.inHours(-5) }, ann)
    for (const wrong of [{ repeatUntil: shop.inHours(4) }, { repeatUntil: changed.text("data.scheduledFor") }]) {
      await shop.refused("422 VALIDATION_FAILED", "PATCH", `/${id}`, wrong, ann)
    }
    await shop.done("PATCH", `/${id}`, { everyDays: 1, repeatUntil: shop.inHours(7) }, ann)
    await shop.refused("422 VALIDATION_FAILED", "PATCH", `/${id}`, { scheduledFor: shop.inHours(8) }, ann)
    await shop.refused("422 VALIDATION_FAILED", "PATCH", `/${id}`, { orderType: "delivery" }, ann)
    const moved = await shop.done("POST", "/process-due", { bufferMinutes: 299 })
    assert.notInclude(moved.list("data").map((one) => Object(one).id), id)
    assert.strictEqual((await shop.row(id)).status, "scheduled")
    await shop.due(id, "completed", 5)
    await shop.refused("422 INVALID_TRANSITION", "PATCH", `/${id}`, { notes: "Too late" }, ann)
  })

  it("that are due are moved once by callers at the same time, and make one order each", async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, () => shop.scheduled({ scheduledFor: shop.inHours(1) })))
    const calls = Array.from({ length: 3 }, () => shop.done("POST", "/process-due", { bufferMinutes: 61 }))
    const moved = (await Promise.all(calls)).flatMap(({ list }) => list("data")).map((one) => Object(one).id)
    assert.deepStrictEqual(moved.filter((id) => ids.includes(id)).toSorted(), ids.toSorted())
    const done = await Promise.all(ids.map((id) => shop.isNow(id, "completed")))
    assert.strictEqual(new Set(done.map(({ orderId }) => orderId)).size, 5)
    const [{ n }] = await shop.db.query(
      "select count(*)::int as n from orders where metadata->>'scheduledOrderId' = any($1)",
      [
        ids
      ]
    ) as [{ n: number }]
    assert.strictEqual(n, 5)
    await shop.refused("403 FORBIDDEN", "POST", "/process-due", {}, ann)
  })

  it("of an erased customer are cancelled, and what is personal is deleted", async () => {
    const eve = customer("eve")
    const address = { line1: "Main 1", city: "Town", postalCode: "10001", country: "US" }
    const id = await shop.scheduled({ orderType: "delivery", deliveryAddress: address, notes: "Eve's door" }, eve)
    assert.strictEqual((await shop.ask("DELETE", "/me", undefined, eve)).status, 200)
    await shop.serviceRegistry.enqueue("scheduled-orders/forget", {})
    await shop.isNow(id, "cancelled")
    assert.deepInclude(await shop.row(id), { deliveryAddress: null, notes: null })
  })
})

describe("the plugin of scheduled orders", () => {
  let shop: BoxShop
  beforeAll(async () => {
    shop = await openBoxShop()
  })
  afterAll(() => shop.close())
  it("passes the contract of plugins", async () => {
    for (const { name, run } of contractOf(shop)) await run().catch((error) => assert.fail(`${name}: ${error}`))
  })
})
