import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import {
  aForeignProduct,
  assertAddsUp,
  elsewhere,
  holding,
  onDatabase,
  openElsewhere,
  refused,
  stockOf
} from "../checkout/CheckoutFixtures.ts"
import { waiting } from "../support/AtOnce.ts"
import { aProduct, aWarehouse, type ProductOptions } from "../support/Purchase.ts"
import { sharedClient } from "../support/SharedClients.ts"
import { api, asAdmin, at, live, TestApp, testAppLayer } from "../support/TestApp.ts"
import { drawer, register } from "./RegisterPlugin.ts"

const shop = layer(
  testAppLayer({ plugins: [register], shipping: { type: "flat", flatRate: 490 } }, { logLevel: "none" }),
  live
)

const sell = (body: object, as: typeof asAdmin = asAdmin) => api("POST", "/api/register/sales", { as, body })

/** A new product, and the sale of one unit for 10.00 in cash. */
const aSale = Effect.fnUntraced(function*(id: string, options: ProductOptions = {}) {
  const entityId = yield* aProduct({ price: 1_000, stock: 5, ...options })
  const lines = (...quantities: ReadonlyArray<number>) => quantities.map((quantity) => ({ entityId, quantity }))
  const sale = { id, warehouseId: yield* aWarehouse(), lines: lines(1), cash: 1_000 }
  return {
    entityId,
    lines,
    sale,
    priced: (unitPrice: number) => ({ entityId, quantity: 1, isCustomPrice: true, unitPrice })
  }
})

/** How many of everything there are that a sale writes. */
const rows = onDatabase((sql) =>
  Effect.map(
    sql`select (select count(*)::int4 from orders) as orders, (select count(*)::int4 from register_sales) as sales,
      (select count(*)::int4 from stock_movements where type = 'sale') as movements,
      (select count(*)::int4 from holds) as holds, (select sum(used_count)::int4 from promotions) as uses,
      (select count(*)::int4 from outbox_events where entity_type = 'order') as events`,
    ([row]) => row ?? {}
  )
)

/** What the event that created an order says. */
const createdAs = (orderId: string) =>
  onDatabase((sql) =>
    Effect.map(
      sql`select payload from outbox_events where type = 'orders.create' and entity_id = ${orderId}`,
      ([row]) => row?.["payload"]
    )
  )

