import { assert, layer } from "@effect/vitest"
import { Array, Effect, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ListTotalsRepo, totalOf } from "../../src/domain/platform/paging/ListTotalsRepo.ts"
import { inBulk } from "../support/InBulk.ts"
import { TestDatabase } from "../support/Postgres.ts"

const counters = Layer.provideMerge(ListTotalsRepo.layer, TestDatabase)

/** So many orders of an organization, in one statement. */
const insert = (organization: string, count: number, status = "pending") =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`insert into orders (id, organization_id, order_number, status, currency, subtotal, tax_total, shipping_total,
        discount_total, grand_total)
      select id, ${organization}, id::text, ${status}, 'USD', 0, 0, 0, 0, 0
      from (select gen_random_uuid() as id from generate_series(1, ${count}::int4)) made`
  )

/** What the counters say beside what there is, in one statement and so at one moment. */
const compared = Effect.fnUntraced(function*(organization: string, status?: string) {
  const sql = yield* SqlClient.SqlClient
  const parts = status === undefined ? undefined : [status]
  const [row] = yield* sql<{ total: number; rows: number }>`select
    ${totalOf(sql, organization, "orders", parts)}::int4 as total, (select count(*)::int4 from orders
      where organization_id = ${organization} and (status = ${status ?? null} or ${
    status === undefined
  }::boolean)) as rows`
  return row ?? assert.fail("no row")
})

const expectTotal = Effect.fnUntraced(function*(organization: string, total: number, status?: string) {
  assert.deepStrictEqual(yield* compared(organization, status), { total, rows: total })
})

const fold = Effect.flatMap(ListTotalsRepo, (totals) => totals.fold(7))

const left = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{ left: number }>`select count(*)::int4 as left from list_changes`,
    ([row]) => row?.left
  ))

layer(counters, { excludeTestServices: true, timeout: "60 seconds" })("totals of lists", (it) => {
  it.effect("count what is inserted, moved to another value, deleted and rolled back, before and after they are folded", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* insert("org_a", 3)
      yield* insert("org_b", 1)
      yield* Effect.exit(sql.withTransaction(Effect.andThen(insert("org_a", 5), Effect.die("back"))))
      yield* sql`update orders set status = 'confirmed'
        where id = (select id from orders where organization_id = 'org_a' limit 1)`
      yield* sql`delete from orders where id = (select id from orders
        where organization_id = 'org_a' and status = 'pending' limit 1)`
      for (const again of [fold, fold]) {
        yield* expectTotal("org_a", 2)
        yield* expectTotal("org_a", 1, "confirmed")
        yield* expectTotal("org_b", 1)
        yield* again
      }
      assert.strictEqual(yield* left, 0)
    }))

  it.effect("are those of the rows at every moment while writers and two that fold meet", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const id = sql`(select id from orders where organization_id = 'org_busy' order by random() limit 1)`
      const changes = [
        insert("org_busy", 2),
        sql`update orders set status = 'confirmed' where id = ${id}`,
        sql`update orders set status = 'pending' where id = ${id}`,
        sql`delete from orders where id = ${id}`,
        sql.withTransaction(Effect.andThen(insert("org_busy", 1), insert("org_busy", 2, "cancelled"))),
        Effect.exit(sql.withTransaction(Effect.andThen(insert("org_busy", 9), Effect.die("back"))))
      ]
      const writers = Array.makeBy(6, (n) =>
        Effect.forEach(Array.makeBy(30, (m) => changes[(n + m) % 6]), (one) => one ?? Effect.void))
      const looks = Effect.forEach(
        Array.makeBy(60, (n) =>
          n),
        (n) =>
          Effect.map(
            compared("org_busy", n % 2 === 0 ? "pending" : undefined),
            ({ rows, total }) => assert.strictEqual(total, rows)
          )
      )
      const folds = Effect.forEach(Array.makeBy(40, () => fold), (one) => one)
      yield* Effect.all([...writers, looks, folds, folds], { concurrency: "unbounded", discard: true })
      const { rows, total } = yield* compared("org_busy")
      assert.isAbove(rows, 0)
      assert.strictEqual(total, rows)
    }))

  it.effect("let no writer wait for another one, nor what folds for a writer", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [written, done] = [Latch.makeUnsafe(false), Latch.makeUnsafe(false)]
      const one = sql.withTransaction(
        insert("org_waits", 1).pipe(Effect.andThen(written.open), Effect.andThen(done.await))
      )
      const other = written.await.pipe(
        Effect.andThen(insert("org_waits", 1)),
        Effect.andThen(fold),
        Effect.andThen(expectTotal("org_waits", 1)),
        Effect.andThen(done.open)
      )
      yield* Effect.all([one, other], { concurrency: 2 })
      yield* expectTotal("org_waits", 2)
    }))

  it.effect("are right again after rows came without triggers and all are counted once more", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* insert("org_restored", 1)
      yield* inBulk(insert("org_restored", 4))
      assert.deepStrictEqual(yield* compared("org_restored"), { total: 1, rows: 5 })
      yield* sql`select orders_recount()`
      yield* expectTotal("org_restored", 5)
    }))
})
