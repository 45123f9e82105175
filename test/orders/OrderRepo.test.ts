import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../../src/domain/access/Actor.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { type OrderFilter, OrderRepo, orderRepoLayer } from "../../src/domain/orders/OrderRepo.ts"
import { buildOrder, manager } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"

const list = (organization: string, filter: OrderFilter = {}, page = { page: 1, limit: 20 }) =>
  Effect.flatMap(OrderRepo, (repo) => repo.list(filter, page)).pipe(
    Effect.provideService(CurrentActor, manager(organization))
  )

const find = (organization: string, idOrNumber: string) =>
  Effect.flatMap(OrderRepo, (repo) => repo.find(idOrNumber)).pipe(
    Effect.provideService(CurrentActor, manager(organization))
  )

/** Texts of the statements an effect sends. */
const statementsOf = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  yield* Effect.withTracer(effect, tracer)
  return spans.flatMap((span) => {
    const text = span.attributes.get("db.query.text")
    return typeof text === "string" ? [text] : []
  })
})

const many = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into orders (id, organization_id, order_number, customer_id, status, currency, subtotal, tax_total,
      shipping_total, discount_total, grand_total, placed_at)
    select gen_random_uuid(), 'org_' || n % 4, 'ORD-2025-' || lpad(n::text, 6, '0'), null,
      (array['pending', 'confirmed', 'processing', 'fulfilled', 'cancelled'])[1 + n % 5], 'USD', 100, 0, 0, 0, 100,
      timestamptz '2025-01-01' + n * interval '1 minute'
    from generate_series(1, 24000) n`
  yield* sql`insert into order_lines (id, organization_id, order_id, position, entity_id, entity_type, title, quantity,
      unit_price, total_price)
    select gen_random_uuid(), organization_id, id, p, gen_random_uuid(), 'product', 'Thing ' || p, 1, 50, 50
    from orders, generate_series(0, 1) p where order_number like 'ORD-2025-%'`
  yield* sql`analyze orders`
  yield* sql`analyze order_lines`
})

const planOf = (rows: ReadonlyArray<object>): string => rows.map((row) => Object.values(row).join(" ")).join("\n")

describe("OrderRepo", () => {
  it.layer(orderRepoLayer.pipe(Layer.provideMerge(TestDatabase)))((it) => {
    it.effect("finds an order with its lines in order, by id and by number", () =>
      Effect.gen(function*() {
        const built = yield* buildOrder({
          lines: [{ title: "First", sku: "F-1" }, { title: "Second" }, { title: "Third" }]
        })
        const byId = yield* find("org_default", built.id)
        const byNumber = yield* find("org_default", built.orderNumber)
        assert.deepStrictEqual(byId, byNumber)
        assert.deepStrictEqual(byId?.order.lineItems.map((line) => line.title), ["First", "Second", "Third"])
        assert.strictEqual(byId?.order.lineItems[0]?.sku, "F-1")
        assert.strictEqual(byId?.order.grandTotal, 3_000)
      }))

    it.effect("finds nothing for another organization, a stranger's number or nonsense", () =>
      Effect.gen(function*() {
        const built = yield* buildOrder({ organizationId: "org_mine" })
        assert.isUndefined(yield* find("org_other", built.id))
        assert.isUndefined(yield* find("org_other", built.orderNumber))
        assert.isUndefined(yield* find("org_mine", newId()))
        assert.isUndefined(yield* find("org_mine", "ORD-2020-x\0"))
        assert.isUndefined(yield* find("org_mine", "' or 1=1"))
      }))

    it.effect("lists newest first, pages without overlap, and shows nothing for an unknown status", () =>
      Effect.gen(function*() {
        const day = (n: number) => new Date(Date.UTC(2026, 0, n))
        for (const n of [1, 2, 3, 4, 5]) {
          const status = n % 2 === 0 ? "confirmed" : "pending"
          yield* buildOrder({ organizationId: "org_list", placedAt: day(n), status })
        }
        const first = yield* list("org_list", {}, { page: 1, limit: 2 })
        const second = yield* list("org_list", {}, { page: 2, limit: 2 })
        assert.strictEqual(first.total, 5)
        assert.deepStrictEqual(
          [...first.items, ...second.items].map((order) => order.placedAt.getUTCDate()),
          [5, 4, 3, 2]
        )
        assert.deepStrictEqual(yield* list("org_list", {}, { page: 9, limit: 2 }), {
          items: [],
          page: 9,
          limit: 2,
          total: 5
        })
        assert.strictEqual((yield* list("org_list", { status: "confirmed" })).total, 2)
        assert.deepStrictEqual((yield* list("org_list", { status: "canceled" })).items, [])
        assert.strictEqual((yield* list("org_nobody")).total, 0)
      }))

    it.effect("needs one statement for a page of orders with their lines, and for a single order", () =>
      Effect.gen(function*() {
        const built = yield* buildOrder({ organizationId: "org_count", lines: [{}, {}, {}] })
        yield* buildOrder({ organizationId: "org_count", lines: [{}, {}] })
        assert.strictEqual((yield* statementsOf(list("org_count"))).length, 1)
        assert.strictEqual((yield* statementsOf(find("org_count", built.id))).length, 1)
      }))

    it.effect("reads a page of 24,000 orders, all or in one status, from an index", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* many
        const page = yield* list("org_1", {}, { page: 3, limit: 20 })
        assert.strictEqual(page.total, 6_000)
        assert.isTrue(page.items.every((order) => order.lineItems.length === 2))
        const all = planOf(
          yield* sql`explain select * from orders where (organization_id = ${"org_1"})
            order by placed_at desc, id desc limit 20 offset 40`
        )
        assert.include(all, "orders_placed")
        assert.notInclude(all, "Seq Scan")
        assert.notInclude(all, "Sort")
        const inStatus = planOf(
          yield* sql`explain select * from orders where (organization_id = ${"org_1"} and status = ${"fulfilled"})
            order by placed_at desc, id desc limit 20 offset 0`
        )
        assert.include(inStatus, "orders_status")
        assert.notInclude(inStatus, "Sort")
        const lines = planOf(
          yield* sql`explain select order_id, jsonb_agg(to_jsonb(l) order by l.position) as lines from order_lines l
            where l.order_id = any(${page.items.map((order) => order.id)}::uuid[]) group by order_id`
        )
        assert.notInclude(lines, "Seq Scan")
      }))
  })
})
