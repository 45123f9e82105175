import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { type PaymentAdapter, PaymentDeclined, PaymentUnknown } from "../../src/domain/payments/PaymentAdapter.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { testProvider } from "../../src/layers/payments/TestProvider.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { atOnce } from "../support/AtOnce.ts"
import { type BuiltOrder, orderInApp, type OrderSpec, stockInApp } from "../support/OrderBuilder.ts"
import { sharedClient } from "../support/SharedClients.ts"
import { api, asAdmin, asStaff, live, TestApp, testAppLayer } from "../support/TestApp.ts"

/** What each payment's provider was asked, in order: key and amount of its refunds. */
const asked: Array<readonly [provider: string, intentId: string, key: string, amount: number]> = []
/** What its first calls for a payment meet, in their order. */
const obstacles = new Map<string, Array<PaymentUnknown | PaymentDeclined>>()

const refusal = new PaymentDeclined({ code: "PAYMENT_REFUND_FAILED", message: "The card is closed." })
const silence = new PaymentUnknown({ message: "No answer." })

const counting = (providerId: string): PaymentAdapter => ({
  ...testProvider({ webhookSecret: providerId }),
  providerId,
  refund: (intentId, amount, _reason, key) =>
    Effect.suspend(() => {
      asked.push([providerId, intentId, key, amount])
      const obstacle = obstacles.get(intentId)?.shift()
      return obstacle === undefined ? Effect.succeed(`re_${key}`) : Effect.fail(obstacle)
    })
})

const adapters = [counting("first"), counting("second")]

const withProviders = layer(testAppLayer({ payments: { adapters } }), live)

const given = (spec: OrderSpec = {}) => orderInApp({ provider: "second", ...spec })

const refund = (order: BuiltOrder, body: object) =>
  api("POST", `/api/orders/${order.id}/refunds`, { as: asStaff, body })

const refundAmount = (order: BuiltOrder, body?: object) =>
  api("POST", `/api/orders/${order.id}/refund`, { as: asStaff, ...body && { body } })

const six = (refund: ReturnType<typeof refundAmount>) =>
  Effect.map(
    Effect.all(Array.from({ length: 6 }, () => refund), { concurrency: "unbounded" }),
    (answers) => answers.map(({ status }) => status).toSorted()
  )

/** What the order says of its refunds. */
const refundedOf = (order: BuiltOrder) =>
  Effect.map(read(order), (found) => [
    found.number("data.refundedTotal"),
    found.number("data.lineItems.0.refundedQuantity")
  ])

const amountsOf = (order: BuiltOrder) => askedOf(order).map(([, , , amount]) => amount)

const retry = (id: string | undefined) => api("POST", `/api/admin/compensation-failures/${id}/retry`, { as: asAdmin })

const read = (order: BuiltOrder) => api("GET", `/api/orders/${order.id}`, { as: asAdmin })

const units = (order: BuiltOrder, quantity: number, also: object = {}) => ({
  lines: [{ lineItemId: order.lines[0]?.id, quantity }],
  ...also
})

const askedOf = (order: BuiltOrder) => asked.filter(([, intentId]) => intentId === order.intentId)

const move = Effect.fnUntraced(function*(order: BuiltOrder, ...statuses: ReadonlyArray<string>) {
  for (const status of statuses) {
    const answer = yield* api("PATCH", `/api/orders/${order.id}/status`, { as: asAdmin, body: { status } })
    assert.strictEqual(answer.status, 200, `${status}: ${JSON.stringify(answer.body)}`)
  }
})

const failuresOf = (order: BuiltOrder, status = "open") =>
  Effect.map(
    api("GET", `/api/admin/compensation-failures?status=${status}&limit=100`, { as: asAdmin }),
    (answer) =>
      answer.list("data").map((_, index) => index).filter((index) => answer.at(`data.${index}.orderId`) === order.id)
        .map((index) => ({ id: answer.text(`data.${index}.id`), record: answer.at(`data.${index}`) }))
  )

