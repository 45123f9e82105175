import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CustomerOrders } from "../../src/domain/orders/CustomerOrders.ts"
import { OrderRecords } from "../../src/domain/orders/OrderRecords.ts"
import { OrderRecordsRepo } from "../../src/domain/orders/OrderRecordsRepo.ts"
import { type OrderFilter, OrderRepo } from "../../src/domain/orders/OrderRepo.ts"
import { UnpaidOrderRepo } from "../../src/domain/orders/UnpaidOrderRepo.ts"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { newId, OrderId } from "../../src/domain/platform/ids/Id.ts"
import { plansOf, statementsOf } from "../pricing/Statements.ts"
import { inBulk } from "../support/InBulk.ts"
import { buildOrder, manager } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"

/** 100,000 orders of two organizations, a fifth of them of 5,000 customers, a fifth of them with steps, events and mails. */
const many = Effect.andThen(
  inBulk(Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`insert into organizations (id, slug, name) values ('org_0', 'o0', 'O0'), ('org_1', 'o1', 'O1')`
    yield* sql`insert into customers (id, organization_id, email, first_name, last_name)
    select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'org_' || n % 2, 'who' || n || '@mail.test',
      'First' || n, 'Last' || n from generate_series(1, 5000) n`
    yield* sql`insert into order_counters (organization_id, year, last_number)
    values ('org_0', 2025, 100000), ('org_1', 2025, 100000)`
    yield* sql`insert into orders (id, organization_id, order_number, customer_id, email, status, currency, subtotal,
      tax_total, shipping_total, discount_total, grand_total, amount_captured, placed_at)
    select ('00000000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid, 'org_' || n % 2,
      'ORD-2025-' || lpad(n::text, 6, '0'),
      case when n % 5 = 0 then ('00000000-0000-7000-8000-' || lpad((n / 20 + 1)::text, 12, '0'))::uuid end,
      case when n % 5 > 0 then 'guest' || n || '@mail.test' end,
      case when n % 100 = 1 then 'pending' else 'fulfilled' end, 'USD', 100, 0, 0, 0, 100,
      case when n % 100 = 1 then null else 100 end, timestamptz '2025-01-01' + n * interval '1 minute'
    from generate_series(1, 100000) n`
    yield* sql`insert into order_lines (id, organization_id, order_id, position, entity_id, entity_type, title, quantity,
      unit_price, total_price)
    select gen_random_uuid(), organization_id, id, 0, gen_random_uuid(), 'product', 'Thing', 1, 100, 100 from orders
      where order_number like 'ORD-2025-%'`
    yield* sql`insert into order_status_history (id, organization_id, order_id, from_status, to_status, changed_at)
    select gen_random_uuid(), organization_id, id, 'pending', 'confirmed', placed_at from orders where placed_at < '2025-01-15'`
    yield* sql`insert into payment_events (organization_id, provider, event_id, type, order_id, received_at)
    select organization_id, 'test', id::text, 'payment_intent.succeeded', id, placed_at from orders where placed_at < '2025-01-15'`
    yield* sql`insert into order_mails (id, organization_id, order_id, template, outcome, at)
    select gen_random_uuid(), organization_id, id, 'order-confirmation', 'sent', placed_at from orders where placed_at < '2025-01-15'`
    for (
      const table of ["customers", "orders", "order_lines", "order_status_history", "payment_events", "order_mails"]
    ) {
      yield* sql`analyze ${sql(table)}`
    }
  })),
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`select orders_recount()`)
)

const inOrg = (organization: string) => Effect.provideService(CurrentActor, manager(organization))
const asOrg1 = inOrg("org_1")
const lookUp = (text: string) => asOrg1(Effect.flatMap(OrderRecords, ({ lookup }) => lookup(text)))

const list = (organization: string, filter: OrderFilter = {}, page = { page: 1, limit: 20 }) =>
  inOrg(organization)(Effect.flatMap(OrderRepo, (repo) => repo.list(filter, page)))

const find = (organization: string, idOrNumber: string) =>
  inOrg(organization)(Effect.flatMap(OrderRepo, (repo) => repo.find(idOrNumber)))

/** No table of any size is walked. */
const assertIndexed = (plan: string, why: string) =>
  assert.notMatch(
    plan,
    /Seq Scan on (orders|order_lines|customers|order_status_history|payment_events|order_mails)/,
    `${why}\n${plan}`
  )

const order = "00000000-0000-7000-9000-000000000501"

