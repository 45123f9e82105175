import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { buildOrder, type BuiltOrder, type OrderSpec, stockOf } from "../support/OrderBuilder.ts"
import { api, asAdmin, asStaff, withApp } from "../support/TestApp.ts"

const inShop = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  onDatabase((sql) => Effect.orDie(Effect.provideService(effect, SqlClient.SqlClient, sql)))

/** A refund of all units; one whose provider is not configured waits for it and is not sent. */
const aRefund = Effect.fnUntraced(function*(spec: OrderSpec) {
  const order = yield* inShop(buildOrder({ lines: [{ quantity: 2 }], onHand: 10, ...spec }))
  const body = { lines: [{ lineItemId: order.lines[0]?.id, quantity: 2 }] }
  const made = yield* api("POST", `/api/orders/${order.id}/refunds`, { as: asStaff, body })
  return { order, id: made.text("data.id"), status: made.text("data.status") }
})

const undo = (order: BuiltOrder, refundId: string) =>
  api("POST", `/api/orders/${order.id}/refunds/${refundId}/undo`, { as: asStaff })

const read = (order: BuiltOrder) => api("GET", `/api/orders/${order.id}`, { as: asAdmin })

withApp("a refund that is undone", (it) => {
  it.effect("gives units, worth and stock back to its order, once; until then it counts as given back", () =>
    Effect.gen(function*() {
      const { id, order, status } = yield* aRefund({ provider: "gone" })
      assert.strictEqual(status, "pending")
      refused(
        yield* api("POST", `/api/orders/${order.id}/refunds`, { as: asStaff, body: { amount: 1 } }),
        409,
        "CONFLICT"
      )
      assert.deepInclude(yield* inShop(stockOf(order)), { reserved: 0 })
      const undone = yield* undo(order, id)
      assert.strictEqual(undone.status, 200, JSON.stringify(undone.body))
      assert.deepInclude(undone.at("data"), { status: "undone", undoneBy: "user-staff" })
      assert.deepInclude(yield* inShop(stockOf(order)), { onHand: 10, reserved: 2, hold: "sold" })
      assert.strictEqual((yield* read(order)).number("data.lineItems.0.refundedQuantity"), 0)
      refused(yield* undo(order, id), 409, "CONFLICT")
    }))

  it.effect("was not sent: of one that was, nobody knows whether the money has moved", () =>
    Effect.gen(function*() {
      const { id, order } = yield* aRefund({ provider: "gone" })
      yield* inShop(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`update refunds set sent_at = now() where id = ${id}::uuid`)
      )
      const late = yield* undo(order, id)
      refused(late, 409, "CONFLICT")
      assert.match(late.text("error.message"), /provider has been asked/)
      assert.strictEqual((yield* read(order)).number("data.lineItems.0.refundedQuantity"), 2)
      assert.deepInclude(yield* inShop(stockOf(order)), { reserved: 0 })
    }))

  it.effect("was not completed, and belongs to the order that is named", () =>
    Effect.gen(function*() {
      const { id, order, status } = yield* aRefund({})
      assert.strictEqual(status, "completed")
      refused(yield* undo(order, id), 409, "CONFLICT")
      refused(yield* undo(yield* inShop(buildOrder()), id), 404, "NOT_FOUND")
      assert.strictEqual((yield* read(order)).number("data.refundedTotal"), order.grandTotal)
    }))
})
