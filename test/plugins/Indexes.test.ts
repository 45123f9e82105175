import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { definePlugin, oneOf, table, type TableOptions, text } from "stoa/plugin"
import { migratePlugins } from "../../src/plugins/kit/install/PluginTables.ts"
import { freshDatabase } from "../support/Postgres.ts"

const onFreshDatabase = <A, E>(work: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.scoped(
    Effect.flatMap(
      freshDatabase,
      ({ url }) => Effect.provide(work, PgClient.layer({ url: Redacted.make(url) }))
    )
  )

const options = {
  unique: [{ columns: ["court", "person"], where: "status = 'open'" }, { columns: ["court", "person"] }],
  indexes: [
    { columns: ["status", "createdAt"], where: "status = 'open'" },
    { columns: ["status", "createdAt"], descending: true }
  ]
} as const

const columns = { court: text, person: text, status: oneOf(["open", "over"]) } as const

const courts = (more: TableOptions<keyof typeof columns | "createdAt">) =>
  definePlugin({ id: "courts", version: "1.0.0", schema: () => [table("courts_waiting", columns, more)] })

/** Indexes with what they are of, by their identity in the database. */
const indexes = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql`select indexrelid::int as id, relname as name, pg_get_indexdef(indexrelid) as definition
      from pg_index join pg_class on oid = indexrelid where indrelid = 'courts_waiting'::regclass order by relname`,
    (rows) => new Map(rows.map(({ definition, id, name }) => [String(name), { id, definition: String(definition) }]))
  ))

const conditional = /^courts_waiting_status_created_at_[0-9a-f]{8}_idx$/
const older = "courts_waiting_status_created_at_idx"

const conditionalName = (found: ReadonlyMap<string, unknown>) =>
  [...found.keys()].find((name) => conditional.test(name))

describe("indexes of a plugin's table", () => {
  it.live(
    "stand beside each other with equal columns and another condition",
    () =>
      onFreshDatabase(Effect.gen(function*() {
        const several = [...options.indexes, { columns: ["status", "createdAt"], where: "status = 'over'" }] as const
        yield* migratePlugins([courts({ ...options, indexes: several })])
        const found = yield* indexes
        const definitions = [...found.values()].map(({ definition }) => definition)
        const of = (part: string) => definitions.filter((definition) => definition.includes(part)).length
        assert.deepStrictEqual([of("(organization_id, status"), of("(organization_id, court, person)")], [3, 2])
        assert.deepStrictEqual([of("= 'open'"), of("= 'over'")], [2, 1])
        yield* migratePlugins([courts({ ...options, indexes: several })])
        assert.deepStrictEqual(yield* indexes, found)
      }))
  )

  it.live(
    "of a version before are renamed, neither lost nor doubled, also where a plain one takes their name",
    () =>
      onFreshDatabase(Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* migratePlugins([courts({ indexes: [options.indexes[0]] })])
        const made = yield* indexes
        const name = conditionalName(made) ?? ""
        yield* sql`alter index ${sql(name)} rename to ${sql(older)}`
        yield* migratePlugins([courts({ indexes: [options.indexes[0]] })])
        assert.deepStrictEqual(yield* indexes, made)

        yield* sql`alter index ${sql(name)} rename to ${sql(older)}`
        yield* migratePlugins([courts({ indexes: options.indexes })])
        const both = yield* indexes
        assert.deepStrictEqual(both.get(name), made.get(name))
        assert.notInclude(both.get(older)?.definition, "WHERE")
        assert.strictEqual(both.size, made.size + 1)
      }))
  )

  it.live(
    "of a version before leave nothing behind where several have taken their place",
    () =>
      onFreshDatabase(Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const several = [...options.indexes, { columns: ["status", "createdAt"], where: "status = 'over'" }] as const
        yield* migratePlugins([courts({ indexes: several })])
        const definitions = Effect.map(indexes, (all) => [...all.values()].map(({ definition }) => definition))
        const [names, whole] = [[...(yield* indexes).keys()], yield* definitions]
        for (const index of names.filter((one) => one.startsWith("courts_waiting_status"))) {
          yield* sql`drop index ${sql(index)}`
        }
        yield* sql`create index ${sql(older)} on courts_waiting (organization_id, status, created_at)
        where status = 'open'`
        yield* migratePlugins([courts({ indexes: several })])
        assert.deepStrictEqual(yield* definitions, whole)
      }))
  )

  it.live("end the start when two differ in their order alone", () =>
    onFreshDatabase(Effect.gen(function*() {
      const both = ["court", "createdAt"] as const
      const refused = yield* Effect.flip(
        migratePlugins([courts({ indexes: [{ columns: both }, { columns: both, descending: true }] })])
      )
      assert.include(String(refused), `the table "courts_waiting" says "courts_waiting_court_created_at_idx" twice`)
    })))
})
