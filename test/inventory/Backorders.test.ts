import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { checkoutFailed, onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { auditAlways } from "../support/Audit.ts"
import { aCartWith, aGuestCart, aProduct, aWarehouse, checkOut, putInto } from "../support/Purchase.ts"
import { persistently } from "../support/ServiceCalls.ts"
import { type Answer, api, asAdmin, at, TestApp, withApp } from "../support/TestApp.ts"

/** A product of which so many more units can be sold than there are. */
const aBackorderable = Effect.fnUntraced(function*(stock: number, backorderLimit: number | null = null) {
  const entityId = yield* aProduct({ stock })
  const body = { allowBackorder: true, backorderLimit }
  yield* api("PATCH", `/api/catalog/entities/${entityId}`, { as: asAdmin, body })
  return entityId
})

const buy = Effect.fnUntraced(function*(entityId: string, quantity: number) {
  return yield* checkOut(yield* aCartWith(entityId, quantity))
})

const bought = Effect.fnUntraced(function*(entityId: string, quantity: number) {
  const answer = yield* buy(entityId, quantity)
  assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
  return answer.text("data.id")
})

const post = (path: string, body: object = {}) => api("POST", path, { as: asAdmin, body })

const read = (order: string) => api("GET", `/api/orders/${order}`, { as: asAdmin })

/** Units of the first line of an order that wait, and that can be handed over. */
const units = (answer: Answer) => ["backordered", "fulfillable"].map((key) => answer.at(`data.lineItems.0.${key}`))

const unitsOf = (order: string) => Effect.map(read(order), units)

const availableOf = (entityId: string) =>
  Effect.map(
    api("GET", `/api/inventory/check?entityIds=${entityId}`, { as: asAdmin }),
    (answer) => answer.at(`data.${entityId}`)
  )

const restock = Effect.fnUntraced(function*(entityId: string, quantity: number) {
  const warehouseId = yield* aWarehouse()
  return yield* post("/api/inventory/adjust", { entityId, warehouseId, type: "restock", quantity })
})

const setStatus = (order: string, status: string) =>
  api("PATCH", `/api/orders/${order}/status`, { as: asAdmin, body: { status } })

/** Payloads of an event about stock of an entity, in their order. */
const eventsOf = (type: string, entityId: string) =>
  Effect.map(
    onDatabase((sql) =>
      sql<{ readonly payload: unknown }>`select payload from outbox_events
        where type = ${type} and payload->>'entityId' = ${entityId} order by entry_number`
    ),
    (rows) => rows.map(({ payload }) => payload)
  )

const booksAreRight = Effect.flatMap(TestApp, ({ databaseUrl }) => auditAlways(databaseUrl))

withApp("back-orders", (it) => {
  it.effect("let an order wait for what is not there, up to the limit of the product", () =>
    Effect.gen(function*() {
      const entityId = yield* aBackorderable(3, 2)
      const first = yield* buy(entityId, 4)
      assert.deepStrictEqual([first.status, ...units(first)], [201, 1, 0])
      assert.deepStrictEqual(yield* unitsOf(first.text("data.id")), [1, 0])
      assert.strictEqual(yield* availableOf(entityId), -1)
      checkoutFailed(yield* buy(entityId, 2), /^Insufficient stock for .+ Available: 1, requested: 2\.$/)
      assert.strictEqual((yield* buy(entityId, 1)).status, 201)
      checkoutFailed(yield* buy(entityId, 1), /Available: 0/)
      assert.strictEqual(yield* availableOf(entityId), -2)
    }))

  it.effect("of a product that was never in stock are possible too, and without a limit for any number", () =>
    Effect.gen(function*() {
      const entityId = yield* aBackorderable(0)
      assert.deepStrictEqual(yield* unitsOf(yield* bought(entityId, 1_000)), [1_000, 0])
      assert.strictEqual(yield* availableOf(entityId), -1_000)
    }))

  it.effect("are those of the variant where it says so, and else of its product", () =>
    Effect.gen(function*() {
      const entityId = yield* aBackorderable(0, 5)
      yield* post(`/api/catalog/entities/${entityId}/options`, { name: "Size", values: ["S", "M"] })
      const variant = (size: string, more: object) =>
        post(`/api/catalog/entities/${entityId}/variants`, {
          options: { Size: size },
          sku: `${entityId}-${size}`,
          ...more
        })
      const small = yield* variant("S", { allowBackorder: false })
      const medium = yield* variant("M", { backorderLimit: 1 })
      assert.deepInclude(small.at("data"), { allowBackorder: false, backorderLimit: null })
      const buyOf = Effect.fnUntraced(function*(variantId: string, quantity: number) {
        const cart = yield* post("/api/carts", { currency: "USD" })
        yield* post(`/api/carts/${cart.at("data.id")}/items`, { entityId, variantId, quantity })
        return yield* post("/api/checkout", { cartId: cart.at("data.id"), paymentMethodId: "test", currency: "USD" })
      })
      checkoutFailed(yield* buyOf(small.text("data.id"), 1), /Available: 0/)
      checkoutFailed(yield* buyOf(medium.text("data.id"), 2), /Available: 1/)
      assert.deepStrictEqual(units(yield* buyOf(medium.text("data.id"), 1)), [1, 0])
    }))

  it.effect("get what comes in, the oldest order first, in the transaction that brings it", () =>
    Effect.gen(function*() {
      const entityId = yield* aBackorderable(0)
      const [first, second] = [yield* bought(entityId, 2), yield* bought(entityId, 3)]
      for (const order of [first, second]) yield* setStatus(order, "confirmed")
      const adjusted = yield* restock(entityId, 3)
      assert.deepInclude(adjusted.at("data"), { quantityOnHand: 3, quantityReserved: 3 })
      assert.deepStrictEqual([yield* unitsOf(first), yield* unitsOf(second)], [[0, 2], [2, 1]])
      const allocated = yield* eventsOf("inventory.backorder.allocated", entityId)
      assert.deepStrictEqual(
        allocated.map((event) => [at(event, "orderId"), at(event, "quantity"), at(event, "backordered")]),
        [[first, 2, 0], [second, 1, 2]]
      )
      yield* restock(entityId, 10)
      assert.deepStrictEqual([yield* unitsOf(second), yield* availableOf(entityId)], [[0, 3], 8])
      yield* booksAreRight
    }))

  it.effect("get what a cancelled order, an edited one, a refund and a return give back", () =>
    Effect.gen(function*() {
      const entityId = yield* aBackorderable(4)
      const [sold, waiting] = [yield* bought(entityId, 4), yield* bought(entityId, 5)]
      yield* setStatus(waiting, "confirmed")
      const lineItemId = (yield* read(sold)).text("data.lineItems.0.id")
      yield* post(`/api/orders/${sold}/refunds`, { lines: [{ lineItemId, quantity: 1 }] })
      assert.deepStrictEqual(yield* unitsOf(waiting), [4, 1])
      yield* setStatus(sold, "cancelled")
      assert.deepStrictEqual(yield* unitsOf(waiting), [1, 4])
      const draft = yield* post("/api/orders", { currency: "USD", lineItems: [{ entityId, quantity: 2 }] })
      assert.deepStrictEqual(units(draft), [2, 0])
      const line = `/api/orders/${draft.text("data.id")}/line-items/${draft.text("data.lineItems.0.id")}`
      const edited = yield* api("PATCH", line, { as: asAdmin, body: { quantity: 5 } })
      assert.deepStrictEqual(units(edited), [5, 0])
      assert.deepStrictEqual(units(yield* api("PATCH", line, { as: asAdmin, body: { quantity: 1 } })), [1, 0])
      assert.strictEqual(yield* availableOf(entityId), -2)
      yield* booksAreRight
    }))

  it.effect("wait with their fulfilment: only what is there is handed over", () =>
    Effect.gen(function*() {
      const entityId = yield* aBackorderable(2)
      const order = yield* bought(entityId, 3)
      for (const status of ["confirmed", "processing"]) yield* setStatus(order, status)
      refused(yield* setStatus(order, "fulfilled"), 422, "INVALID_TRANSITION")
      const orderLineItemId = (yield* read(order)).text("data.lineItems.0.id")
      const send = (quantity: number) =>
        post(`/api/orders/${order}/fulfillments`, { lineItems: [{ orderLineItemId, quantity }] })
      const tooMany = yield* send(3)
      refused(tooMany, 422, "VALIDATION_FAILED")
      assert.strictEqual(tooMany.at("error.details.issues.0.code"), "backordered")
      assert.strictEqual((yield* send(2)).status, 201)
      assert.deepStrictEqual([(yield* read(order)).at("data.status"), yield* unitsOf(order)], ["partially_fulfilled", [
        1,
        0
      ]])
      yield* restock(entityId, 1)
      assert.strictEqual((yield* send(1)).status, 201)
      assert.strictEqual((yield* read(order)).at("data.status"), "fulfilled")
      assert.strictEqual(yield* availableOf(entityId), 0)
      yield* booksAreRight
    }))

  it.effect("end with an order that is cancelled, a refund of what waits, and a payment that is refused", () =>
    Effect.gen(function*() {
      const entityId = yield* aBackorderable(1, 5)
      const order = yield* bought(entityId, 4)
      const lineItemId = (yield* read(order)).text("data.lineItems.0.id")
      yield* post(`/api/orders/${order}/refunds`, { lines: [{ lineItemId, quantity: 2 }] })
      assert.deepStrictEqual([yield* unitsOf(order), yield* availableOf(entityId)], [[1, 0], -1])
      const cart = yield* aCartWith(entityId, 4)
      assert.strictEqual((yield* checkOut(cart, { paymentMethodId: "test_decline" })).status, 422)
      assert.strictEqual(yield* availableOf(entityId), -1)
      yield* setStatus(order, "cancelled")
      assert.strictEqual(yield* availableOf(entityId), 1)
      yield* booksAreRight
    }))

  it.effect("are foreseen by the cart", () =>
    Effect.gen(function*() {
      const entityId = yield* aBackorderable(2, 2)
      const warning = Effect.fnUntraced(function*(quantity: number) {
        const cart = yield* aCartWith(entityId, quantity)
        const shown = yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
        return [shown.at("data.lineItems.0.available"), shown.at("data.lineItems.0.stockWarning")]
      })
      assert.deepStrictEqual(yield* Effect.all([warning(2), warning(4), warning(5)]), [
        [2, null],
        [2, "backorder"],
        [2, "insufficient_stock"]
      ])
      yield* bought(entityId, 3)
      assert.deepStrictEqual(yield* Effect.all([warning(1), warning(2)]), [[0, "backorder"], [0, "insufficient_stock"]])
    }))

  it.effect("never let more wait than the limit, however many buy at once", () =>
    Effect.gen(function*() {
      const entityId = yield* aBackorderable(5, 3)
      const carts = yield* Effect.forEach(Array.from({ length: 20 }), () => aCartWith(entityId))
      const answers = yield* Effect.all(carts.map((cart) => checkOut(cart)), { concurrency: "unbounded" })
      assert.strictEqual(answers.filter(({ status }) => status === 201).length, 8)
      assert.strictEqual(yield* availableOf(entityId), -3)
      yield* booksAreRight
    }))

  it.effect("stay right while orders are placed, cancelled, edited and refunded and goods come in and leave at once", () =>
    Effect.gen(function*() {
      const products = [yield* aBackorderable(4, 10), yield* aBackorderable(2)]
      const warehouseId = yield* aWarehouse()
      const both = Effect.fnUntraced(function*() {
        const cart = yield* aGuestCart()
        for (const product of products) yield* putInto(cart, product, 2)
        return cart
      })
      const early = yield* Effect.forEach(
        Array.from({ length: 6 }),
        () => Effect.flatMap(both(), (cart) => checkOut(cart))
      )
      const orders = early.filter(({ status }) => status === 201)
      const lineOf = (order: Answer, line: number) => order.text(`data.lineItems.${line}.id`)
      const work = [
        ...(yield* Effect.forEach(Array.from({ length: 8 }), both)).map((cart) => checkOut(cart)),
        ...orders.slice(0, 2).map((order) => setStatus(order.text("data.id"), "cancelled")),
        ...orders.slice(2).flatMap((order) =>
          [0, 1].map((line) =>
            post(`/api/orders/${order.text("data.id")}/refunds`, {
              lines: [{ lineItemId: lineOf(order, line), quantity: 1 }]
            })
          )
        ),
        ...Array.from({ length: 12 }, (_, n) =>
          post("/api/inventory/adjust", {
            entityId: products[n % 2],
            warehouseId,
            type: "adjustment",
            quantity: n % 3 === 0 ? -1 : 2
          })),
        ...products.map((entityId) => post("/api/orders", { currency: "USD", lineItems: [{ entityId, quantity: 3 }] }))
      ]
      const answers = yield* Effect.forEach(work, persistently, { concurrency: "unbounded" })
      for (const { body, status } of answers) assert.include([200, 201, 422], status, JSON.stringify(body))
      yield* booksAreRight
      for (const entityId of products) yield* restock(entityId, 100)
      assert.deepStrictEqual(
        yield* onDatabase((sql) =>
          sql`select sellable_id from stock_items
          where sellable_id = any(${products}::uuid[]) and backordered > 0`
        ),
        []
      )
      yield* booksAreRight
    }))
})

withApp("low stock", (it) => {
  it.effect("is an event once for each fall to the threshold", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ stock: 5 })
      const warehouseId = yield* aWarehouse()
      const adjust = (more: object) => post("/api/inventory/adjust", { entityId, warehouseId, ...more })
      yield* adjust({ type: "adjustment", quantity: 1, reorderThreshold: 3, reorderQuantity: 20 })
      assert.deepStrictEqual(yield* eventsOf("inventory.low", entityId), [])
      yield* bought(entityId, 3)
      yield* bought(entityId, 1)
      const low = { entityId, variantId: null, warehouseId, available: 3, reorderThreshold: 3, reorderQuantity: 20 }
      assert.deepStrictEqual(yield* eventsOf("inventory.low", entityId), [low])
      yield* restock(entityId, 10)
      yield* bought(entityId, 10)
      assert.deepStrictEqual(yield* eventsOf("inventory.low", entityId), [low, { ...low, available: 2 }])
    }))
})
