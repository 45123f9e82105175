import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { elsewhere, onDatabase, openElsewhere, refused, stockOf } from "../checkout/CheckoutFixtures.ts"
import { aGuestCart, aProduct, checkOut, type GuestCart } from "../support/Purchase.ts"
import { api, asAdmin, asCustomer, asStaff, at, withSharedApp } from "../support/TestApp.ts"

const bacon = { modifiers: [{ name: "Bacon", price: 150 }], cooked: "rare" }
/** The same with its keys in another order. */
const baconToo = { cooked: "rare", modifiers: [{ price: 150, name: "Bacon" }] }
const cheese = { modifiers: [{ name: "Cheese", price: 100 }] }

const add = (cart: GuestCart, body: object) =>
  api("POST", `/api/carts/${cart.id}/items`, { body: { quantity: 1, ...body }, headers: cart.headers })

const linesOf = (cart: GuestCart) =>
  Effect.map(api("GET", `/api/carts/${cart.id}`, { headers: cart.headers }), (found) => found.list("data.lineItems"))

const chosen = (lines: ReadonlyArray<unknown>) =>
  lines.map((line) => [at(line, "metadata"), at(line, "notes"), at(line, "quantity")])

/** A cart with a plain burger, one with bacon and notes, and two with cheese; and the burger. */
const aTable = Effect.gen(function*() {
  const entityId = yield* aProduct({ price: 900 })
  const cart = yield* aGuestCart()
  for (const body of [{}, { metadata: bacon, notes: "No onions" }, { metadata: cheese, quantity: 2 }]) {
    assert.strictEqual((yield* add(cart, { entityId, ...body })).status, 201)
  }
  return { cart, entityId }
})

const asOrdered = [[{}, null, 1], [bacon, "No onions", 1], [cheese, null, 2]]