withProviders("refunds over HTTP", (it) => {
  it.effect("answers a refund with its lines, asks the adapter that authorized, and counts it on line and order", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ quantity: 2, unitPrice: 1_250 }, {}], shipping: 500 })
      const made = yield* refund(order, units(order, 1, { shipping: 200, reason: "broken" }))
      assert.strictEqual(made.status, 201, JSON.stringify(made.body))
      assert.deepInclude(made.at("data"), {
        orderId: order.id,
        organizationId: "org_default",
        kind: "refund",
        amount: 1_450,
        currency: "USD",
        shipping: 200,
        reason: "broken",
        lines: [{ lineItemId: order.lines[0]?.id, quantity: 1, amount: 1_250, restocked: 0 }],
        status: "completed",
        performedBy: "user-staff",
        undoneAt: null
      })
      assert.deepStrictEqual(askedOf(order), [["second", order.intentId ?? "", made.text("data.id"), 1_450]])
      assert.deepStrictEqual(yield* refundedOf(order), [1_450, 1])
      assert.strictEqual((yield* read(order)).text("data.status"), "pending")
      const list = yield* api("GET", `/api/orders/${order.id}/refunds`, { as: asStaff })
      assert.deepStrictEqual(list.at("data.0"), made.at("data"))
      assert.strictEqual(list.number("meta.pagination.total"), 1)
      const cap = yield* api("GET", `/api/orders/refunds/cap?orderId=${order.id}`, { as: asStaff })
      assert.deepInclude(cap.at("data"), { captured: 4_000, refunded: 1_450, pending: 0, cap: 2_550, shipping: 300 })
      assert.deepStrictEqual(cap.at("data.lines"), [
        { lineItemId: order.lines[0]?.id, quantity: 1, amount: 1_250 },
        { lineItemId: order.lines[1]?.id, quantity: 1, amount: 1_000 }
      ])
    }))

  it.effect("accepts exactly two of six concurrent refunds of one unit of two", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ quantity: 2, unitPrice: 1_250 }] })
      assert.deepStrictEqual(yield* six(refund(order, units(order, 1))), [201, 201, 422, 422, 422, 422])
      assert.deepStrictEqual(amountsOf(order), [1_250, 1_250])
      assert.deepStrictEqual(yield* refundedOf(order), [2_500, 2])
    }))

  it.effect("records a refund of free units without asking the provider", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ unitPrice: 0 }, {}] })
      const made = yield* refund(order, units(order, 1))
      assert.deepStrictEqual([made.status, made.at("data.status"), made.at("data.amount")], [201, "completed", 0])
      assert.deepStrictEqual(askedOf(order), [])
    }))

  it.effect("repeats the answer for a repeated Idempotency-Key and moves the money once", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ quantity: 2 }] })
      const call = { as: asStaff, body: units(order, 1), headers: { "idempotency-key": newId() } }
      const first = yield* api("POST", `/api/orders/${order.id}/refunds`, call)
      const again = yield* api("POST", `/api/orders/${order.id}/refunds`, call)
      assert.deepStrictEqual([again.status, again.body], [first.status, first.body])
      assert.strictEqual(askedOf(order).length, 1)
    }))

  it.effect("never refunds more than was captured for six requests at once", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ unitPrice: 1_000 }] })
      assert.deepStrictEqual(yield* six(refundAmount(order, { amount: 400 })), [201, 201, 422, 422, 422, 422])
      assert.deepStrictEqual(yield* refundedOf(order), [800, 0])
      const rest = yield* refundAmount(order)
      assert.deepStrictEqual([rest.status, rest.at("data.amount")], [201, 200])
      refused(yield* refundAmount(order, {}), 409, "CONFLICT")
    }))

  it.effect("moves a fulfilled order to refunded by a full refund, and no order in another status", () =>
    Effect.gen(function*() {
      const [fulfilled, confirmed] = [yield* given({ status: "fulfilled" }), yield* given({ status: "confirmed" })]
      const steps = [[fulfilled, { amount: 400 }, "fulfilled"], [fulfilled, {}, "refunded"], [
        confirmed,
        {},
        "confirmed"
      ]] as const
      for (const [order, body, status] of steps) {
        yield* refundAmount(order, body)
        assert.strictEqual((yield* read(order)).text("data.status"), status)
      }
      assert.deepStrictEqual(amountsOf(fulfilled), [400, 600])
    }))

  it.effect("returns handed-over units to their warehouse on request, and never twice", () =>
    Effect.gen(function*() {
      const order = yield* given({ status: "processing", lines: [{ quantity: 3 }], onHand: 10 })
      yield* move(order, "fulfilled")
      assert.deepInclude(yield* stockInApp(order), { onHand: 7, reserved: 0 })
      yield* refund(order, units(order, 1))
      assert.deepInclude(yield* stockInApp(order), { onHand: 7, reserved: 0 })
      const back = yield* refund(order, units(order, 1, { restock: true }))
      assert.deepStrictEqual([back.at("data.kind"), back.at("data.lines.0.restocked")], ["return", 1])
      assert.deepInclude(yield* stockInApp(order), { onHand: 8, reserved: 0 })
      const movements = yield* onDatabase((sql) =>
        sql`select type, quantity, warehouse_id from stock_movements where reference_id = ${order.id}
          and type = 'return'`
      )
      assert.deepStrictEqual(movements, [{ type: "return", quantity: 1, warehouse_id: order.warehouseId }])
    }))

  it.effect("keeps returned units when their refund fails, and does not return them again", () =>
    Effect.gen(function*() {
      const order = yield* given({ status: "processing", lines: [{ quantity: 3 }], onHand: 10 })
      yield* move(order, "fulfilled")
      obstacles.set(order.intentId ?? "", [refusal])
      const failed = yield* refund(order, units(order, 1, { restock: true }))
      assert.deepStrictEqual([failed.at("data.status"), failed.at("data.lines.0.restocked")], ["failed", 1])
      assert.deepInclude(yield* stockInApp(order), { onHand: 8, reserved: 0 })
      const all = yield* refund(order, units(order, 3, { restock: true }))
      assert.deepStrictEqual([all.at("data.status"), all.at("data.lines.0.restocked")], ["completed", 2])
      assert.deepInclude(yield* stockInApp(order), { onHand: 10, reserved: 0 })
    }))

  it.effect("releases units that were never handed over, with and without restocking", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ quantity: 3 }], onHand: 10 })
      const made = yield* refund(order, units(order, 2, { restock: true }))
      assert.strictEqual(made.at("data.lines.0.restocked"), 0)
      assert.deepInclude(yield* stockInApp(order), { onHand: 10, reserved: 1, hold: "sold" })
      yield* refund(order, units(order, 1))
      assert.deepInclude(yield* stockInApp(order), { onHand: 10, reserved: 0, hold: "released" })
    }))

  it.effect("refunds unsent units of a partly sent line first", () =>
    Effect.gen(function*() {
      const order = yield* given({ status: "processing", lines: [{ quantity: 2 }], onHand: 10 })
      yield* onDatabase((sql) =>
        sql`with made as (insert into fulfillments (id, organization_id, order_id, type, status)
            values (${newId()}::uuid, 'org_default', ${order.id}::uuid, 'physical', 'shipped') returning id)
          insert into fulfillment_lines (organization_id, fulfillment_id, order_line_id, quantity)
          select 'org_default', id, ${order.lines[0]?.id ?? ""}::uuid, 1 from made`
      )
      yield* refund(order, units(order, 1))
      assert.deepInclude(yield* stockInApp(order), { onHand: 10, reserved: 1 })
      yield* refund(order, units(order, 1))
      assert.deepInclude(yield* stockInApp(order), { onHand: 10, reserved: 1 })
    }))

  it.effect("gives units and hold of a failed refund back, and retries it under another key", () =>
    Effect.gen(function*() {
      const order = yield* given({ lines: [{ quantity: 2 }], shipping: 300, onHand: 10 })
      obstacles.set(order.intentId ?? "", [refusal])
      const made = yield* refund(order, units(order, 1, { shipping: true }))
      assert.deepStrictEqual(
        [made.status, made.at("data.status"), made.at("data.failure")],
        [201, "failed", "The card is closed."]
      )
      assert.deepStrictEqual(yield* refundedOf(order), [0, 0])
      assert.deepInclude(yield* stockInApp(order), { onHand: 10, reserved: 2, hold: "sold" })
      const [failure] = yield* failuresOf(order)
      assert.deepInclude(failure?.record, {
        kind: "refund_failed",
        refundId: made.text("data.id"),
        amount: 1_300,
        message: "The card is closed.",
        provider: "second",
        actions: ["retry", "resolve"]
      })
      const again = yield* Effect.all([retry(failure?.id), retry(failure?.id)], { concurrency: "unbounded" })
      assert.deepStrictEqual(again.map(({ status }) => status).toSorted(), [200, 409])
      const ended = yield* api("GET", `/api/orders/${order.id}/refunds`, { as: asStaff })
      assert.deepStrictEqual(
        [ended.at("data.0.status"), ended.at("data.0.failure"), ended.number("meta.pagination.total")],
        ["completed", null, 1]
      )
      const id = made.text("data.id")
      assert.deepStrictEqual(askedOf(order).map(([, , key]) => key), [id, `${id}:1`])
      assert.deepStrictEqual(yield* refundedOf(order), [1_300, 1])
      assert.deepInclude(yield* stockInApp(order), { onHand: 10, reserved: 1 })
      assert.deepStrictEqual(yield* failuresOf(order), [])
    }))

  it.effect("resolves a failed refund once, and does not retry it after its money was refunded otherwise", () =>
    Effect.gen(function*() {
      const order = yield* given()
      obstacles.set(order.intentId ?? "", [refusal, refusal])
      yield* refund(order, units(order, 1))
      const [failure] = yield* failuresOf(order)
      assert.strictEqual((yield* refundAmount(order, {})).at("data.status"), "failed")
      yield* refundAmount(order, {})
      const path = `/api/admin/compensation-failures/${failure?.id}`
      refused(yield* retry(failure?.id), 409, "CONFLICT")
      const resolved = yield* api("POST", `${path}/resolve`, { as: asAdmin, body: { note: "Paid in cash." } })
      assert.strictEqual(resolved.status, 200)
      assert.deepInclude(resolved.at("data"), {
        status: "resolved",
        note: "Paid in cash.",
        resolvedBy: "user-admin",
        actions: []
      })
      assert.strictEqual((yield* api("POST", `${path}/resolve`, { as: asAdmin, body: {} })).status, 409)
      assert.strictEqual(
        (yield* retry(failure?.id)).at("error.message"),
        "Somebody has seen to this failure already."
      )
      assert.strictEqual((yield* read(order)).number("data.refundedTotal"), 1_000)
    }))

  it.effect("refuses to retry a failure that is resolved or refunded at the same moment", () =>
    Effect.gen(function*() {
      const { databaseUrl } = yield* TestApp
      const database = sharedClient(databaseUrl)
      for (
        const [what, change] of [
          ["compensation_failures", "status = 'resolved'"],
          ["orders", "refunded_total = grand_total"]
        ] as const
      ) {
        const order = yield* given()
        obstacles.set(order.intentId ?? "", [refusal])
        yield* refund(order, units(order, 1))
        const [{ id } = { id: "" }] = yield* failuresOf(order)
        const somebody = (sql: SqlClient.SqlClient) =>
          sql`update ${sql(what)} set ${sql.literal(change)} where id = any(${[id, order.id]}::uuid[])`
        const [late] = yield* Effect.provide(atOnce(somebody, [retry(id)]), database)
        assert.strictEqual(late?.status, 409, what)
        assert.lengthOf(askedOf(order), 1)
      }
    }))

  it.effect("refuses to retry a refund whose shipping or units were refunded otherwise", () =>
    Effect.gen(function*() {
      for (const part of ["shipping", "units"]) {
        const order = yield* given({ lines: [{}, {}], shipping: 300 })
        const body = part === "shipping" ? { shipping: true } : units(order, 1)
        obstacles.set(order.intentId ?? "", [refusal])
        for (const status of ["failed", "completed"]) {
          assert.strictEqual((yield* refund(order, body)).at("data.status"), status, part)
        }
        const [{ id } = { id: "" }] = yield* failuresOf(order)
        assert.match((yield* retry(id)).text("error.message"), /given back otherwise/, part)
      }
    }))

  it.effect("asks a silent provider again with the same key and refunds once", () =>
    Effect.gen(function*() {
      const order = yield* given()
      obstacles.set(order.intentId ?? "", [silence])
      const made = yield* refund(order, units(order, 1))
      assert.strictEqual(made.at("data.status"), "completed")
      const key = made.text("data.id")
      assert.deepStrictEqual(askedOf(order).map(([, , one]) => one), [key, key])
      assert.strictEqual((yield* read(order)).number("data.refundedTotal"), 1_000)
    }))

  /** A refund of both units; one whose provider is not configured waits for it and is not sent. */
  const aRefund = Effect.fnUntraced(function*(provider: string) {
    const order = yield* given({ lines: [{ quantity: 2 }], onHand: 10, provider })
    const made = yield* refund(order, units(order, 2))
    return { order, id: made.text("data.id"), status: made.text("data.status") }
  })
  const undo = (order: BuiltOrder, refundId: string) =>
    api("POST", `/api/orders/${order.id}/refunds/${refundId}/undo`, { as: asStaff })

  it.effect("undoes a refund once, with its units, worth and stock, which count as refunded until then", () =>
    Effect.gen(function*() {
      const { id, order, status } = yield* aRefund("gone")
      assert.strictEqual(status, "pending")
      refused(yield* refund(order, { amount: 1 }), 409, "CONFLICT")
      assert.deepInclude(yield* stockInApp(order), { reserved: 0 })
      const undone = yield* undo(order, id)
      assert.deepInclude(undone.at("data"), { status: "undone", undoneBy: "user-staff" }, JSON.stringify(undone.body))
      assert.deepInclude(yield* stockInApp(order), { onHand: 10, reserved: 2, hold: "sold" })
      assert.deepStrictEqual(yield* refundedOf(order), [0, 0])
      refused(yield* undo(order, id), 409, "CONFLICT")
    }))

  it.effect("refuses to undo a refund that was sent, because its money may have moved", () =>
    Effect.gen(function*() {
      const { id, order } = yield* aRefund("gone")
      yield* onDatabase((sql) => sql`update refunds set sent_at = now() where id = ${id}::uuid`)
      const late = yield* undo(order, id)
      refused(late, 409, "CONFLICT")
      assert.match(late.text("error.message"), /provider has been asked/)
      assert.deepStrictEqual(yield* refundedOf(order), [0, 2])
      assert.deepInclude(yield* stockInApp(order), { reserved: 0 })
    }))

  it.effect("refuses to undo a completed refund, and one of another order", () =>
    Effect.gen(function*() {
      const { id, order, status } = yield* aRefund("second")
      assert.strictEqual(status, "completed")
      refused(yield* undo(order, id), 409, "CONFLICT")
      refused(yield* undo(yield* given(), id), 404, "NOT_FOUND")
      assert.deepStrictEqual(yield* refundedOf(order), [order.grandTotal, 2])
    }))

  it.effect("refuses invalid refunds and changes nothing", () =>
    Effect.gen(function*() {
      const [order, uncaptured] = [yield* given({ lines: [{ quantity: 2 }] }), yield* given({ captured: null })]
      const failures = "/api/admin/compensation-failures"
      const path = `/api/orders/${order.id}/refunds`
      const amounts: ReadonlyArray<object> = [
        { amount: 0 },
        { amount: 1.5 },
        { amount: 2_001 },
        { lines: [] },
        { lines: [{ lineItemId: newId(), quantity: 1 }] },
        units(order, 3),
        units(order, 0),
        units(order, 1, { amount: 1_001 }),
        { shipping: 1 },
        { shipping: true },
        { amount: 1, reason: "a\0b" }
      ]
      const wrong: ReadonlyArray<readonly [status: number, method: string, path: string, body?: object]> = [
        [404, "POST", `/api/orders/${newId()}/refund`, {}],
        [422, "GET", "/api/orders/refunds/cap"],
        [422, "GET", `${failures}?status=lost`],
        [404, "POST", `${failures}/${newId()}/retry`],
        [404, "POST", `${failures}/${newId()}/resolve`, {}],
        [409, "POST", `/api/orders/${uncaptured.id}/refunds`, {}],
        [409, "POST", `/api/orders/${uncaptured.id}/refunds`, units(uncaptured, 1)],
        ...amounts.map((body) => [422, "POST", path, body] as const)
      ]
      for (const [status, method, to, body] of wrong) {
        const answer = yield* api(method, to, { as: asAdmin, ...body && { body } })
        assert.strictEqual(answer.status, status, `${method} ${to} ${JSON.stringify(body)}`)
      }
      assert.deepStrictEqual([yield* refundedOf(order), askedOf(order)], [[0, 0], []])
    }))
})
