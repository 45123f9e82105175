import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { newId, type OrderId } from "../../src/domain/platform/ids/Id.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { inOneMoment, setStatus } from "../orders/OrderFixtures.ts"
import { waiting } from "../support/AtOnce.ts"
import { type BuiltOrder, orderInApp, type OrderSpec, stockInApp } from "../support/OrderBuilder.ts"
import { type Answer, api, asAdmin, at, withSharedApp } from "../support/TestApp.ts"

/** A paid order that waits for its parcel, its lines' stock reserved. */
const given = (spec: OrderSpec = {}) => orderInApp({ status: "confirmed", onHand: 20, ...spec })

const pathOf = (order: BuiltOrder) => `/api/orders/${order.id}/fulfillments`

/** Sends units of lines: how many of the first, how many of the second. */
const send = (order: BuiltOrder, quantities: ReadonlyArray<number>, body: object = {}) => {
  const lineItems = quantities.flatMap((quantity, index) =>
    quantity === 0 ? [] : [{ orderLineItemId: order.lines[index]?.id, quantity }]
  )
  return api("POST", pathOf(order), { as: asAdmin, body: { lineItems, ...body } })
}

/** Six requests at once: their statuses. */
const six = (request: ReturnType<typeof send>) =>
  Effect.map(
    Effect.all(Array.from({ length: 6 }, () => request), { concurrency: "unbounded" }),
    (answers) => answers.map(({ status }) => status).toSorted()
  )

const change = (order: BuiltOrder, made: Answer, body: object) =>
  api("PATCH", `${pathOf(order)}/${made.text("data.id")}`, { as: asAdmin, body })

const cancel = (order: BuiltOrder, made: Answer) => change(order, made, { status: "cancelled" })

const read = (order: BuiltOrder) => api("GET", `/api/orders/${order.id}`, { as: asAdmin })

/** Status of the order and of its lines. */
const state = (order: BuiltOrder) =>
  Effect.map(read(order), (found) => [
    found.text("data.status"),
    ...found.list("data.lineItems").map((line) => at(line, "fulfillmentStatus"))
  ])

const shelf = (order: BuiltOrder, line = 0) =>
  Effect.map(stockInApp(order, line), (stock) => [stock?.onHand, stock?.reserved])

/** Stock on hand and reserved of both lines. */
const shelves = (order: BuiltOrder) => Effect.all([shelf(order), shelf(order, 1)])

const rowsOf = (order: BuiltOrder, of: "history" | "change log" | "events") =>
  onDatabase((sql) =>
    of === "history"
      ? sql`select from_status, to_status from order_status_history where order_id = ${order.id}::uuid order by id`
      : of === "change log"
      ? sql`select type, before is null as fresh from outbox_events
          where payload->>'orderId' = ${order.id} or entity_id = ${order.id} order by id`
      : sql`select event_type, from_status, to_status, description, actor_id from fulfillment_events e
          join fulfillments f on f.id = e.fulfillment_id where f.order_id = ${order.id}::uuid order by e.id`
  )