withSharedApp("metadata and notes of lines", (it) => {
  it.effect("lines of one product are one line only if they have the same metadata, in any order of its keys", () =>
    Effect.gen(function*() {
      const { cart, entityId } = yield* aTable
      assert.deepStrictEqual(chosen(yield* linesOf(cart)), asOrdered)
      for (const metadata of [{}, null, baconToo]) yield* add(cart, { entityId, metadata })
      const [plain, rare] = [[{}, null, 3], [bacon, "No onions", 2]]
      assert.deepStrictEqual(chosen(yield* linesOf(cart)), [plain, rare, [cheese, null, 2]])
      const again = yield* add(cart, { entityId, metadata: bacon, notes: "With onions" })
      assert.deepStrictEqual(chosen([again.at("data")]), [[bacon, "With onions", 3]])
      const [event] = yield* onDatabase((sql) =>
        sql<{ payload: unknown; before: unknown }>`select payload, before from outbox_events
          where type = 'cart.afterAddItem' and entity_id = ${cart.id} order by created_at desc, id desc limit 1`
      )
      assert.deepStrictEqual(chosen([event?.payload, event?.before]), [
        [bacon, "With onions", 3],
        [bacon, "No onions", 2]
      ])
    }))

  it.effect("fifty adds at once make one line of fifty for each metadata", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aGuestCart()
      const fifty = (metadatas: ReadonlyArray<object>) =>
        Effect.forEach(
          Array.from({ length: 50 }, (_, n) => metadatas[n % metadatas.length]),
          (metadata) => add(cart, { entityId, metadata }),
          { concurrency: "unbounded" }
        )
      assert.isTrue((yield* fifty([bacon])).every(({ status }) => status === 201))
      assert.deepStrictEqual(chosen(yield* linesOf(cart)), [[bacon, null, 50]])
      assert.isTrue((yield* fifty([baconToo, cheese])).every(({ status }) => status === 201))
      assert.deepStrictEqual(chosen(yield* linesOf(cart)), [[bacon, null, 75], [cheese, null, 25]])
    }))

  it.effect("a change of a line sets its quantity, its notes or both, and never its metadata", () =>
    Effect.gen(function*() {
      const { cart } = yield* aTable
      const [, line] = yield* linesOf(cart)
      const path = `/api/carts/${cart.id}/items/${String(at(line, "id"))}`
      const change = (body: object) => api("PATCH", path, { headers: cart.headers, body })
      const rows: ReadonlyArray<readonly [body: object, shown: ReadonlyArray<unknown>]> = [
        [{ notes: "Well done" }, [bacon, "Well done", 1]],
        [{ quantity: 4, metadata: cheese }, [bacon, "Well done", 4]],
        [{ quantity: 5, notes: null }, [bacon, null, 5]]
      ]
      for (const [body, shown] of rows) {
        const changed = yield* change(body)
        assert.deepStrictEqual([changed.status, chosen([changed.at("data")])], [200, [shown]], JSON.stringify(body))
      }
      for (const body of [{}, { metadata: cheese }, { notes: "x".repeat(501) }, { notes: 7 }]) {
        refused(yield* change(body), 422, "VALIDATION_FAILED", JSON.stringify(body))
      }
      const removed = yield* api("DELETE", path, { headers: cart.headers })
      assert.deepStrictEqual([removed.status, (yield* linesOf(cart)).length], [200, 2])
    }))

  it.effect("refuses metadata that is no object, too large or not to be stored, and notes of over 500 characters", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aGuestCart()
      const largest = { a: "é".repeat((4_096 - 8) / 2) }
      const rows: ReadonlyArray<object> = [
        { metadata: [] },
        { metadata: "bacon" },
        { metadata: { ...largest, b: 1 } },
        { metadata: { a: "nul \u0000" } },
        { metadata: { "nul \u0000": 1 } },
        { metadata: { manualDiscount: 500 } },
        { notes: "x".repeat(501) },
        { notes: "nul \u0000" },
        { notes: {} }
      ]
      for (const body of rows) {
        refused(yield* add(cart, { entityId, ...body }), 422, "VALIDATION_FAILED", JSON.stringify(body))
      }
      assert.deepStrictEqual(yield* linesOf(cart), [])
      assert.strictEqual((yield* add(cart, { entityId, metadata: largest, notes: "x".repeat(500) })).status, 201)
    }))

  it.effect("another tenant and a visitor without the secret neither add to such lines nor change them", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const { cart, entityId } = yield* aTable
      const [, line] = yield* linesOf(cart)
      const items = `/api/carts/${cart.id}/items`
      for (const as of [elsewhere, asCustomer("another")]) {
        refused(yield* api("POST", items, { as, body: { entityId, quantity: 1, metadata: bacon } }), 404, "NOT_FOUND")
        const change = api("PATCH", `${items}/${String(at(line, "id"))}`, { as, body: { notes: "theirs" } })
        refused(yield* change, 404, "NOT_FOUND")
      }
      assert.deepStrictEqual(chosen(yield* linesOf(cart)), asOrdered)
    }))

  it.effect("a checkout carries them to the lines of the order, whose stock and refunds are counted by line", () =>
    Effect.gen(function*() {
      const { cart, entityId } = yield* aTable
      const quote = yield* api("POST", "/api/orders/quote", { as: asAdmin, body: { cartId: cart.id, currency: "USD" } })
      assert.deepStrictEqual(chosen(quote.list("data.lineItems")), asOrdered)
      const order = yield* checkOut(cart)
      assert.deepStrictEqual([order.status, chosen(order.list("data.lineItems"))], [201, asOrdered])
      const path = `/api/orders/${order.text("data.id")}`
      const read = yield* api("GET", path, { as: asAdmin })
      assert.deepStrictEqual(read.at("data.lineItems"), order.at("data.lineItems"))
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 100, reserved: 4 })
      const lines = [{ lineItemId: order.text("data.lineItems.2.id"), quantity: 1 }]
      const refund = yield* api("POST", `${path}/refunds`, { as: asAdmin, body: { lines } })
      assert.deepStrictEqual([refund.status, refund.at("data.amount")], [201, 900])
      const page = yield* api("GET", `${path}/invoice.html`, { as: asAdmin })
      assert.include(String(page.body), "No onions")
    }))

  it.effect("staff's orders and their edits keep lines apart by metadata, and a discount by staff is no part of it", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ price: 900 })
      const lineItems = [{ entityId, quantity: 1, metadata: bacon, notes: "No onions" }, {
        entityId,
        quantity: 2,
        metadata: baconToo
      }, { entityId, quantity: 1, discountAmount: 100 }]
      const order = yield* api("POST", "/api/orders", { as: asAdmin, body: { currency: "USD", lineItems } })
      assert.deepStrictEqual(chosen(order.list("data.lineItems")), [[bacon, "No onions", 3], [
        { manualDiscount: 100 },
        null,
        1
      ]])
      const lines = `/api/orders/${order.text("data.id")}/line-items`
      for (const body of [{}, { metadata: cheese }, { metadata: baconToo, notes: "Rare" }]) {
        assert.strictEqual(
          (yield* api("POST", lines, { as: asStaff, body: { entityId, quantity: 1, ...body } })).status,
          201
        )
      }
      const noted = { as: asStaff, body: { notes: "Well done" } }
      const edited = yield* api("PATCH", `${lines}/${order.text("data.lineItems.0.id")}`, noted)
      assert.deepStrictEqual(chosen(edited.list("data.lineItems")), [
        [bacon, "Well done", 4],
        [{ manualDiscount: 100 }, null, 2],
        [cheese, null, 1]
      ])
      assert.deepStrictEqual([edited.at("data.discountTotal"), edited.at("data.subtotal")], [100, 6_300])
    }))

  it.effect("ordering again makes the same lines, without what staff took off", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const as = asCustomer("eats-again")
      const customerId = (yield* api("GET", "/api/me/profile", { as })).text("data.id")
      const lineItems = [{ entityId, quantity: 1, metadata: bacon, notes: "No onions" }, {
        entityId,
        quantity: 2,
        discountAmount: 100
      }]
      const body = { currency: "USD", customerId, lineItems }
      const order = yield* api("POST", "/api/orders", { as: asAdmin, body })
      const again = yield* api("POST", `/api/me/orders/${order.text("data.id")}/reorder`, { as })
      const cart = yield* api("GET", `/api/carts/${again.text("data.cartId")}`, { as })
      assert.deepStrictEqual(chosen(cart.list("data.lineItems")), [[bacon, "No onions", 1], [{}, null, 2]])
    }))

  it.effect("an erased person's carts lose them, also where two lines differ by nothing else", () =>
    Effect.gen(function*() {
      const as = asCustomer("eats-no-more")
      const entityId = yield* aProduct()
      const cart = (yield* api("POST", "/api/carts", { as, body: { currency: "USD" } })).text("data.id")
      for (const metadata of [{}, bacon, cheese]) {
        yield* api("POST", `/api/carts/${cart}/items`, {
          as,
          body: { entityId, quantity: 1, metadata, notes: "For Ann" }
        })
      }
      const erased = yield* api("DELETE", "/api/me", { as })
      assert.strictEqual(erased.status, 200, JSON.stringify(erased.body))
      const left = yield* onDatabase((sql) =>
        sql`select metadata, notes, quantity from cart_lines where cart_id = ${cart}::uuid`
      )
      assert.deepStrictEqual(chosen(left), Array.from({ length: 3 }, () => [{}, null, 1]))
    }))
})
