import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { anOrganization } from "../support/Organizations.ts"
import { api, asAdmin, withSharedApp } from "../support/TestApp.ts"
import { anOrder, ask, rowsOf } from "./Questions.ts"

/** A store with three orders of January and one of March 2026, one of them cancelled. */
const aStoreWithOrders = Effect.gen(function*() {
  const as = yield* anOrganization
  const organizationId = as.organizationId
  const placed = (day: string, unitPrice: number, more: object = {}) =>
    anOrder({ organizationId, placedAt: new Date(`${day}T12:00:00Z`), lines: [{ unitPrice, quantity: 2 }], ...more })
  yield* placed("2026-01-01", 1_000, { status: "confirmed", orderNumber: "ORD-2026-000001" })
  yield* placed("2026-01-31", 2_000, { status: "confirmed", orderNumber: "ORD-2026-000002", shipping: 500 })
  yield* placed("2026-01-31", 3_000, { status: "cancelled", orderNumber: "ORD-2026-000003" })
  yield* placed("2026-03-15", 50, {
    status: "pending",
    orderNumber: "ORD-2026-000004",
    lines: [
      { unitPrice: 25, sku: "A_1", title: "Mug 50% off", fulfillmentStatus: "fulfilled" },
      { unitPrice: 26, quantity: 3, sku: "B-2", title: "Pen" }
    ]
  })
  return as
})