withSharedApp("fulfillments by hand", (it) => {
  it.effect("moves an order to partially fulfilled with a part and to fulfilled with the rest, and takes the stock of each", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ quantity: 3, title: "Mug", sku: "MUG" }, { quantity: 1 }] })
      const tracking = { carrier: "Post", trackingNumber: "T-1", trackingUrl: "https://post.example/T-1" }
      const first = yield* send(order, [2], {
        ...tracking,
        estimatedDelivery: "2026-12-24",
        metadata: { box: "small" }
      })
      assert.strictEqual(first.status, 201)
      assert.deepInclude(first.at("data"), {
        ...tracking,
        orderId: order.id,
        type: "physical",
        status: "shipped",
        lineItems: [{ id: order.lines[0]?.id, title: "Mug", variantTitle: null, sku: "MUG", quantity: 2 }],
        entityId: order.lines[0]?.entityId,
        estimatedDelivery: "2026-12-24T00:00:00.000Z",
        metadata: { box: "small" }
      })
      assert.isString(first.at("data.shippedAt"))
      for (const absent of ["deliveredAt", "customerId", "downloadUrl"]) assert.notProperty(first.at("data"), absent)
      assert.deepStrictEqual(yield* state(order), ["partially_fulfilled", "partial", "unfulfilled"])
      assert.deepStrictEqual(yield* shelves(order), [[18, 1], [20, 1]])

      const second = yield* send(order, [1, 1], { status: "delivered" })
      assert.isString(second.at("data.deliveredAt"))
      assert.notProperty(second.at("data"), "entityId")
      assert.deepStrictEqual(yield* state(order), ["fulfilled", "fulfilled", "fulfilled"])
      assert.isString((yield* read(order)).at("data.fulfilledAt"))
      assert.deepStrictEqual(yield* shelves(order), [[17, 0], [19, 0]])

      const listed = yield* api("GET", pathOf(order), { as: asAdmin })
      assert.deepStrictEqual(listed.at("data"), [first.at("data"), second.at("data")])
      assert.deepStrictEqual(yield* rowsOf(order, "history"), [
        { from_status: "confirmed", to_status: "processing" },
        { from_status: "processing", to_status: "partially_fulfilled" },
        { from_status: "partially_fulfilled", to_status: "fulfilled" }
      ])
      const recorded = [
        { type: "fulfillment.create", fresh: true },
        { type: "orders.statusChange", fresh: false },
        { type: "orders.statusChange", fresh: false },
        { type: "fulfillment.create", fresh: true },
        { type: "orders.statusChange", fresh: false }
      ]
      assert.sameDeepMembers([...(yield* rowsOf(order, "change log"))], recorded)
    }))

  it.effect("keeps a partially fulfilled order's status for another part", () =>
    Effect.gen(function*() {
      const order = yield* given({ status: "processing", lines: [{ quantity: 3 }] })
      yield* send(order, [1])
      yield* send(order, [1])
      assert.deepStrictEqual(yield* state(order), ["partially_fulfilled", "partial"])
      assert.strictEqual((yield* rowsOf(order, "history")).length, 1)
    }))

  it.effect("does not send refunded units, and fulfills the order without them", () =>
    Effect.gen(function*() {
      const order = yield* given({ status: "processing", lines: [{ quantity: 3, refundedQuantity: 1 }] })
      refused(yield* send(order, [3]), 422, "VALIDATION_FAILED")
      assert.strictEqual((yield* send(order, [2])).status, 201)
      assert.deepStrictEqual(yield* state(order), ["fulfilled", "fulfilled"])
      // Refunded units are no longer reserved.
      assert.deepStrictEqual(yield* shelf(order), [18, 0])
    }))

  it.effect("makes a fulfillment of the rest when staff mark the order fulfilled", () =>
    Effect.gen(function*() {
      const order = yield* given({ status: "processing", lines: [{ quantity: 3 }, { quantity: 2 }] })
      assert.strictEqual((yield* setStatus(order, "fulfilled")).status, 200)
      const [rest, ...more] = (yield* api("GET", pathOf(order), { as: asAdmin })).list("data")
      assert.deepStrictEqual(more, [])
      assert.deepInclude(rest, { type: "physical", status: "fulfilled" })
      assert.deepStrictEqual([at(rest, "lineItems.0.quantity"), at(rest, "lineItems.1.quantity")], [3, 2])
      assert.deepStrictEqual(yield* shelves(order), [[17, 0], [18, 0]])
      refused(yield* send(order, [1]), 422, "VALIDATION_FAILED")
    }))

  it.effect("gives back only unsent stock when a partly sent order is cancelled", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ quantity: 3 }, { quantity: 2 }] })
      yield* send(order, [3])
      yield* setStatus(order, "cancelled")
      assert.deepStrictEqual(yield* shelves(order), [[17, 0], [20, 0]])
    }))

  it.effect("refuses to fulfill an order that is pending or has ended", () =>
    Effect.gen(function*() {
      for (const status of ["pending", "cancelled", "refunded"]) {
        const order = yield* given({ status })
        refused(yield* send(order, [1]), 422, "INVALID_TRANSITION", status)
        assert.deepStrictEqual(yield* shelf(order), [20, 1])
      }
    }))

  it.effect("refuses to fulfill an unpaid order, unless it costs nothing", () =>
    Effect.gen(function*() {
      const unpaid = yield* given({ captured: null })
      refused(yield* send(unpaid, [1]), 422, "INVALID_TRANSITION")
      const gift = yield* given({ captured: null, lines: [{ unitPrice: 0 }] })
      assert.strictEqual((yield* send(gift, [1])).status, 201)
    }))

  it.effect("refuses more units than are left, names the lines and sends nothing", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ quantity: 3 }, { quantity: 1 }] })
      yield* send(order, [2])
      const answer = yield* send(order, [2, 1])
      refused(answer, 422, "VALIDATION_FAILED")
      assert.deepStrictEqual(answer.at("error.details.issues"), [
        {
          path: "lineItems.0.quantity",
          message: "lineItems.0.quantity must be at most 1, the units that are left.",
          code: "over_quantity"
        }
      ])
      assert.deepStrictEqual(yield* state(order), ["partially_fulfilled", "partial", "unfulfilled"])
      assert.deepStrictEqual(yield* shelves(order), [[18, 1], [20, 1]])
    }))

  it.effect("refuses invalid fulfillments and names the field", () =>
    Effect.gen(function*() {
      const order = yield* given()
      const other = yield* given()
      const orderLineItemId = order.lines[0]?.id
      const once = { orderLineItemId, quantity: 1 }
      const bodies: ReadonlyArray<readonly [path: string, body: object]> = [
        ["lineItems", {}],
        ["lineItems", { lineItems: [] }],
        ["lineItems.0.quantity", { lineItems: [{ orderLineItemId, quantity: 0 }] }],
        ["lineItems.0.quantity", { lineItems: [{ orderLineItemId, quantity: 1.5 }] }],
        ["lineItems.0.orderLineItemId", { lineItems: [{ orderLineItemId: other.lines[0]?.id, quantity: 1 }] }],
        ["lineItems.1.orderLineItemId", { lineItems: [once, once] }],
        ["status", { lineItems: [once], status: "cancelled" }],
        ["type", { lineItems: [once], type: "pigeon" }],
        ["trackingUrl", { lineItems: [once], trackingUrl: "javascript:alert(1)" }],
        ["estimatedDelivery", { lineItems: [once], estimatedDelivery: "soon" }],
        ["carrier", { lineItems: [once], carrier: "half a \ud83d pair" }]
      ]
      for (const [path, body] of bodies) {
        const answer = yield* api("POST", pathOf(order), { as: asAdmin, body })
        assert.deepStrictEqual([answer.status, answer.at("error.details.issues.0.path")], [422, path])
      }
      assert.deepStrictEqual(yield* state(order), ["confirmed", "unfulfilled"])
    }))

  it.effect("answers 404 for a fulfillment of another order and for an unknown order", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ quantity: 2 }] })
      const made = yield* send(order, [1])
      const nowhere = { ...order, id: newId<OrderId>() }
      refused(yield* send(nowhere, [1]), 404, "NOT_FOUND")
      refused(yield* change(nowhere, made, { status: "delivered" }), 404, "NOT_FOUND")
      refused(yield* change(yield* given(), made, { status: "delivered" }), 404, "NOT_FOUND")
      assert.deepStrictEqual(yield* state(order), ["partially_fulfilled", "partial"])
    }))

  it.effect("counts each of six concurrent fulfillments, in stock too", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ quantity: 8 }] })
      assert.deepStrictEqual(yield* six(send(order, [1])), [201, 201, 201, 201, 201, 201])
      assert.deepStrictEqual([yield* state(order), yield* shelf(order)], [["partially_fulfilled", "partial"], [14, 2]])
    }))

  it.effect("fulfills an order whose rest is sent by two concurrent requests", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ quantity: 3 }] })
      yield* send(order, [1])
      const answers = yield* inOneMoment((sql) => sql`select 1 from orders where id = ${order.id}::uuid for update`, [
        send(order, [1]),
        send(order, [1])
      ])
      assert.deepStrictEqual(answers.map(({ status }) => status), [201, 201])
      assert.deepStrictEqual(yield* state(order), ["fulfilled", "fulfilled"])
    }))

  it.effect("accepts as many concurrent fulfillments as there are units", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ quantity: 6 }] })
      yield* send(order, [1])
      assert.deepStrictEqual(yield* six(send(order, [2])), [201, 201, 422, 422, 422, 422])
      assert.deepStrictEqual([yield* state(order), yield* shelf(order)], [["partially_fulfilled", "partial"], [15, 1]])
      assert.deepStrictEqual(yield* six(send(order, [1])), [201, 422, 422, 422, 422, 422])
      assert.deepStrictEqual([yield* state(order), yield* shelf(order)], [["fulfilled", "fulfilled"], [14, 0]])
    }))

  it.effect("either sends or gives back units when an order is cancelled at the same moment", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ quantity: 2 }] })
      const [sent] = yield* Effect.all([send(order, [1]), setStatus(order, "cancelled")], { concurrency: "unbounded" })
      const [status] = yield* state(order)
      assert.deepStrictEqual(
        [status, yield* shelf(order)],
        // A change of status that lost against the parcel is refused and can be repeated.
        status === "cancelled" ? ["cancelled", [sent.status === 201 ? 19 : 20, 0]] : ["partially_fulfilled", [19, 1]]
      )
    }))

  it.effect("records changes of status and tracking, and ignores a repetition", () =>
    Effect.gen(function*() {
      const order = yield* given()
      const made = yield* send(order, [1], { status: "pending", carrier: "Post" })
      assert.notProperty(made.at("data"), "shippedAt")
      const shipped = yield* change(order, made, { status: "shipped", trackingNumber: "T-2", carrier: null })
      assert.strictEqual(shipped.status, 200)
      assert.deepInclude(shipped.at("data"), { status: "shipped", trackingNumber: "T-2" })
      assert.isString(shipped.at("data.shippedAt"))
      assert.notProperty(shipped.at("data"), "carrier")
      const moved = yield* change(order, made, { trackingUrl: "https://post.example/T-2" })
      const delivered = yield* change(order, made, { status: "delivered", description: "at the gate" })
      assert.deepInclude(delivered.at("data"), { status: "delivered", trackingUrl: moved.at("data.trackingUrl") })
      const again = yield* change(order, made, { status: "delivered" })
      assert.deepStrictEqual(again.at("data"), delivered.at("data"))
      const rows = yield* rowsOf(order, "events")
      assert.deepStrictEqual(rows.map((row) => Object.values(row)), [
        ["created", null, "pending", null, "user-admin"],
        ["status_changed", "pending", "shipped", null, "user-admin"],
        ["tracking_changed", "shipped", "shipped", null, "user-admin"],
        ["status_changed", "shipped", "delivered", "at the gate", "user-admin"]
      ])
    }))

  it.effect("gives the units of a cancelled fulfillment back, to be sent again", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ quantity: 2 }] })
      const made = yield* send(order, [2])
      assert.deepStrictEqual([yield* state(order), yield* shelf(order)], [["fulfilled", "fulfilled"], [18, 0]])
      yield* change(order, made, { status: "failed" })
      assert.deepStrictEqual(yield* shelf(order), [18, 0])
      assert.strictEqual((yield* cancel(order, made)).at("data.status"), "cancelled")
      // The order has no way back; its lines say what is open.
      assert.deepStrictEqual([yield* state(order), yield* shelf(order)], [["fulfilled", "unfulfilled"], [20, 2]])
      refused(yield* change(order, made, { status: "shipped" }), 422, "INVALID_TRANSITION")
      assert.strictEqual((yield* send(order, [1])).status, 201)
      assert.deepStrictEqual([yield* state(order), yield* shelf(order)], [["fulfilled", "partial"], [19, 1]])
    }))

  it.effect("gives units back once for six concurrent cancellations", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ quantity: 3 }] })
      const made = yield* send(order, [1])
      yield* six(cancel(order, made))
      assert.deepStrictEqual(yield* shelf(order), [20, 3])
    }))

  it.effect("refuses an invalid transition, and a cancellation after the order's end or a refund", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ quantity: 2 }] })
      const made = yield* send(order, [1])
      const refund = (units: number) =>
        onDatabase((sql) => sql`update order_lines set refunded_quantity = ${units} where order_id = ${order.id}::uuid`)
      refused(yield* change(order, made, { status: "processing" }), 422, "INVALID_TRANSITION")
      refused(yield* change(order, made, { status: "lost" }), 422, "VALIDATION_FAILED")
      yield* refund(1)
      refused(yield* cancel(order, made), 422, "INVALID_TRANSITION")
      yield* refund(0)
      yield* setStatus(order, "cancelled")
      refused(yield* cancel(order, made), 422, "INVALID_TRANSITION")
      assert.strictEqual((yield* change(order, made, { status: "delivered" })).status, 200)
      assert.deepStrictEqual(yield* shelf(order), [19, 0])
    }))

  it.effect("refuses to cancel a fulfillment of which units came back with a return", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ quantity: 2 }] })
      const made = yield* send(order, [2])
      const lineItemId = order.lines[0]?.id
      const asked = { as: asAdmin, body: { lines: [{ lineItemId, quantity: 1 }] } }
      const back = yield* api("POST", `/api/orders/${order.id}/returns`, asked)
      const path = `/api/orders/${order.id}/returns/${back.text("data.id")}`
      yield* api("POST", `${path}/approve`, { as: asAdmin })
      const lines = [{ lineItemId, quantity: 1, disposition: "scrap" }]
      assert.strictEqual((yield* api("POST", `${path}/receive`, { as: asAdmin, body: { lines } })).status, 200)
      refused(yield* cancel(order, made), 422, "INVALID_TRANSITION")
      assert.deepStrictEqual(yield* shelf(order), [18, 0])
    }))

  it.effect("and a refund that returns some units and releases others lock their stock in one order", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{}, {}] })
      yield* send(order, [1, 0])
      const [sent, unsent] = order.lines
      const itemOf = (sql: SqlClient.SqlClient, line: typeof sent) =>
        sql`select 1 from stock_items where sellable_id = ${line?.entityId ?? null}::uuid for update nowait`
      const [locked, free] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const other = yield* Effect.forkChild(onDatabase((sql) =>
        sql.withTransaction(
          itemOf(sql, sent).pipe(
            Effect.andThen(Deferred.succeed(locked, undefined)),
            Effect.andThen(Deferred.await(free))
          )
        )
      ))
      yield* Deferred.await(locked)
      const lines = order.lines.map(({ id }) => ({ lineItemId: id, quantity: 1 }))
      const refund = yield* Effect.forkChild(
        api("POST", `/api/orders/${order.id}/refunds`, { as: asAdmin, body: { lines, restock: true } })
      )
      yield* onDatabase((sql) => Effect.provideService(waiting(1), SqlClient.SqlClient, sql))
      yield* onDatabase((sql) => itemOf(sql, unsent))
      yield* Deferred.succeed(free, undefined)
      yield* Fiber.join(other)
      assert.strictEqual((yield* Fiber.join(refund)).status, 201)
      assert.deepStrictEqual(yield* shelves(order), [[20, 0], [20, 0]])
    }))
})
