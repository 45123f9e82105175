import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { orderInApp, type OrderSpec } from "../support/OrderBuilder.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, asStaff, at, withSharedApp } from "../support/TestApp.ts"
import { write } from "./OrderFixtures.ts"

const read = (orderId: string) => api("GET", `/api/orders/${orderId}`, { as: asAdmin })

/** The answer to a change, which a read repeats. */
const asRead = Effect.fnUntraced(function*(change: string, answer: Answer) {
  assert.include([200, 201], answer.status, `${change}: ${JSON.stringify(answer.body)}`)
  const { paymentClientSecret: _, ...shown } = Object(answer.at("data"))
  assert.deepStrictEqual(shown, (yield* read(answer.text("data.id"))).at("data"), change)
  return answer
})

const send = (orderId: string, line: Answer, quantity: number) => {
  const lineItems = [{ orderLineItemId: line.text("data.lineItems.0.id"), quantity }]
  return api("POST", `/api/orders/${orderId}/fulfillments`, { as: asAdmin, body: { lineItems } })
}

const refund = (orderId: string, line: Answer, quantity: number) =>
  api("POST", `/api/orders/${orderId}/refunds`, {
    as: asAdmin,
    body: { lines: [{ lineItemId: line.text("data.lineItems.0.id"), quantity }] }
  })

const setStatus = (orderId: string, status: string) =>
  api("PATCH", `/api/orders/${orderId}/status`, { as: asAdmin, body: { status } })

const unitsOf = (order: Answer) =>
  order.list("data.lineItems").map((line) => [at(line, "fulfillable"), at(line, "refundable")])

withSharedApp("the answer to a change of an order", (it) => {
  it.effect("shows what a read shows, for orders that staff write, edit and move on", () =>
    Effect.gen(function*() {
      const [entityId, other] = [yield* aProduct({ price: 1_000 }), yield* aProduct({ price: 500 })]
      const order = yield* asRead("create", yield* write({ lineItems: [{ entityId, quantity: 1 }] }))
      const id = order.text("data.id")
      const lines = `/api/orders/${id}/line-items`
      const edit = (method: string, path: string, body: object) => api(method, path, { as: asStaff, body })
      const more = yield* edit("PATCH", `${lines}/${order.text("data.lineItems.0.id")}`, { quantity: 3 })
      assert.deepInclude((yield* asRead("change a line", more)).at("data"), { grandTotal: 3_000, amountDue: 3_000 })
      const added = yield* asRead("add a line", yield* edit("POST", lines, { entityId: other, quantity: 1 }))
      assert.strictEqual(added.at("data.amountDue"), 3_500)
      yield* api("DELETE", `${lines}/${added.text("data.lineItems.1.id")}`, { as: asStaff })
      assert.strictEqual((yield* read(id)).at("data.amountDue"), 3_000)
      for (const status of ["confirmed", "processing", "cancelled"]) {
        yield* asRead(status, yield* setStatus(id, status))
      }
    }))

  it.effect("shows what a read shows, for a checkout and what follows its payment", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct({ price: 700 }), 2)
      yield* asRead("checkout", yield* checkOut(cart))
      const course = yield* aCartWith(yield* aProduct({ type: "course", stock: 0 }))
      yield* asRead("checkout of a course", yield* checkOut(course))
      const uncaptured = yield* orderInApp({ captured: null })
      const capture = yield* api("POST", `/api/orders/${uncaptured.id}/capture`, { as: asAdmin, body: {} })
      assert.strictEqual((yield* asRead("capture", capture)).at("data.amountDue"), 0)
      const paid = yield* orderInApp({ status: "processing", onHand: 20 })
      yield* asRead("fulfilled", yield* setStatus(paid.id, "fulfilled"))
      assert.strictEqual(
        (yield* asRead("refunded", yield* setStatus(paid.id, "refunded"))).at("data.refundedTotal"),
        paid.grandTotal
      )
      const answer = yield* api("POST", `/api/orders/${(yield* orderInApp({})).id}/refund`, {
        as: asAdmin,
        body: { amount: 1 }
      })
      const listed = yield* api("GET", `/api/orders/${answer.text("data.orderId")}/refunds`, { as: asAdmin })
      assert.deepStrictEqual(listed.at("data.0"), answer.at("data"))
    }))
})

withSharedApp("an order's line", (it) => {
  const given = (spec: OrderSpec) => orderInApp({ onHand: 20, lines: [{ quantity: 4 }], ...spec })

  it.effect("shows the units that a fulfillment and a refund can take, to the unit", () =>
    Effect.gen(function*() {
      const { id } = yield* given({ status: "confirmed" })
      const order = yield* read(id)
      assert.deepStrictEqual(unitsOf(order), [[4, 4]])
      yield* send(id, order, 1)
      assert.deepStrictEqual(unitsOf(yield* read(id)), [[3, 4]])
      yield* refund(id, order, 2)
      assert.deepStrictEqual(unitsOf(yield* read(id)), [[1, 2]])
      assert.deepStrictEqual([(yield* send(id, order, 2)).status, (yield* refund(id, order, 3)).status], [422, 422])
      assert.deepStrictEqual([(yield* send(id, order, 1)).status, (yield* refund(id, order, 2)).status], [201, 201])
      assert.deepStrictEqual(unitsOf(yield* read(id)), [[0, 0]])
    }))

  it.effect("shows none while the order is pending, and none to refund before the capture", () =>
    Effect.gen(function*() {
      for (const spec of [{ status: "pending", captured: null }, { status: "confirmed", captured: null }]) {
        const { id } = yield* given(spec)
        assert.deepStrictEqual(unitsOf(yield* read(id)), [[0, 0]])
        assert.deepStrictEqual((yield* send(id, yield* read(id), 1)).status, 422)
        assert.strictEqual((yield* refund(id, yield* read(id), 1)).status, 409)
      }
    }))
})

withSharedApp("allowedTransitions of an order", (it) => {
  const statuses = ["pending", "confirmed", "processing", "partially_fulfilled", "fulfilled", "cancelled", "refunded"]

  it.effect("names the statuses that the order can be moved to, and no other", () =>
    Effect.gen(function*() {
      for (const status of statuses) {
        for (const refundedQuantity of [0, 1]) {
          const lines = [{ quantity: 2, refundedQuantity }]
          for (const to of statuses) {
            const { id } = yield* orderInApp({ status, lines, onHand: 20 })
            const allowed = (yield* read(id)).list("data.allowedTransitions")
            const moved = (yield* setStatus(id, to)).status
            assert.strictEqual(allowed.includes(to), moved === 200, `${status} to ${to}: ${moved}`)
          }
        }
      }
    }))
})
