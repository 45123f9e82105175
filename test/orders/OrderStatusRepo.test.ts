import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { undoCreateOrderRepoLayer } from "../../src/domain/checkout/CreateOrderRepo.ts"
import { handoverLayer } from "../../src/domain/fulfillment/ShipmentRepo.ts"
import { HoldRepo } from "../../src/domain/inventory/HoldRepo.ts"
import { OrderStock } from "../../src/domain/inventory/Inventory.ts"
import { OrderHoldRepo } from "../../src/domain/inventory/OrderHoldRepo.ts"
import { OrderStatusRepo, type OrderTransition } from "../../src/domain/orders/OrderStatusRepo.ts"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { buildOrder, type BuiltOrder, manager, stockOf } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"

const move = (order: BuiltOrder, from: OrderTransition["from"], to: OrderTransition["to"], more: object = {}) =>
  Effect.flatMap(OrderStatusRepo, (repo) => repo.transition({ orderId: order.id, from, to, reason: null, ...more }))
    .pipe(Effect.provideService(CurrentActor, manager(order.organizationId)))

const refundsOf = (order: BuiltOrder) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ amount: bigint; reason: string; status: string }>`
      select amount, reason, status from refunds where order_id = ${order.id}::uuid order by created_at, id`
    return rows.map(({ amount, reason, status }) => ({ amount: Number(amount), reason, status }))
  })

