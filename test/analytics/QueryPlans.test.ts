import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AnalyticsQuery } from "../../src/domain/analytics/AnalyticsQuery.ts"
import { AnalyticsRepo, AnalyticsSettings, defaultAnalytics } from "../../src/domain/analytics/AnalyticsRepo.ts"
import { planOf } from "../../src/domain/analytics/QueryPlan.ts"
import { analyticsModels as ofCustomers } from "../../src/domain/customers/analytics.ts"
import { analyticsModels as ofInventory } from "../../src/domain/inventory/analytics.ts"
import { analyticsModels as ofOrders } from "../../src/domain/orders/analytics.ts"
import { CustomerId } from "../../src/domain/platform/ids/Id.ts"
import { rulesFor } from "../../src/domain/platform/modules/AnalyticsModel.ts"
import { plansOf } from "../pricing/Statements.ts"
import { TestDatabase } from "../support/Postgres.ts"

/** A store with 20,000 orders among 200 small ones: 100,000 lines, four of each order. */
const seedMany = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`set session_replication_role = replica`
  yield* sql`insert into orders (id, organization_id, order_number, customer_id, status, currency, subtotal, tax_total,
      shipping_total, discount_total, grand_total, placed_at)
    select md5('o' || n)::uuid, case when n % 5 = 0 then 'org_' || n % 200 else 'org_default' end, 'N-' || n,
      md5('c' || n % 1000)::uuid, 'confirmed', 'USD', 100, 0, 0, 0, 100,
      timestamptz '2026-12-31' - n * interval '1 hour'
    from generate_series(1, 25000) n`
  yield* sql`insert into order_lines (id, organization_id, order_id, position, entity_id, entity_type, title, quantity,
      unit_price, total_price)
    select md5('l' || n || '-' || p)::uuid, case when n % 5 = 0 then 'org_' || n % 200 else 'org_default' end,
      md5('o' || n)::uuid, p, md5('e' || p)::uuid, 'product', 'Thing', 1, 25, 25
    from generate_series(1, 25000) n, generate_series(1, 4) p`
  yield* sql`insert into customers (id, organization_id) select md5('c' || n)::uuid, 'org_default'
    from generate_series(1, 1000) n`
  yield* sql`insert into stock_levels (id, organization_id, sellable_id, warehouse_id, entity_id)
    select md5('s' || n)::uuid, 'org_' || n % 200, md5('s' || n)::uuid, md5('w')::uuid, md5('s' || n)::uuid
    from generate_series(1, 10000) n`
  yield* sql`analyze orders, order_lines, customers, stock_levels`
})

const layers = AnalyticsRepo.layer.pipe(
  Layer.provideMerge(Layer.merge(TestDatabase, AnalyticsSettings.layerOf(defaultAnalytics)))
)

const models = [...ofOrders(), ...ofInventory(), ...ofCustomers()]

const zone = DateTime.zoneMakeNamedUnsafe("Europe/Zurich")

/** The plan of the one statement that answers a query. */
const planFor = Effect.fnUntraced(function*(query: AnalyticsQuery, organizationId: string, customerId?: CustomerId) {
  const plan = yield* Effect.fromResult(planOf(query, models, { now: new Date("2026-12-20T10:00:00Z"), zone }))
  const rules = customerId === undefined ? [] : rulesFor(plan.model, { _tag: "Customer" }) ?? []
  const reach = { organizationId, rules, vendorId: null, customerId: customerId ?? null }
  const [first = "", ...others] = yield* plansOf((yield* AnalyticsRepo).rows(plan, reach))
  assert.deepStrictEqual(others, [])
  return first
})

const byMonth = (dateRange?: string) => ({
  timeDimensions: [{ dimension: "Orders.placedAt", granularity: "month", ...(dateRange && { dateRange }) }]
})

it.layer(layers, { excludeTestServices: true, timeout: "60 seconds" })("among 100,000 lines of orders", (it) => {
  it.effect("a query is one statement that reads what it asks for by indexes", () =>
    Effect.gen(function*() {
      yield* seedMany
      const revenue = { measures: ["Orders.revenue"], ...byMonth("last 2 months") }
      assert.match(yield* planFor(revenue, "org_default"), /Index .*Scan (using|on) orders_placed/)

      const lines = { measures: ["OrderLineItems.lineItemRevenue"], ...byMonth("last week") }
      const recent = yield* planFor(lines, "org_default")
      assert.match(recent, /Index .*Scan (using|on) orders_placed/)
      assert.match(recent, /Index Scan using order_lines_order_id_position_key/)

      const small = yield* planFor({ measures: ["OrderLineItems.itemsSold"] }, "org_15")
      assert.match(small, /Index Scan using order_lines_order_id_position_key/)
      assert.notMatch(small, /Seq Scan/)

      const own = yield* planFor(
        { measures: ["OrderLineItems.itemsSold"] },
        "org_default",
        CustomerId.make(crypto.randomUUID())
      )
      assert.match(own, /Index .*Scan (using|on) orders_customer/)
      assert.notMatch(own, /Seq Scan/)

      const again = yield* planFor({ measures: ["Customers.returningCustomers"] }, "org_default")
      assert.match(again, /Index Only Scan using orders_customer/)

      const stock = yield* planFor({ measures: ["Inventory.totalOnHand"] }, "org_15")
      assert.notMatch(stock, /Seq Scan/)
    }))
})
