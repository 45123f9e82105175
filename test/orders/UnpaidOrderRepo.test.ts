import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { UnpaidOrderRepo } from "../../src/domain/orders/UnpaidOrderRepo.ts"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { plansOf } from "../pricing/Statements.ts"
import { buildOrder, type BuiltOrder, manager } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"

const wait = (order: BuiltOrder, minutes: number) =>
  Effect.flatMap(UnpaidOrderRepo, (repo) => repo.awaitPayment(order.id, minutes * 60)).pipe(
    Effect.provideService(CurrentActor, manager(order.organizationId))
  )

/** Orders that wait since so many minutes ago. */
const waiting = (count: number, minutesAgo: number) =>
  Effect.forEach(
    Array.from({ length: count }),
    () => Effect.tap(buildOrder({ captured: null }), (order) => wait(order, -minutesAgo))
  )

const dueIn = (order: BuiltOrder) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ minutes: number | null }>`select
      round(extract(epoch from payment_due_at - now()) / 60)::float8 as minutes from orders where id = ${order.id}::uuid`
    return row?.minutes
  })

const takeDue = (limit: number) => Effect.flatMap(UnpaidOrderRepo, (repo) => repo.takeDue(limit))

describe("orders that wait for their payment", () => {
  it.layer(Layer.provideMerge(UnpaidOrderRepo.layer, TestDatabase), { excludeTestServices: true })((it) => {
    it.effect("keep their first deadline when it is set again", () =>
      Effect.gen(function*() {
        const order = yield* buildOrder({ captured: null })
        yield* wait(order, 60)
        yield* wait(order, 600)
        assert.strictEqual(yield* dueIn(order), 60)
      }))

    it.effect("are never paid, confirmed or another tenant's", () =>
      Effect.gen(function*() {
        const paid = yield* buildOrder()
        const further = yield* buildOrder({ captured: null, status: "confirmed" })
        const foreign = yield* buildOrder({ captured: null, organizationId: "org_other" })
        yield* wait(paid, 1)
        yield* wait(further, 1)
        yield* wait({ ...foreign, organizationId: "org_default" }, 1)
        assert.deepStrictEqual(yield* Effect.all([dueIn(paid), dueIn(further), dueIn(foreign)]), [null, null, null])
      }))

    it.effect("are claimed once by two runs at once, most overdue first, and again ten minutes later", () =>
      Effect.gen(function*() {
        const [late = [], older = []] = yield* Effect.all([waiting(3, 5), waiting(3, 50)])
        const [first, second] = yield* Effect.all([takeDue(3), takeDue(3)], { concurrency: 2 })
        const taken = [...first, ...second].map(({ orderId }) => orderId)
        assert.deepStrictEqual([...taken].sort(), [...late, ...older].map(({ id }) => id).sort())
        assert.deepStrictEqual(yield* takeDue(3), [])
        for (const order of [...late, ...older]) assert.strictEqual(yield* dueIn(order), 10)
        const [next = []] = yield* Effect.all([waiting(4, 50), waiting(4, 5)])
        const oldest = yield* takeDue(4)
        assert.deepStrictEqual(oldest.map(({ orderId }) => orderId).sort(), next.map(({ id }) => id).sort())
        yield* takeDue(100)
      }))

    it.effect("wait no more once they are paid, even while they are pending", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const [order] = yield* waiting(1, 5)
        if (order === undefined) return assert.fail("no order")
        yield* sql`update orders set amount_captured = grand_total where id = ${order.id}::uuid`
        assert.deepStrictEqual(yield* takeDue(10), [{ orderId: order.id, organizationId: "org_default", paid: true }])
        assert.isNull(yield* dueIn(order))
      }))

    it.effect("are found among 20,000 others by their own index", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into orders (id, organization_id, order_number, status, currency, subtotal, tax_total,
            shipping_total, discount_total, grand_total, payment_due_at)
          select gen_random_uuid(), 'org_default', 'ORD-2019-' || n, case when n % 2 = 0 then 'pending' else 'cancelled' end,
            'USD', 1, 0, 0, 0, 1, case when n % 2 = 1 then now() - interval '1 day' end from generate_series(1, 20000) n`
        yield* sql`analyze orders`
        const [plan = ""] = yield* plansOf(takeDue(100))
        assert.include(plan, "orders_payment_due")
        assert.notMatch(plan, /Seq Scan|Sort/)
      }))
  })
})
