import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import {
  boolean,
  CustomerId,
  definePlugin,
  group,
  idOf,
  integerBetween,
  listOf,
  oneOf,
  ownedBy,
  table,
  text,
  visibleRows
} from "stoa/plugin"
import { migratePlugins } from "../../src/plugins/kit/install/PluginTables.ts"
import { pluginDatabase } from "../../src/plugins/kit/tables/PluginDatabaseRepo.ts"
import type { TableOptions } from "../../src/plugins/kit/tables/Table.ts"
import type { Where } from "../../src/plugins/kit/tables/TableWhereRepo.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { inDefault } from "./PluginTablesLayer.ts"

const onFreshDatabase = <A, E>(work: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.scoped(
    Effect.flatMap(freshDatabase, ({ url }) => Effect.provide(work, PgClient.layer({ url: Redacted.make(url) })))
  )

const columns = {
  status: oneOf(["open", "over"]),
  shelf: text.fewValues,
  stars: integerBetween(1, 5),
  customerId: idOf(CustomerId),
  code: text.unique(),
  note: text,
  shown: boolean.default(false)
} as const

type Name = keyof typeof columns | "createdAt"

const loans = table("library_loans", columns)
type Loans = typeof loans

const routes = group("Library", "/library")

/** A plugin with a list that is filtered by columns of each kind, and with others that show some rows to some actors. */
const library = (options: TableOptions<Name> = {}, isListed = true) =>
  definePlugin({
    id: "library",
    version: "1.0.0",
    schema: () => [table("library_loans", columns, options)],
    routes: () =>
      isListed
        ? [
          listOf(routes, "/loans", loans, {
            auth: true,
            filters: ["status", "shelf", "stars", "customerId", "code", "note"]
          }),
          listOf(routes, "/my-loans", loans, {
            auth: true,
            filters: ["status"],
            order: ["note", "-createdAt"],
            visible: ownedBy(loans, { customer: "customerId", staff: "library:all" })
          }),
          listOf(routes, "/shown-loans", loans, {
            auth: true,
            filters: ["stars", "note"],
            visible: visibleRows(["shown"], () => Effect.succeed({ shown: true }))
          })
        ]
        : []
  })

const definitions = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql`select indexdef as definition from pg_indexes where tablename = 'library_loans'
      and indexdef like '%(organization_id, %' order by indexname`,
    (rows) => rows.map((row) => String(row["definition"]).replace(/^.*USING btree \((.*)\)$/, "$1"))
  ))

const own = [
  "organization_id, code",
  "organization_id, created_at DESC, id DESC",
  ...["customer_id", "note", "shelf", "shown", "shown, stars", "stars", "status"].map((equal) =>
    `organization_id, ${equal}, created_at DESC, id DESC`
  ),
  ...["", "customer_id, "].map((equal) => `organization_id, ${equal}note DESC, created_at, id DESC`),
  "organization_id, status, note DESC, created_at, id DESC"
]

const rows = 20_000
const buyer = "11111111-1111-4111-8111-111111111111"

/** Many loans of others, and twenty of the buyer, which are the oldest and rare in each column. */
const fill = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.andThen(
    sql`insert into library_loans
        (organization_id, status, shelf, stars, customer_id, code, note, created_at)
      select 'org_default', case when n > ${rows - 20} then 'over' else 'open' end,
        case when n > ${rows - 20} then 'b' else 'a' end, case when n > ${rows - 20} then 5 else 1 end,
        case when n > ${rows - 20} then ${buyer}::uuid else gen_random_uuid() end, n::text,
        case when n > ${rows - 20} then 'rare' else 'note ' || n end, now() - n * interval '1 second'
      from generate_series(1, ${rows}) n`,
    sql`analyze library_loans`
  ))

/** The plan of the page of a filter, and whether its total reads the table. */
const readBy = Effect.fnUntraced(function*(where: Where<Loans>) {
  const sql = yield* SqlClient.SqlClient
  const handle = pluginDatabase({ sql, keyring: undefined }, library()).table(loans)
  const sent = yield* statementsOf(inDefault(handle.page(where, { page: 1, limit: 20 })))
  const reading = sent.filter(([text]) => /from "?library_loans/.test(text))
  const [page] = reading.filter(([text]) => /order by/.test(text))
  if (page === undefined) return assert.fail("no page")
  const plan = yield* sql.unsafe(`explain (analyze) ${page[0]}`, page[1])
  return { isCounted: reading.length === 1, plan: plan.map((row) => String(Object.values(row)[0])).join("\n") }
})

describe("a list", () => {
  it.live(
    "has an index of each filter alone and its order, and of what actors see",
    () =>
      onFreshDatabase(Effect.gen(function*() {
        yield* migratePlugins([library()])
        assert.sameMembers(yield* definitions, own)
        yield* migratePlugins([library()])
        assert.strictEqual((yield* definitions).length, own.length)
      }))
  )

  it.live(
    "reads its pages by these indexes, and totals of filters of few values by counters",
    () =>
      onFreshDatabase(Effect.gen(function*() {
        yield* migratePlugins([library()])
        yield* fill
        const filters: ReadonlyArray<readonly [Where<Loans>, string, boolean]> = [
          [{ status: "over" }, "status_created_at_id_idx", true],
          [{ shelf: "b" }, "shelf_created_at_id_idx", true],
          [{ stars: 5 }, "stars_created_at_id_idx", true],
          [{ customerId: CustomerId.make(buyer) }, "customer_id_created_at_id_idx", false],
          [{ note: "rare" }, "note_created_at_id_idx", false]
        ]
        for (const [where, index, counts] of filters) {
          const { isCounted, plan } = yield* readBy(where)
          assert.include(plan, `library_loans_${index}`)
          assert.notInclude(plan, "Rows Removed by Filter")
          assert.strictEqual(isCounted, counts, index)
        }
        const sql = yield* SqlClient.SqlClient
        const [counters] = yield* sql`select count(distinct part)::int as parts from (
            select list, part from list_totals union select list, part from list_changes) counters
          where list = 'library_loans'`
        assert.deepStrictEqual(counters, { parts: 2 }, "a counter of each customer would be as many as there are rows")
      }))
  )

  it.live(
    "of an installed database gets its indexes beside those written by hand, and its rows are counted again",
    () =>
      onFreshDatabase(Effect.gen(function*() {
        const byHand = { columns: ["status", "createdAt"], descending: true } as const
        yield* migratePlugins([library({ indexes: [byHand], counted: false }, false)])
        yield* fill
        const before = yield* definitions
        yield* migratePlugins([library()])
        assert.sameMembers(yield* definitions, [...new Set([...before, ...own])])
        assert.isTrue((yield* readBy({ shelf: "b" })).isCounted)
      }))
  )
})