describe("a transition of an order", () => {
  it.layer(OrderStatusRepo.layer.pipe(
    Layer.provide(Layer.mergeAll(OrderStock.layer, handoverLayer)),
    Layer.provide(Layer.mergeAll(HoldRepo.layer, OrderHoldRepo.layer, undoCreateOrderRepoLayer)),
    Layer.provideMerge(TestDatabase)
  ))((it) => {
    it.effect("to cancelled gives stock back, records the refund of the capture and emits the change", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const built = yield* buildOrder({ lines: [{ quantity: 3 }, { quantity: 2 }], onHand: 10 })
        const { order, refundId } = yield* move(built, "pending", "cancelled", { reason: "changed my mind" })
        assert.strictEqual(order.status, "cancelled")
        assert.instanceOf(order.cancelledAt, Date)
        assert.isNull(order.fulfilledAt)
        assert.isString(refundId)
        const refund = { amount: 5_000, reason: "changed my mind", status: "pending" }
        assert.deepStrictEqual(yield* refundsOf(built), [refund])
        const released = { onHand: 10, reserved: 0, version: 1, hold: "released" }
        assert.deepStrictEqual([yield* stockOf(built, 0), yield* stockOf(built, 1)], [released, released])
        const history = yield* sql`select from_status, to_status, reason, changed_by from order_status_history
          where order_id = ${built.id}::uuid`
        const change = {
          from_status: "pending",
          to_status: "cancelled",
          reason: "changed my mind",
          changed_by: "manager"
        }
        assert.deepStrictEqual(history, [change])
        const events = yield* sql`select type, payload->>'status' as status, payload ? 'cartSecretHash' as secret,
            jsonb_array_length(payload->'lineItems') as lines
          from outbox_events where entity_type = 'order' and entity_id = ${built.id}`
        const shown = { status: "cancelled", secret: false, lines: 2 }
        assert.sameDeepMembers(events.slice(), [
          { type: "orders.statusChange", ...shown },
          { type: "orders.cancel", ...shown }
        ])
        const movements = yield* sql`select type, quantity from stock_movements
          where reference_id = ${built.id} order by quantity`
        assert.deepStrictEqual(movements, [{ type: "release", quantity: 2 }, { type: "release", quantity: 3 }])
      }))

    it.effect("to fulfilled deducts the units and marks the lines", () =>
      Effect.gen(function*() {
        const built = yield* buildOrder({ status: "processing", lines: [{ quantity: 3 }], onHand: 10 })
        const { order, refundId } = yield* move(built, "processing", "fulfilled")
        assert.isNull(refundId)
        assert.instanceOf(order.fulfilledAt, Date)
        assert.deepStrictEqual(order.lineItems.map((line) => line.fulfillmentStatus), ["fulfilled"])
        assert.deepStrictEqual(yield* stockOf(built), { onHand: 7, reserved: 0, version: 1, hold: "fulfilled" })
      }))

    it.effect("to partially_fulfilled changes neither stock nor lines", () =>
      Effect.gen(function*() {
        const built = yield* buildOrder({ status: "processing", lines: [{ quantity: 3 }], onHand: 10 })
        const { order } = yield* move(built, "processing", "partially_fulfilled")
        assert.deepStrictEqual(order.lineItems.map((line) => line.fulfillmentStatus), ["unfulfilled"])
        assert.deepStrictEqual(yield* stockOf(built), { onHand: 10, reserved: 3, version: 0, hold: "sold" })
      }))

    it.effect("to cancelled deducts units of fulfilled lines and releases the others", () =>
      Effect.gen(function*() {
        const built = yield* buildOrder({
          status: "partially_fulfilled",
          lines: [{ quantity: 3, fulfillmentStatus: "fulfilled" }, { quantity: 2 }],
          onHand: 10
        })
        yield* move(built, "partially_fulfilled", "cancelled")
        assert.deepStrictEqual(yield* stockOf(built, 0), { onHand: 7, reserved: 0, version: 1, hold: "released" })
        assert.deepStrictEqual(yield* stockOf(built, 1), { onHand: 10, reserved: 0, version: 1, hold: "released" })
      }))

    it.effect("to refunded refunds the capture and restocks nothing", () =>
      Effect.gen(function*() {
        const built = yield* buildOrder({ status: "processing", lines: [{ quantity: 3 }], onHand: 10 })
        yield* move(built, "processing", "fulfilled")
        yield* move(built, "fulfilled", "refunded")
        const refund = { amount: 3_000, reason: "order_refunded", status: "pending" }
        assert.deepStrictEqual(yield* refundsOf(built), [refund])
        assert.deepStrictEqual(yield* stockOf(built), { onHand: 7, reserved: 0, version: 1, hold: "fulfilled" })
      }))

    it.effect("refuses to fulfil an order with refunded units, and changes nothing", () =>
      Effect.gen(function*() {
        const built = yield* buildOrder({
          status: "processing",
          lines: [{ quantity: 3, refundedQuantity: 1 }],
          onHand: 10
        })
        const outcome = yield* Effect.result(move(built, "processing", "fulfilled"))
        assert.strictEqual(Result.isFailure(outcome) && outcome.failure._tag, "InvalidTransition")
        assert.deepStrictEqual(yield* stockOf(built), { onHand: 10, reserved: 3, version: 0, hold: "sold" })
        yield* move(built, "processing", "cancelled")
      }))

    it.effect("voids an authorization that was never captured, unless the provider has already ended it", () =>
      Effect.gen(function*() {
        const open = yield* buildOrder({ captured: null })
        const ended = yield* buildOrder({ captured: null })
        const unpaid = yield* buildOrder({ captured: null, intentId: null })
        yield* move(open, "pending", "cancelled")
        yield* move(ended, "pending", "cancelled", { authorizationEnded: true })
        yield* move(unpaid, "pending", "cancelled")
        assert.deepStrictEqual(yield* refundsOf(open), [{ amount: 0, reason: "order_cancelled", status: "pending" }])
        assert.deepStrictEqual(yield* refundsOf(ended), [])
        assert.deepStrictEqual(yield* refundsOf(unpaid), [])
      }))

    it.effect("refunds only what is neither refunded nor pending", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const built = yield* buildOrder({ status: "fulfilled", lines: [{ unitPrice: 5_000 }] })
        yield* sql`update orders set refunded_total = 1000 where id = ${built.id}::uuid`
        yield* sql`insert into refunds (id, organization_id, order_id, amount, reason, status)
          values (gen_random_uuid(), 'org_default', ${built.id}::uuid, 500, 'damaged', 'pending')`
        yield* move(built, "fulfilled", "refunded")
        assert.deepInclude(yield* refundsOf(built), { amount: 3_500, reason: "order_refunded", status: "pending" })
      }))

    it.effect("lets one of five parallel cancellations win, which moves stock and money once", () =>
      Effect.gen(function*() {
        const built = yield* buildOrder({ lines: [{ quantity: 4 }], onHand: 10 })
        const cancel = Effect.result(move(built, "pending", "cancelled"))
        const outcomes = yield* Effect.replicateEffect(cancel, 5, { concurrency: "unbounded" })
        assert.strictEqual(outcomes.filter(Result.isSuccess).length, 1)
        const lost = outcomes.filter(Result.isFailure).map((outcome) => outcome.failure._tag)
        assert.deepStrictEqual(lost, [
          "Conflict/OrderStatusChanged",
          "Conflict/OrderStatusChanged",
          "Conflict/OrderStatusChanged",
          "Conflict/OrderStatusChanged"
        ])
        assert.deepStrictEqual(yield* stockOf(built), { onHand: 10, reserved: 0, version: 1, hold: "released" })
        assert.strictEqual((yield* refundsOf(built)).length, 1)
      }))

    it.effect("cancels only an unpaid order for not being paid", () =>
      Effect.gen(function*() {
        const [paid, unpaid] = [yield* buildOrder(), yield* buildOrder({ captured: null })]
        const lost = yield* Effect.flip(move(paid, "pending", "cancelled", { unpaid: true }))
        assert.strictEqual(lost._tag, "Conflict/OrderStatusChanged")
        assert.strictEqual((yield* move(unpaid, "pending", "cancelled", { unpaid: true })).order.status, "cancelled")
      }))

    it.effect("ends orders that share sellables at the same time without deadlock or lost units", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const base = yield* buildOrder({ lines: [{}, {}, {}], onHand: 100 })
        const [x, y, z] = base.lines.map((line) => line.entityId)
        const others = yield* Effect.forEach(Array.from({ length: 12 }), () => buildOrder({ status: "processing" }))
        for (const [n, other] of others.entries()) {
          yield* sql`insert into holds (organization_id, holder, state) values ('org_default', ${other.id}, 'sold')`
          for (const sellable of n % 2 === 0 ? [x, y, z] : [z, y, x]) {
            yield* sql`insert into hold_lines (organization_id, holder, sellable_id, warehouse_id, quantity)
              values ('org_default', ${other.id}, ${sellable ?? null}::uuid, ${base.warehouseId}::uuid, 2)`
          }
        }
        yield* sql`update stock_levels set reserved = reserved + 24 where warehouse_id = ${base.warehouseId}::uuid`
        yield* Effect.forEach(others, (other, n) => move(other, "processing", n < 6 ? "fulfilled" : "cancelled"), {
          concurrency: "unbounded"
        })
        for (const line of [0, 1, 2]) {
          const stock = yield* stockOf(base, line)
          // Six fulfilled orders took 2 each; the six cancelled ones gave theirs back.
          assert.strictEqual(stock?.reserved, 1)
          assert.strictEqual(stock?.onHand, 100 - 12)
          assert.strictEqual(stock?.version, 12)
        }
      }))
  })
})