shop("an order of goods that have left", (it) => {
  it.effect("is paid, confirmed and fulfilled together with its stock", () =>
    Effect.gen(function*() {
      const { entityId, lines, sale } = yield* aSale("paid")
      const order = yield* sell({ ...sale, lines: lines(2), cash: 1_500, card: 500 })
      assert.strictEqual(order.status, 201, JSON.stringify(order.body))
      assertAddsUp(order)
      assert.deepStrictEqual(
        ["status", "grandTotal", "shippingTotal", "amountCaptured", "amountDue", "metadata.channel"].map((field) =>
          order.at(`data.${field}`)
        ),
        ["fulfilled", 2_000, 0, 2_000, 0, "register"]
      )
      assert.deepStrictEqual(
        order.list("data.tenders").map((_, n) =>
          ["label", "captured", "status"].map((field) => order.at(`data.tenders.${n}.${field}`))
        ),
        [["Card", 500, "captured"], ["Cash", 1_500, "captured"]]
      )
      assert.strictEqual(order.at("data.lineItems.0.fulfillmentStatus"), "fulfilled")
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 3, reserved: 0 })
      const slips = onDatabase((sql) => sql`select status from register_slips where source = 'hook'`)
      assert.deepStrictEqual(yield* slips, [{ status: "fulfilled" }])
    }))

  it.effect("moves no stock of goods that are not counted", () =>
    Effect.gen(function*() {
      const { entityId, sale } = yield* aSale("lesson", { type: "course" })
      const order = yield* sell(sale)
      assert.deepStrictEqual([order.status, order.at("data.status")], [201, "fulfilled"], JSON.stringify(order.body))
      const moved = yield* api("GET", `/api/inventory/levels?entityId=${entityId}`, { as: asAdmin })
      assert.deepStrictEqual(moved.at("data"), [])
    }))

  it.effect("is created once for its reference, by calls at once too", () =>
    Effect.gen(function*() {
      const { entityId, lines, sale } = yield* aSale("once")
      const before = yield* rows
      const answers = yield* Effect.all(Array.from({ length: 4 }, () => sell(sale)), { concurrency: 4 })
      answers.push(yield* sell(sale))
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
      assert.strictEqual(new Set(answers.map((answer) => answer.at("data.id"))).size, 1)
      const after = yield* rows
      const grown = ["orders", "sales", "movements"].map((name) => Number(at(after, name)) - Number(at(before, name)))
      assert.deepStrictEqual(grown, [1, 1, 1])
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 4, reserved: 0 })
      const twice = { ...sale, id: "two-lines", lines: lines(1, 2), cash: 3_000 }
      const [first, again] = [yield* sell(twice), yield* sell(twice)]
      assert.deepStrictEqual([first.status, again.status], [201, 201], JSON.stringify(again.body))
      assert.strictEqual(again.at("data.id"), first.at("data.id"))
    }))

  it.effect("is refused under the reference of a sale that was another one in anything", () =>
    Effect.gen(function*() {
      const { lines, priced, sale } = yield* aSale("other")
      const first = { ...sale, lines: [priced(400), priced(600)] }
      const made = yield* sell(first)
      const others = [
        { lines: [priced(500), priced(500)] },
        { lines: lines(2), cash: 2_000 },
        { lines: lines(1) },
        { cash: 600, card: 400 },
        { email: "ann@example.com" }
      ]
      for (const other of others) refused(yield* sell({ ...first, ...other }), 409, "CONFLICT", JSON.stringify(other))
      assert.strictEqual((yield* sell(first)).at("data.id"), made.at("data.id"))
      // Of different ones at once one is created.
      const race = yield* Effect.all(
        [400, 500].map((price) => sell({ ...sale, id: "race", lines: [priced(price), priced(1_000 - price)] })),
        {
          concurrency: "unbounded"
        }
      )
      assert.deepStrictEqual(race.map(({ status }) => status).toSorted(), [201, 409])
    }))

  it.effect("leaves nothing when what is written beside it fails", () =>
    Effect.gen(function*() {
      const { entityId, sale } = yield* aSale("stuck")
      const before = yield* rows
      refused(yield* sell({ ...sale, then: "fail" }), 409, "CONFLICT")
      assert.deepStrictEqual(yield* rows, before)
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 5, reserved: 0 })
      assert.strictEqual((yield* sell(sale)).status, 201)
    }))

  it.effect("leaves nothing when the database stops at any of its statements", () =>
    Effect.gen(function*() {
      const { entityId, sale } = yield* aSale("halfway")
      yield* api("POST", "/api/promotions", {
        as: asAdmin,
        body: { name: "Till", code: "TILL", type: "percentage_off_order", value: 10 }
      })
      const body = { ...sale, codes: ["TILL"], cash: 900 }
      yield* onDatabase((sql) =>
        sql`create function stop() returns trigger language plpgsql as $$ begin raise 'stopped'; end $$`
      )
      const before = yield* rows
      const steps = [
        "insert on holds",
        "insert on stock_postings",
        "update on stock_levels",
        "insert on stock_movements",
        "insert on orders",
        "insert on order_lines",
        "insert on promotion_usages",
        "insert on order_tenders",
        "update on order_tenders",
        "insert on order_status_history",
        "update on orders",
        "update on holds",
        "insert on register_sales"
      ]
      for (const step of steps) {
        const stopping = `create trigger stop after ${step} for each row execute function stop()`
        yield* onDatabase((sql) => sql`${sql.literal(stopping)}`)
        refused(yield* sell(body), 500, "INTERNAL_ERROR", step)
        yield* onDatabase((sql) => sql`drop trigger stop on ${sql.literal(step.split(" ")[2] ?? "")}`)
        assert.deepStrictEqual(yield* rows, before, step)
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 5, reserved: 0 }, step)
      }
      assert.strictEqual((yield* sell(body)).at("data.grandTotal"), 900)
    }))

  it.effect("may leave less than nothing in stock, and says so, in its event too", () =>
    Effect.gen(function*() {
      const { entityId, lines, sale } = yield* aSale("short", { stock: 1 })
      const order = yield* sell({ ...sale, lines: lines(3), cash: 3_000 })
      assert.deepStrictEqual([order.status, order.at("data.metadata.oversold")], [201, true])
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: -2, reserved: 0 })
      const event = yield* createdAs(order.text("data.id"))
      assert.deepStrictEqual(
        ["metadata.oversold", "paymentIntentId", "paymentMethodId"].map((field) => at(event, field)),
        [true, "short", "cash"]
      )
      assert.deepStrictEqual(at(event, "metadata"), order.at("data.metadata"))
    }))

  it.effect("is refunded through its providers, with its units back in stock, up to what was paid", () =>
    Effect.gen(function*() {
      const { entityId, lines, sale } = yield* aSale("back", { stock: 1 })
      const order = yield* sell({ ...sale, lines: lines(3), cash: 3_000 })
      const refund = (quantity: number) =>
        api("POST", `/api/orders/${order.text("data.id")}/refunds`, {
          as: asAdmin,
          body: { lines: [{ lineItemId: order.text("data.lineItems.0.id"), quantity }], restock: true }
        })
      const first = yield* refund(1)
      assert.deepStrictEqual([first.status, first.at("data.status")], [201, "completed"], JSON.stringify(first.body))
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: -1, reserved: 0 })
      const rest = yield* refund(2)
      assert.strictEqual(rest.at("data.tenders.0.method"), "cash")
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 1, reserved: 0 })
      assert.deepStrictEqual(drawer, [["back", 1_000], ["back", 2_000]])
      refused(yield* refund(1), 422, "VALIDATION_FAILED")
      const read = yield* api("GET", `/api/orders/${order.text("data.id")}`, { as: asAdmin })
      assert.deepStrictEqual(
        ["status", "refundedTotal", "tenders.0.refunded"].map((field) => read.at(`data.${field}`)),
        ["refunded", 3_000, 3_000]
      )
    }))

  it.effect("is refused when its payments are not its total, and given prices need orders:manage", () =>
    Effect.gen(function*() {
      const { priced, sale } = yield* aSale("refused")
      refused(yield* sell({ ...sale, cash: 999 }), 422, "VALIDATION_FAILED")
      const cheaper = { ...sale, lines: [priced(999)], cash: 999 }
      refused(yield* sell(cheaper, holding("orders:create")), 403, "FORBIDDEN")
      refused(yield* sell(sale, holding("orders:read")), 403, "FORBIDDEN")
      assert.strictEqual((yield* sell(cheaper)).at("data.grandTotal"), 999)
    }))

  it.effect("takes whole amounts from 0 on, and no payment for what is free", () =>
    Effect.gen(function*() {
      const { priced, sale } = yield* aSale("amounts")
      const faults = [
        [{ cash: -500, card: 1_500 }, "tenders.1.amount"],
        [{ cash: 500.5, card: 499.5 }, "tenders.0.amount"],
        [{ shipping: -10, cash: 990 }, "shippingTotal"],
        [{ lines: [], cash: 0 }, "lineItems"]
      ] as const
      for (const [fault, path] of faults) {
        const answer = yield* sell({ ...sale, ...fault })
        refused(answer, 422, "VALIDATION_FAILED", JSON.stringify(fault))
        assert.strictEqual(answer.at("error.details.issues.0.path"), path)
      }
      const free = { ...sale, lines: [priced(0)], cash: 0 }
      const order = yield* sell(free)
      assert.deepStrictEqual([order.status, order.at("data.tenders"), order.at("data.amountDue")], [201, [], 0])
      assert.strictEqual((yield* sell(free)).at("data.id"), order.at("data.id"))
    }))

  it.effect("is of its organization: goods, warehouses and references of another one are not its", () =>
    Effect.gen(function*() {
      const { entityId, sale } = yield* aSale("ours")
      yield* openElsewhere
      const made = yield* api("POST", "/api/inventory/warehouses", { as: elsewhere, body: { name: "T", code: "T" } })
      const foreign = { entityId: yield* aForeignProduct("theirs"), quantity: 1, isCustomPrice: true, unitPrice: 1_000 }
      refused(yield* sell({ ...sale, warehouseId: made.text("data.id") }), 404, "NOT_FOUND")
      refused(yield* sell({ ...sale, lines: [foreign] }), 404, "NOT_FOUND")
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 5, reserved: 0 })
      const ours = yield* sell(sale)
      const theirs = yield* sell({ ...sale, lines: [foreign], warehouseId: made.text("data.id") }, elsewhere)
      assert.deepStrictEqual([ours.status, theirs.status], [201, 201], JSON.stringify(theirs.body))
      assert.notStrictEqual(theirs.at("data.id"), ours.at("data.id"))
    }))

  it.effect("locks its stock before its promotions, as a cancellation does", () =>
    Effect.gen(function*() {
      const { entityId, sale } = yield* aSale("locks")
      const promotion = yield* api("POST", "/api/promotions", {
        as: asAdmin,
        body: { name: "Locks", code: "LOCKS", type: "percentage_off_order", value: 10 }
      })
      const { databaseUrl } = yield* TestApp
      const selling = yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        return yield* sql.withTransaction(Effect.gen(function*() {
          yield* sql`select 1 from stock_items where sellable_id = ${entityId}::uuid for update`
          const selling = yield* Effect.forkDetach(sell({ ...sale, codes: ["LOCKS"], cash: 900 }))
          yield* waiting(1)
          yield* sql`select 1 from promotions where id = ${promotion.text("data.id")}::uuid for update nowait`
          return selling
        }))
      }).pipe(Effect.provide(sharedClient(databaseUrl)), Effect.orDie)
      assert.strictEqual((yield* Fiber.join(selling)).status, 201)
    }))
})