describe("reads of orders", () => {
  it.layer(
    Layer.mergeAll(
      OrderRecords.layer.pipe(
        Layer.provide(Layer.mock(CustomerOrders, {})),
        Layer.provideMerge(Layer.merge(OrderRecordsRepo.layer, OrderRepo.layer))
      ),
      UnpaidOrderRepo.layer
    ).pipe(Layer.provideMerge(TestDatabase)),
    { excludeTestServices: true, timeout: "60 seconds" }
  )((it) => {
    it.effect("finds an order with its lines in order, by id and by number", () =>
      Effect.gen(function*() {
        const lines = [{ title: "First", sku: "F-1" }, { title: "Second" }, { title: "Third" }]
        const built = yield* buildOrder({ organizationId: "org_mine", lines })
        const byId = yield* find("org_mine", built.id)
        assert.deepStrictEqual(byId, yield* find("org_mine", built.orderNumber))
        assert.deepStrictEqual(byId?.order.lineItems.map(({ title }) => title), ["First", "Second", "Third"])
        assert.deepStrictEqual([byId?.order.lineItems[0]?.sku, byId?.order.grandTotal], ["F-1", 3_000])
        for (const id of [newId(), "ORD-2020-x\0", "' or 1=1"]) assert.isUndefined(yield* find("org_mine", id))
      }))

    it.effect("lists newest first in pages without overlap", () =>
      Effect.gen(function*() {
        for (const n of [1, 2, 3, 4, 5]) {
          yield* buildOrder({ organizationId: "org_list", placedAt: new Date(Date.UTC(2026, 0, n)) })
        }
        const pages = yield* Effect.forEach([1, 2], (page) => list("org_list", {}, { page, limit: 2 }))
        const days = pages.flatMap(({ items }) => items.map((order) => order.placedAt.getUTCDate()))
        assert.deepStrictEqual([pages[0]?.total, ...days], [5, 5, 4, 3, 2])
        const late = { page: 9, limit: 2 }
        assert.deepInclude(yield* list("org_list", {}, late), { items: [], ...late, total: 5 })
      }))

    it.effect(
      "reads a page of 100,000 orders with their lines, all or in one status, in one statement from an index",
      () =>
        Effect.gen(function*() {
          yield* many
          const page = { page: 3, limit: 20 }
          const all = yield* list("org_1", {}, page)
          assert.strictEqual(all.total, 50_000)
          assert.isTrue(all.items.every((order) => order.lineItems.length === 1))
          const reads = [
            [list("org_1", {}, page), "orders_placed"],
            [list("org_1", { status: "pending" }), "orders_status"],
            [find("org_1", order), "orders_pkey"]
          ] as const
          for (const [read, index] of reads) {
            assert.strictEqual((yield* statementsOf<unknown, never, OrderRepo>(read)).length, 1, index)
            const [plan = ""] = yield* plansOf<unknown, never, OrderRepo>(read)
            assert.include(plan, index)
            assert.notMatch(plan, /Seq Scan on order_lines/, index)
          }
        })
    )

    it.effect(
      "looks orders up by number, digits, address and name: one statement each, from indexes alone",
      () =>
        Effect.gen(function*() {
          const asked: ReadonlyArray<readonly [text: string, found: ReadonlyArray<string>]> = [
            ["ord-2025-000501", ["ORD-2025-000501"]],
            ["501", ["ORD-2025-000501"]],
            ["GUEST501@MAIL.TEST", ["ORD-2025-000501"]],
            ["who27@mail", ["ORD-2025-000535", "ORD-2025-000525"]],
            ["first27 last27", ["ORD-2025-000535", "ORD-2025-000525"]],
            ["unknown customer", []]
          ]
          for (const [text, found] of asked) {
            const hits = yield* lookUp(text)
            assert.deepStrictEqual(hits.items.slice(0, 2).map(({ orderNumber }) => orderNumber), found, text)
            assert.strictEqual((yield* statementsOf(lookUp(text))).length, 1, text)
            for (const plan of yield* plansOf(lookUp(text))) assertIndexed(plan, text)
          }
          assert.isAtMost((yield* lookUp("guest")).items.length, 50)
        })
    )

    it.effect("reads the timeline of one order in one statement, from indexes alone", () =>
      Effect.gen(function*() {
        const read = asOrg1(
          Effect.flatMap(OrderRecordsRepo, (repo) => repo.timeline(OrderId.make(order), { page: 1, limit: 50 }))
        )
        const kinds = (yield* read)?.items.map(({ kind }) => kind)
        assert.deepStrictEqual(kinds, ["event", "status", "mail"])
        assert.strictEqual((yield* statementsOf(read)).length, 1)
        for (const plan of yield* plansOf(read)) assertIndexed(plan, "timeline")
      }))

    it.effect("finds unpaid orders by the index of statuses", () =>
      Effect.gen(function*() {
        const first = "00000000-0000-0000-0000-000000000000"
        const read = Effect.flatMap(UnpaidOrderRepo, (repo) => repo.older(48, first, 100))
        assert.strictEqual((yield* read).length, 100)
        for (const plan of yield* plansOf(read)) {
          assertIndexed(plan, "stale")
          assert.include(plan, "orders_status")
        }
      }))
  })
})