withSharedApp("analytics", (it) => {
  it.effect("answers with the query, its rows by member, and the model", () =>
    Effect.gen(function*() {
      const as = yield* aStoreWithOrders
      const query = {
        measures: ["Orders.count", "Orders.revenue", "Orders.averageOrderValue"],
        dimensions: ["Orders.status"],
        filters: [{ member: "Orders.status", operator: "notEquals", values: ["pending"] }],
        order: { "Orders.revenue": "desc" },
        limit: 10
      }
      const answer = yield* ask(query, as)
      assert.strictEqual(answer.status, 200)
      assert.deepStrictEqual(answer.at("data"), {
        query,
        rows: [
          {
            "Orders.status": "confirmed",
            "Orders.count": 2,
            "Orders.revenue": 6_500,
            "Orders.averageOrderValue": 3_250
          },
          {
            "Orders.status": "cancelled",
            "Orders.count": 1,
            "Orders.revenue": 6_000,
            "Orders.averageOrderValue": 6_000
          }
        ],
        source: "Orders"
      })
    }))

  it.effect("adds up every measure of every model", () =>
    Effect.gen(function*() {
      const as = yield* aStoreWithOrders
      const measures = [
        "count",
        "revenue",
        "averageOrderValue",
        "subtotalRevenue",
        "taxCollected",
        "shippingRevenue",
        "discountsGiven",
        "uniqueCustomers"
      ]
      assert.deepStrictEqual(yield* rowsOf({ measures: measures.map((name) => `Orders.${name}`) }, as), [{
        "Orders.count": 4,
        "Orders.revenue": 12_603,
        // 12603 / 4 is 3150.75.
        "Orders.averageOrderValue": 3_151,
        "Orders.subtotalRevenue": 12_103,
        "Orders.taxCollected": 0,
        "Orders.shippingRevenue": 500,
        "Orders.discountsGiven": 0,
        "Orders.uniqueCustomers": 0
      }])
      const lines = ["count", "itemsSold", "lineItemRevenue", "averageUnitPrice"].map((name) =>
        `OrderLineItems.${name}`
      )
      assert.deepStrictEqual(
        yield* rowsOf({
          measures: lines,
          dimensions: ["OrderLineItems.sku", "Orders.status"],
          timeDimensions: [{ dimension: "Orders.placedAt", dateRange: ["2026-03-01", "2026-03-31"] }]
        }, as),
        [
          ["A_1", 1, 1, 25, 25],
          ["B-2", 1, 3, 78, 26]
        ].map(([sku, count, sold, revenue, average]) => ({
          "OrderLineItems.sku": sku,
          "Orders.status": "pending",
          "OrderLineItems.count": count,
          "OrderLineItems.itemsSold": sold,
          "OrderLineItems.lineItemRevenue": revenue,
          "OrderLineItems.averageUnitPrice": average
        }))
      )
    }))

  it.effect("counts stock, what is low of it, and what it is worth", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const organizationId = as.organizationId
      const [order] = [yield* anOrder({ organizationId, lines: [{ quantity: 4 }, { quantity: 1 }], onHand: 10 })]
      yield* onDatabase((sql) =>
        sql`update stock_levels set reorder_threshold = 6, unit_cost = case when reserved = 4 then 250 end,
            last_restocked_at = case when reserved = 4 then '2026-02-03T04:05:06Z'::timestamptz end
          where organization_id = ${organizationId}`
      )
      const measures = ["totalOnHand", "totalReserved", "totalAvailable", "inventoryValue", "lowStockCount"]
        .map((name) => `Inventory.${name}`)
      const whole = {
        "Inventory.totalOnHand": 20,
        "Inventory.totalReserved": 5,
        "Inventory.totalAvailable": 15,
        "Inventory.inventoryValue": 2_500,
        "Inventory.lowStockCount": 1
      }
      assert.deepStrictEqual(yield* rowsOf({ measures }, as), [whole])
      const low = yield* rowsOf({
        measures: ["Inventory.totalAvailable"],
        dimensions: ["Inventory.entityId", "Inventory.warehouseId"],
        timeDimensions: [{ dimension: "Inventory.lastRestockedAt", granularity: "day" }],
        segments: ["Inventory.lowStock"]
      }, as)
      assert.deepStrictEqual(low, [{
        "Inventory.entityId": order.lines[0]?.entityId,
        "Inventory.warehouseId": order.warehouseId,
        "Inventory.lastRestockedAt": "2026-02-03",
        "Inventory.totalAvailable": 6
      }])
    }))

  it.effect("counts customers, and those who came again", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const organizationId = as.organizationId
      const person = Effect.fnUntraced(function*(orders: number, customerGroup?: string) {
        const made = yield* api("POST", "/api/customers", { as, body: { metadata: { customerGroup } } })
        const customerId = made.text("data.id")
        for (let n = 0; n < orders; n++) yield* anOrder({ organizationId, customerId })
      })
      yield* person(0, "b2b")
      yield* person(1)
      yield* person(2, "b2b")
      yield* person(3)
      const measures = ["customerCount", "newCustomers", "returningCustomers"].map((name) => `Customers.${name}`)
      const row = (group: string | null, [all, returning]: readonly [number, number]) => ({
        "Customers.customerGroup": group,
        "Customers.customerCount": all,
        "Customers.newCustomers": all,
        "Customers.returningCustomers": returning
      })
      const dimensions = ["Customers.customerGroup"]
      assert.deepStrictEqual(yield* rowsOf({ measures, dimensions }, as), [row("b2b", [2, 1]), row(null, [2, 1])])
      assert.deepStrictEqual(
        yield* rowsOf({
          measures,
          dimensions,
          segments: ["Customers.returning"],
          timeDimensions: [{ dimension: "Customers.createdAt", dateRange: "today" }]
        }, as),
        [row("b2b", [1, 1]), row(null, [1, 1])]
      )
      const revenue = yield* rowsOf({ measures: ["Orders.uniqueCustomers"] }, as)
      assert.deepStrictEqual(revenue, [{ "Orders.uniqueCustomers": 3 }])
    }))

  it.effect("puts times into buckets with labels, in UTC", () =>
    Effect.gen(function*() {
      const as = yield* aStoreWithOrders
      const labels = Effect.fnUntraced(function*(granularity: string) {
        const rows = yield* rowsOf({
          measures: ["Orders.count"],
          timeDimensions: [{ dimension: "Orders.placedAt", granularity }]
        }, as)
        return rows.map((row) => Object.values(Object(row)))
      })
      assert.deepStrictEqual(yield* labels("day"), [["2026-01-01", 1], ["2026-01-31", 2], ["2026-03-15", 1]])
      assert.deepStrictEqual(yield* labels("week"), [["2026-W01", 1], ["2026-W05", 2], ["2026-W11", 1]])
      assert.deepStrictEqual(yield* labels("month"), [["2026-01", 3], ["2026-03", 1]])
      assert.deepStrictEqual(yield* labels("year"), [["2026", 4]])
      yield* anOrder({ organizationId: as.organizationId, placedAt: new Date("2025-12-31T23:30:00-01:00") })
      assert.deepStrictEqual(yield* labels("year"), [["2026", 5]])
      const times = yield* rowsOf({ measures: ["Orders.count"], dimensions: ["Orders.placedAt"], limit: 1 }, as)
      assert.deepStrictEqual(times, [{ "Orders.placedAt": "2026-01-01T00:30:00.000Z", "Orders.count": 1 }])
    }))

  it.effect("counts local days and hours, the hour that comes twice as two", () =>
    Effect.gen(function*() {
      const as = yield* aStoreWithOrders
      const placed = ["2026-10-24T22:30Z", "2026-10-25T00:30Z", "2026-10-25T01:30Z", "2026-10-25T22:30Z"]
      for (const at of placed) yield* anOrder({ organizationId: as.organizationId, placedAt: new Date(at) })
      const counted = Effect.fnUntraced(function*(granularity: string, timezone?: string) {
        const rows = yield* rowsOf({
          measures: ["Orders.count"],
          timeDimensions: [{ dimension: "Orders.placedAt", granularity, dateRange: ["2026-10-25", "2026-10-25"] }],
          ...(timezone && { timezone })
        }, as)
        return rows.map((row) => Object.values(Object(row)))
      })
      assert.deepStrictEqual(yield* counted("day", "Europe/Zurich"), [["2026-10-25", 4]])
      assert.deepStrictEqual(yield* counted("hour", "Europe/Zurich"), [
        ["2026-10-25T00:00+02:00", 1],
        ["2026-10-25T02:00+02:00", 1],
        ["2026-10-25T02:00+01:00", 1],
        ["2026-10-25T23:00+01:00", 1]
      ])
      assert.deepStrictEqual(yield* counted("hour", "Asia/Kolkata"), [
        ["2026-10-25T04:00+05:30", 1],
        ["2026-10-25T06:00+05:30", 1],
        ["2026-10-25T07:00+05:30", 1]
      ])
      assert.deepStrictEqual(yield* counted("hour"), [
        ["2026-10-25T00:00+00:00", 1],
        ["2026-10-25T01:00+00:00", 1],
        ["2026-10-25T22:00+00:00", 1]
      ])
    }))

  it.effect("analytics takes a range of days with its last one, a range of times without its end", () =>
    Effect.gen(function*() {
      const as = yield* aStoreWithOrders
      const countIn = (dateRange: unknown) =>
        Effect.map(
          rowsOf({ measures: ["Orders.count"], timeDimensions: [{ dimension: "Orders.placedAt", dateRange }] }, as),
          ([row]) => Object(row)["Orders.count"]
        )
      assert.strictEqual(yield* countIn(["2026-01-01", "2026-01-31"]), 3)
      assert.strictEqual(yield* countIn(["2026-01-01", "2026-01-30"]), 1)
      assert.strictEqual(yield* countIn(["2026-01-01T12:00:00Z", "2026-01-31T12:00:00Z"]), 1)
      assert.strictEqual(yield* countIn(["2026-01-01T12:00:00.001Z", "2026-01-31T12:00:00.001Z"]), 2)
      assert.strictEqual(yield* countIn(["2026-01-01T13:00:00+01:00", "2026-01-01T12:00:01"]), 1)
      assert.strictEqual(yield* countIn("Q1 2026"), 4)
      assert.strictEqual(yield* countIn("q2  2026"), 0)
      assert.strictEqual(yield* countIn("All Time"), 4)
      yield* anOrder({ organizationId: as.organizationId, placedAt: new Date() })
      for (const preset of ["today", "this week", "this month", "last 7 days", "last 6 months", "last 1 year"]) {
        assert.isAtLeast(Number(yield* countIn(preset)), 1, preset)
      }
    }))

  it.effect("analytics applies every operator", () =>
    Effect.gen(function*() {
      const as = yield* aStoreWithOrders
      const numbers = Effect.fnUntraced(function*(...filters: ReadonlyArray<unknown>) {
        const rows = yield* rowsOf({ measures: ["Orders.revenue"], dimensions: ["Orders.orderNumber"], filters }, as)
        return rows.map((row) => String(Object(row)["Orders.orderNumber"]).slice(-1)).join("")
      })
      const by = (member: string, operator: string, ...values: ReadonlyArray<unknown>) => ({
        member: `Orders.${member}`,
        operator,
        ...(values.length > 0 && { values })
      })
      assert.strictEqual(yield* numbers(by("status", "equals", "pending", "cancelled")), "34")
      assert.strictEqual(yield* numbers(by("status", "notEquals", "pending", "cancelled")), "12")
      assert.strictEqual(yield* numbers(by("status", "in", "pending", "cancelled")), "34")
      assert.strictEqual(yield* numbers(by("status", "notIn", "pending")), "123")
      assert.strictEqual(yield* numbers(by("status", "contains", "ENDI", "cell")), "34")
      assert.strictEqual(yield* numbers(by("orderNumber", "contains", "%")), "")
      assert.strictEqual(yield* numbers(by("placedAt", "equals", "2026-01-31T12:00:00Z")), "23")
      assert.strictEqual(yield* numbers(by("placedAt", "notEquals", "2026-01-31T12:00:00Z")), "14")
      assert.strictEqual(yield* numbers(by("placedAt", "beforeDate", "2026-01-31T12:00:00Z")), "123")
      assert.strictEqual(yield* numbers(by("placedAt", "afterDate", "2026-01-31T12:00:00Z")), "234")
      assert.strictEqual(yield* numbers(by("placedAt", "inDateRange", "2026-01-31", "2026-01-31")), "23")
      assert.strictEqual(
        yield* numbers(by("placedAt", "inDateRange", "2026-01-01T12:00:00Z", "2026-01-31T12:00:00Z")),
        "123"
      )
      assert.strictEqual(yield* numbers(by("status", "set")), "1234")
      assert.strictEqual(yield* numbers(by("status", "notSet")), "")
      // Orders have no dimension that is a number; the groups are tested by their measures.
      assert.strictEqual(yield* numbers(by("revenue", "gt", 4_500)), "3")
      assert.strictEqual(yield* numbers(by("revenue", "gte", "4500")), "23")
      assert.strictEqual(yield* numbers(by("revenue", "lt", 2_000)), "4")
      assert.strictEqual(yield* numbers(by("count", "lte", 1)), "1234")
      assert.strictEqual(yield* numbers(by("revenue", "in", 103, 2_000)), "14")
      assert.strictEqual(
        yield* numbers({
          or: [by("status", "equals", "pending"), { and: [by("status", "equals", "confirmed"), by("id", "set")] }]
        }),
        "124"
      )
      assert.strictEqual(
        yield* numbers({ and: [by("status", "equals", "confirmed"), by("revenue", "gt", 2_000)] }),
        "2"
      )
    }))

  it.effect("analytics has one row of zeros for nothing, and none by groups", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const measures = ["Orders.count", "Orders.revenue", "Orders.averageOrderValue", "Orders.uniqueCustomers"]
      const zeros = Object.fromEntries(measures.map((measure) => [measure, 0]))
      assert.deepStrictEqual(yield* rowsOf({ measures }, as), [zeros])
      assert.deepStrictEqual(yield* rowsOf({ measures, dimensions: ["Orders.status"] }, as), [])
    }))

  it.effect("orders and limits: 100 rows where none are named, 1 to 1000 of them", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      yield* onDatabase((sql) =>
        sql`insert into orders (id, organization_id, order_number, status, currency, subtotal, tax_total, shipping_total,
            discount_total, grand_total, amount_captured)
          select gen_random_uuid(), ${as.organizationId}, 'N-' || lpad(n::text, 4, '0'), 'pending', 'USD', n % 3, 0, 0, 0,
            n % 3, n % 3 from generate_series(1, 1100) n`
      )
      const query = { measures: ["Orders.revenue"], dimensions: ["Orders.orderNumber"] }
      const sizes = yield* Effect.forEach([undefined, 0, -5, 2.9, 1000, 5000], (limit) =>
        Effect.map(rowsOf({ ...query, limit }, as), (rows) => rows.length))
      assert.deepStrictEqual(sizes, [100, 1, 1, 2, 1000, 1000])
      const order = { "Orders.revenue": "desc", "Orders.orderNumber": "desc" }
      const rows = yield* rowsOf({ ...query, order, limit: 2 }, as)
      assert.deepStrictEqual(
        rows.map((row) =>
          Object.values(Object(row))
        ),
        [["N-1100", 2], ["N-1097", 2]]
      )
      const usual = yield* rowsOf({ ...query, limit: 1 }, as)
      assert.deepStrictEqual(usual, [{ "Orders.orderNumber": "N-0001", "Orders.revenue": 1 }])
    }))

  it.effect("tells of a sum that is no exact number any more, and never rounds it", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const most = Number.MAX_SAFE_INTEGER
      yield* anOrder({ organizationId: as.organizationId, lines: [{ unitPrice: most }], intentId: null })
      assert.deepStrictEqual(yield* rowsOf({ measures: ["Orders.revenue"] }, as), [{ "Orders.revenue": most }])
      yield* anOrder({ organizationId: as.organizationId, lines: [{ unitPrice: most }], intentId: null })
      const answer = yield* ask({ measures: ["Orders.revenue"] }, as)
      refused(answer, 422, "VALIDATION_FAILED")
      assert.match(answer.text("error.message"), /too large for a number: Orders\.revenue/)
    }))

  it.effect("lists the models of the core with their members", () =>
    Effect.gen(function*() {
      const meta = yield* api("GET", "/api/analytics/meta", { as: asAdmin })
      assert.strictEqual(meta.status, 200)
      const models = meta.list("data.models").map((model) => Object(model))
      const names = ["Orders", "OrderLineItems", "Tenders", "Returns", "Inventory", "StockMovements", "Customers"]
      assert.sameMembers(models.map(({ name }) => name), names)
      assert.isTrue(models.every(({ source }) => source === "builtin"))
      for (const kind of ["measures", "dimensions", "segments"]) {
        assert.deepStrictEqual(meta.at(`data.${kind}`), models.flatMap((model) => model[kind]))
      }
      assert.deepStrictEqual(
        meta.at("data.segments"),
        ["Inventory.lowStock", "Customers.returning"].toSorted((a, b) =>
          models.findIndex(({ name }) => a.startsWith(name)) - models.findIndex(({ name }) => b.startsWith(name))
        )
      )
      const orders = models.find(({ name }) => name === "Orders")
      assert.deepStrictEqual(
        orders.dimensions,
        ["id", "orderNumber", "status", "currency", "placedAt"].map((name) => `Orders.${name}`)
      )
    }))
})
