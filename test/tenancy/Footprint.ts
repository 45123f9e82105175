import { Effect } from "effect"
import { onDatabase } from "../checkout/ShopFloor.ts"

/** Tables whose rows belong to the organization of the row they hang on: the column and that row's table. */
const children: Readonly<Record<string, readonly [column: string, parent: string]>> = {
  promotion_customer_usages: ["promotion_id", "promotions"]
}

/** Tables of the deployment and not of a tenant. */
const common = /^(organizations|cluster_.*|.*migrations.*)$/

interface Table {
  readonly name: string
  readonly owned: boolean
}

/** Every table, and whether its rows say whose they are. */
export const tables = onDatabase((sql) =>
  sql<Table>`select t.table_name as name, exists (select 1 from information_schema.columns c
      where c.table_schema = t.table_schema and c.table_name = t.table_name and c.column_name = 'organization_id') as owned
    from information_schema.tables t where t.table_schema = 'public' order by 1`
)

/** Tables of tenants that neither say whose their rows are nor hang on one that does; there should be none. */
export const ownerless = Effect.map(
  tables,
  (all) =>
    all.filter(({ name, owned }) => !owned && children[name] === undefined && !common.test(name)).map(({ name }) =>
      name
    )
)

/** All rows of an organization as text, by table: two footprints are equal when nothing of it has changed. */
export const footprintOf = Effect.fnUntraced(function*(organization: string) {
  const rows = yield* Effect.forEach(yield* tables, ({ name, owned }) => {
    const [column, parent] = children[name] ?? []
    if (!owned && (column === undefined || parent === undefined)) return Effect.succeed([])
    return onDatabase((sql) => {
      const mine = owned
        ? sql`organization_id = ${organization}`
        : sql`${sql(column ?? "")} in (select id from ${sql(parent ?? "")} where organization_id = ${organization})`
      return Effect.map(
        sql<{ row: string }>`select t::text as row from ${sql(name)} t where ${mine} order by 1`,
        (found) => found.map(({ row }) => `${name}: ${row}`)
      )
    })
  })
  return rows.flat()
})
