import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { randomUUID } from "node:crypto"
import { TestDatabase } from "../support/Postgres.ts"
import { addWarehouse, organization, stockUp } from "./StockRows.ts"

type Write = (sql: SqlClient.SqlClient, sellable: string) => Effect.Effect<unknown, SqlError.SqlError>

/** Writes that the tables refuse from any code, for five units on hand of which two are held. */
const refused: ReadonlyArray<readonly [what: string, write: Write]> = [
  [
    "reserve more than there is",
    (sql, sellable) => sql`update stock_levels set reserved = 6 where sellable_id = ${sellable}::uuid`
  ],
  [
    "take off the shelf what is reserved",
    (sql, sellable) => sql`update stock_levels set on_hand = 1 where sellable_id = ${sellable}::uuid`
  ],
  [
    "give back more than is reserved",
    (sql, sellable) => sql`update stock_levels set reserved = reserved - 3 where sellable_id = ${sellable}::uuid`
  ],
  [
    "take more from a hold than it holds",
    (sql, sellable) => sql`update hold_lines set quantity = quantity - 3 where sellable_id = ${sellable}::uuid`
  ],
  [
    "leave a level without the version that guards it",
    (sql, sellable) => sql`delete from stock_items where sellable_id = ${sellable}::uuid`
  ]
]

it.layer(TestDatabase)("the tables of the stock", (it) => {
  for (const [what, write] of refused) {
    it.effect(`the tables refuse to ${what}`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const warehouse = yield* addWarehouse()
        const sellable = yield* stockUp([[warehouse, 5]])
        yield* sql`update stock_levels set reserved = 2 where sellable_id = ${sellable}::uuid`
        yield* sql`insert into hold_lines (organization_id, holder, sellable_id, warehouse_id, quantity)
          values (${organization}, ${randomUUID()}, ${sellable}::uuid, ${warehouse}::uuid, 2)`
        const { reason } = yield* Effect.flip(write(sql, sellable))
        assert.strictEqual(reason._tag, "ConstraintError", reason.message)
      }))
  }
})
