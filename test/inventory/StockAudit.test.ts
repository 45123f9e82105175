import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { StockAuditRepo } from "../../src/domain/inventory/StockAuditRepo.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { addWarehouse, organization, stockUp } from "./StockRows.ts"

const App = StockAuditRepo.layer.pipe(
  Layer.provideMerge(Layer.merge(TestDatabase, Layer.succeed(CurrentActor, systemActor(organization))))
)

const audit = Effect.flatMap(StockAuditRepo, (repo) => repo.audit)

/** A live hold of so many units that the level knows nothing of, or all of. */
const hold = Effect.fnUntraced(function*(holder: string, sellable: string, warehouse: string, quantity: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into holds (organization_id, holder, expires_at)
    values (${organization}, ${holder}, now() + interval '1 minute')`
  yield* sql`insert into hold_lines (organization_id, holder, sellable_id, warehouse_id, quantity)
    values (${organization}, ${holder}, ${sellable}::uuid, ${warehouse}::uuid, ${quantity})`
})

it.layer(App)("the audit of the stock", (it) => {
  it.effect("finds a level that has less reserved than is held of it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const warehouse = yield* addWarehouse()
      const sellable = yield* stockUp([[warehouse, 5]])
      yield* hold("one", sellable, warehouse, 2)
      yield* hold("two", sellable, warehouse, 1)
      yield* sql`update stock_levels set reserved = 3 where sellable_id = ${sellable}::uuid`
      assert.deepStrictEqual(yield* audit, { oversold: 0, unbacked: 0 })
      yield* sql`update stock_levels set reserved = 2 where sellable_id = ${sellable}::uuid`
      assert.deepStrictEqual(yield* audit, { oversold: 0, unbacked: 1 })
      yield* sql`update stock_levels set reserved = 3 where sellable_id = ${sellable}::uuid`
    }))

  it.effect("finds oversold levels without permission, in case the constraint is missing", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const sellable = yield* stockUp([[yield* addWarehouse(), 1]])
      yield* sql`update stock_levels set reserved = 2, allow_negative = true where sellable_id = ${sellable}::uuid`
      assert.strictEqual((yield* audit).oversold, 0)
      yield* sql`alter table stock_levels drop constraint no_oversell`
      yield* sql`update stock_levels set allow_negative = false where sellable_id = ${sellable}::uuid`
      assert.strictEqual((yield* audit).oversold, 1)
    }))

  it.effect("reads indexes and never the tables", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`set enable_seqscan = off`
      const plan = yield* sql<{ "QUERY PLAN": string }>`explain
        select count(*) from stock_levels where reserved > on_hand and not allow_negative`
      assert.include(plan.map((row) => row["QUERY PLAN"]).join("\n"), "stock_levels_oversold")
    }))
})
