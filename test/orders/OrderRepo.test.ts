import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../../src/domain/access/Actor.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { type OrderFilter, OrderRepo } from "../../src/domain/orders/OrderRepo.ts"
import { plansOf, statementsOf } from "../pricing/Statements.ts"
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

describe("the repository of orders", () => {
  it.layer(OrderRepo.layer.pipe(Layer.provideMerge(TestDatabase)), { excludeTestServices: true })((it) => {
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
        assert.deepStrictEqual(yield* list("org_list", {}, late), { items: [], ...late, total: 5 })
      }))

    it.effect("reads a page of 24,000 orders with their lines, all or in one status, in one statement from an index", () =>
      Effect.gen(function*() {
        yield* many
        const page = { page: 3, limit: 20 }
        const all = yield* list("org_1", {}, page)
        assert.strictEqual(all.total, 6_000)
        assert.isTrue(all.items.every((order) => order.lineItems.length === 2))
        const reads = [
          [list("org_1", {}, page), "orders_placed"],
          [list("org_1", { status: "fulfilled" }), "orders_status"],
          [find("org_1", all.items[0]?.id ?? ""), "orders_pkey"]
        ] as const
        for (const [read, index] of reads) {
          assert.strictEqual((yield* statementsOf<unknown, never, OrderRepo>(read)).length, 1, index)
          const [plan = ""] = yield* plansOf<unknown, never, OrderRepo>(read)
          assert.include(plan, index)
          assert.notMatch(plan, /Seq Scan on order_lines/)
        }
      }))
  })
})
