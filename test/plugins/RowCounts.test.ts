import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { boolean, definePlugin, group, listOf, oneOf, statements, table, text, uuid } from "stoa/plugin"
import { ListTotalsRepo } from "../../src/domain/platform/paging/ListTotalsRepo.ts"
import { migratePlugins } from "../../src/plugins/kit/install/PluginTables.ts"
import type { Plugin } from "../../src/plugins/kit/Plugin.ts"
import { pluginDatabase } from "../../src/plugins/kit/tables/PluginDatabaseRepo.ts"
import type { TableOptions } from "../../src/plugins/kit/tables/Table.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { inDefault, within } from "./PluginTablesLayer.ts"

const tickets = table("support_tickets", {
  subject: text,
  status: oneOf(["open", "closed"]).default("open"),
  urgent: boolean.nullable,
  queue: text.fewValues.default("all"),
  customerId: uuid.nullable
})

const manifest = {
  id: "support",
  version: "1.0.0",
  schema: () => [tickets],
  routes: () => [
    listOf(group("Support", "/support"), "/tickets", tickets, {
      auth: true,
      filters: ["status", "queue", "customerId", "urgent"]
    })
  ]
} as const
const support = definePlugin(manifest)

const onFreshDatabase = <A, E>(work: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.scoped(Effect.flatMap(freshDatabase, ({ url }) =>
    Effect.provide(
      Effect.flatMap(SqlClient.SqlClient, (sql) =>
        Effect.andThen(sql`insert into organizations (id, slug, name) values ('org_other', 'other', 'Other')`, work)),
      PgClient.layer({ url: Redacted.make(url) })
    )))

const handleOf = (plugin: Plugin) =>
  Effect.map(SqlClient.SqlClient, (sql) => pluginDatabase({ sql, keyring: undefined }, plugin).table(tickets))

type Tickets = Effect.Success<ReturnType<typeof handleOf>>

/** How many tickets meet filters, and whether the table was read for it. */
const counted = (...filters: ReadonlyArray<Parameters<Tickets["count"]>[0]>) =>
  Effect.gen(function*() {
    const handle = yield* handleOf(support)
    const all = Effect.forEach(filters, (where) => handle.count(where))
    const sent = yield* statementsOf(all)
    return { counts: yield* all, read: sent.some(([sql]) => /from "?support_tickets/.test(sql)) }
  }).pipe(inDefault)

describe("rows of a plugin's table", () => {
  it.live(
    "are counted by words, flags and filters of few values in any combination, before and after changes are folded",
    () =>
      onFreshDatabase(Effect.gen(function*() {
        yield* migratePlugins([support])
        const handle = yield* handleOf(support)
        const rows = [{ urgent: true }, { urgent: false }, { queue: "sales" }, { status: "closed" }, {
          status: "closed"
        }] as const
        const [first, , , fourth] = yield* inDefault(handle.insertMany(rows.map((row) => ({ subject: "?", ...row }))))
        yield* within("org_other")(handle.insert({ subject: "?" }))
        yield* inDefault(handle.update(first?.id ?? "", { status: "closed" }))
        yield* inDefault(handle.delete(fourth?.id ?? ""))
        const { fold } = yield* ListTotalsRepo.make
        for (const again of [fold(100), Effect.void]) {
          const found = yield* counted(
            {},
            { status: "closed" },
            { status: { not: "closed" }, queue: { in: ["all", "none"] } },
            { urgent: null },
            { or: [{ urgent: true }, { queue: { contains: "SAL" } }] },
            { status: undefined, queue: "sales" }
          )
          assert.deepStrictEqual(found, { counts: [4, 2, 1, 2, 2, 1], read: false })
          yield* again
        }
        assert.deepStrictEqual(yield* counted({ subject: "?" }), { counts: [4], read: true })
        assert.deepStrictEqual(yield* counted({ customerId: null }), { counts: [4], read: true })
      }))
  )

  it.live(
    "are counted again when a definition counts by other columns, also after migrations of these",
    () =>
      onFreshDatabase(Effect.gen(function*() {
        const earlier = (columns: Parameters<typeof table>[1], options: TableOptions = {}, migrations = {}) =>
          definePlugin({
            id: "support",
            version: "1.0.0",
            schema: () => [table("support_tickets", columns, options)],
            migrations
          })
        yield* migratePlugins([earlier({ subject: text, urgent: oneOf(["yes", "no"]).nullable }, { counted: false })])
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into support_tickets (organization_id, subject, urgent) values ('org_default', '?', 'yes')`
        yield* migratePlugins([earlier({ subject: text, urgent: oneOf(["yes", "no"]).nullable })])
        const steps = statements(
          `do $$ declare c record; begin for c in select conname from pg_constraint where conrelid = 'support_tickets'::regclass
          and contype = 'c' and conname like '%urgent%' loop execute 'alter table support_tickets drop constraint ' || c.conname;
          end loop; end $$`,
          "alter table support_tickets alter urgent type bool using urgent = 'yes'"
        )
        const now = definePlugin({ ...manifest, migrations: { "0001_urgent": steps } })
        yield* migratePlugins([now])
        yield* migratePlugins([now])
        yield* sql`insert into support_tickets (organization_id, subject) values ('org_default', '?')`
        assert.deepStrictEqual(yield* counted({}, { urgent: true }, { urgent: null, status: "open" }), {
          counts: [2, 1, 1],
          read: false
        })
      }))
  )
})
