import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { giftCards } from "../../src/plugins/gift-cards/index.ts"
import { sampleRows } from "../../src/plugins/kit/testing/SampleRows.ts"
import { marketplace } from "../../src/plugins/marketplace/index.ts"
import { asVendor } from "../../src/plugins/marketplace/test/Calls.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { recording } from "../pricing/Statements.ts"
import { api, asAdmin, asCustomer, testAppLayer } from "../support/TestApp.ts"
import { most, readOf } from "./ListPlans.ts"
import { listRoutes, listRoutesOf } from "./ListRoutes.ts"
import { few, manyRows, uuid } from "./ManyRows.ts"

const plugins = [marketplace(), giftCards()]

const [customer, order] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"]

/** Values of the rows that are repeated. */
const samples = {
  marketplace_vendor_sub_orders: { orderId: order, subtotal: 2, commissionAmount: 1, payoutAmount: 1 },
  marketplace_disputes: { status: "resolved" },
  marketplace_vendor_reviews: { status: "published" },
  gift_cards: { purchaserId: customer, sourceOrderId: order, lastFour: "7777", currency: "USD", initialAmount: 1 }
}

/** Tables that lists show: the first rows belong to the vendor, the sub-order or the customer who asks, the others to others. */
const growing = {
  marketplace_vendors: {},
  marketplace_commission_rules: {},
  marketplace_vendor_sub_orders: { columns: { ...few("vendor_id"), order_id: uuid } },
  marketplace_vendor_entities: { columns: few("vendor_id") },
  marketplace_disputes: { columns: few("sub_order_id") },
  marketplace_return_requests: { columns: few("sub_order_id") },
  marketplace_vendor_reviews: { columns: few("vendor_id") },
  marketplace_adjustments: { columns: few("vendor_id") },
  marketplace_vendor_members: { columns: few("vendor_id") },
  marketplace_vendor_payouts: { columns: few("vendor_id") },
  marketplace_vendor_documents: { columns: few("vendor_id") },
  gift_cards: {
    columns: {
      ...few("purchaser_id"),
      ...few("source_order_id"),
      last_four: "case when n <= 1200 then t.last_four else lpad((n % 7000)::text, 4, '0') end"
    }
  }
}

/** A store with a row in each table of the plugins, many of them, and gives its vendor. */
const aMarket = (rows: number) =>
  onDatabase((sql) =>
    Effect.gen(function*() {
      const query = (text: string, values: ReadonlyArray<unknown> = []) =>
        Effect.runPromise(sql.unsafe<Record<string, unknown>>(text, [...values]))
      const made = yield* Effect.promise(() => sampleRows({ db: { query }, plugins }, "org_default", samples))
      yield* sql`insert into customers (id, organization_id, user_id) values (${customer}::uuid, 'org_default', 'buyer')`
      yield* sql`insert into orders (id, organization_id, order_number, status, currency, subtotal, tax_total,
          shipping_total, discount_total, grand_total, customer_id)
        values (${order}::uuid, 'org_default', 'ORD-1', 'pending', 'USD', 2, 0, 0, 0, 2, ${customer}::uuid)`
      yield* Effect.provideService(manyRows(rows, growing), SqlClient.SqlClient, sql)
      return made.get("marketplace_vendors") ?? ""
    })
  )

const requestsOf = (vendor: string) => {
  const [seller, buyer] = [asVendor(vendor), asCustomer("buyer")]
  const filters = {
    vendors: ["status=pending"],
    "sub-orders": ["status=pending", `vendorId=${vendor}`, `vendorId=${vendor}&status=pending`],
    "commission-rules": [],
    disputes: ["status=resolved"],
    returns: ["status=requested"],
    payouts: ["status=pending", `vendorId=${vendor}`]
  }
  const admin = [
    ...Object.entries(filters).flatMap(([path, queries]) => [path, ...queries.map((query) => `${path}?${query}`)]),
    ...["products", "members", "documents", "adjustments", "reviews"].map((what) => `vendors/${vendor}/${what}`)
  ]
  const own = ["orders", "orders?status=pending", "products", "members", "documents", "returns", "reviews", "payouts"]
  const cards = ["", "?currency=USD", "?lastFour=7777", `?purchaserId=${customer}`, `?sourceOrderId=${order}`]
  return [
    ...admin.map((path) => [`/api/marketplace/${path}`, asAdmin] as const),
    ...own.map((path) => [`/api/marketplace/vendor/me/${path}`, seller] as const),
    ...["disputes", "returns"].flatMap((path) =>
      [buyer, seller].map((as) => [`/api/marketplace/${path}`, as] as const)
    ),
    ...cards.map((query) => [`/api/gift-cards${query}`, asAdmin] as const),
    ["/api/me/gift-cards", buyer] as const
  ]
}

const app = testAppLayer({ plugins, jobs: { autorun: { enabled: false } } }).pipe(Layer.provide(recording))

layer(app, { excludeTestServices: true, timeout: "1 hour" })("lists of plugins", (it) => {
  it.effect(
    "read a bounded number of rows for their first and their fiftieth page, their totals, and any page by a cursor",
    () =>
      Effect.gen(function*() {
        const vendor = yield* aMarket(Number(process.env["STOA_LIST_ROWS"] ?? 20_000))
        const core = new Set(listRoutes.map(({ path }) => path))
        const routes = listRoutesOf((yield* api("GET", "/api/doc")).body).filter(({ path }) => !core.has(path))
        const long = new Set<string>()
        const tooMuch: Array<string> = []
        for (const [path, as] of requestsOf(vendor)) {
          const { isLong, lines } = yield* readOf(path, as)
          if (isLong) routes.filter(({ matches }) => matches(path)).forEach((route) => long.add(route.path))
          tooMuch.push(...lines.flatMap(([sum, line]) => sum > most ? [line] : []))
        }
        assert.deepStrictEqual(tooMuch, [])
        const unseen = routes.map(({ path }) => path).filter((path) => !long.has(path))
        assert.deepStrictEqual(unseen, [], "A list that grows needs rows and a request.")
      }),
    3_600_000
  )
})
