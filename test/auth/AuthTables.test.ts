import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AuthRepo } from "../../src/domain/auth/AuthRepo.ts"
import { authModels } from "../../src/layers/auth/AuthModels.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { wantedTables } from "./AdapterTables.ts"

interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly defaulted: boolean
  readonly unique: boolean
  readonly indexed: boolean
}

const columns = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql<
      Column
    >`select c.table_name as table, c.column_name as name, c.data_type as type, c.is_nullable = 'NO' as required,
      c.column_default is not null as defaulted,
      coalesce(bool_or(i.indisunique and i.indnkeyatts = 1), false) as unique,
      coalesce(bool_or(i.indkey[0] = a.attnum), false) as indexed
    from information_schema.columns c
    join pg_attribute a on a.attrelid = to_regclass(quote_ident(c.table_name)) and a.attname = c.column_name
    left join pg_index i on i.indrelid = a.attrelid and a.attnum = any(i.indkey)
    where c.table_schema = 'public' group by 1, 2, 3, 4, 5`
)

const wanted = wantedTables(
  authModels({ apiKeys: {}, twoFactor: true, allowOrganizationCreation: true, issuer: "Test" })
)

/** Columns that better-auth does not have and leaves to their defaults. */
const ours: ReadonlySet<string> = new Set([
  "api_keys.organization_id",
  "api_keys.role",
  "api_keys.second_factor",
  "two_factors.last_period",
  "users.sign_up_browser",
  "users.vendor_role"
])

layer(Layer.provideMerge(AuthRepo.layer, TestDatabase))("the tables of authentication", (it) => {
  it.effect("the tables of authentication have every column that this version of better-auth writes, in the right type", () =>
    Effect.gen(function*() {
      const there = new Map((yield* columns).map((column) => [`${column.table}.${column.name}`, column]))
      const flaws = wanted.flatMap(({ columns, idType, name }) => [
        ...there.get(`${name}.id`)?.type === idType ? [] : [`${name}.id is no ${idType}`],
        ...columns.flatMap((column) => {
          const key = `${name}.${column.name}`
          const found = there.get(key)
          if (found === undefined) return [`${key} is missing`]
          return [
            ...found.type === column.type || found.type === "bigint" && column.type === "integer"
              ? []
              : [`${key} is ${found.type}, wanted ${column.type}`],
            ...found.required && !column.required ? [`${key} may be null there`] : [],
            ...column.unique && !found.unique ? [`${key} is not unique`] : [],
            ...column.indexed && !found.indexed ? [`${key} has no index`] : []
          ]
        })
      ])
      assert.isAbove(wanted.length, 8)
      assert.deepStrictEqual(flaws, [])
    }))

  it.effect("the tables of authentication require no column that better-auth leaves out", () =>
    Effect.gen(function*() {
      const known = new Set(wanted.flatMap(({ columns, name }) =>
        ["id", ...columns.map((one) => one.name)].map((column) => `${name}.${column}`)
      ))
      const tables = new Set(wanted.map(({ name }) =>
        name
      ))
      const foreign = (yield* columns).filter(({ name, table }) => tables.has(table) && !known.has(`${table}.${name}`))
      assert.deepStrictEqual(foreign.map(({ name, table }) => `${table}.${name}`).sort(), [...ours])
      assert.deepStrictEqual(foreign.filter(({ defaulted, required }) => required && !defaulted), [])
    }))

  it.effect("the tables of authentication are purged of expired rows in batches", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { purgeSessions, purgeVerifications } = yield* AuthRepo
      yield* sql`insert into users (name, email) values ('Ada', 'ada@example.com')`
      yield* sql`insert into sessions (token, user_id, expires_at)
        select n::text, (select id from users), now() + (n - 3) * interval '1 hour' from generate_series(1, 5) n`
      yield* sql`insert into verifications (identifier, value, expires_at)
        select n::text, 'x', now() + (n - 3) * interval '1 hour' from generate_series(1, 5) n`
      assert.deepStrictEqual([yield* purgeSessions(2), yield* purgeSessions(2), yield* purgeSessions(2)], [2, 1, 0])
      assert.deepStrictEqual([yield* purgeVerifications(9), yield* purgeVerifications(9)], [3, 0])
      assert.strictEqual((yield* sql`select 1 from sessions`).length, 2)
    }))
})
