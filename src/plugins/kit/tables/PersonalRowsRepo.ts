import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { currentOrganization } from "../../../domain/platform/access/Actor.ts"
import { deletedRows, redactRows, type RowPlace } from "../../../domain/platform/events/RowRedactionRepo.ts"
import type { Person, PersonalRecordsOf } from "../../../domain/privacy/PersonalRecords.ts"
import { parentOf, places } from "./DueRowsRepo.ts"
import { blankOf, type Subject, subjectIn } from "./Personal.ts"
import { exportOf, personalOf, type PersonalTable, redactedKeys } from "./PersonalTables.ts"
import { rowsOf } from "./StatementRepo.ts"
import { columnName, type Table } from "./Table.ts"
import { rowJson } from "./TableRowsRepo.ts"
import { unblanked } from "./TableSql.ts"
import { takeTurn } from "./TableTurnsRepo.ts"
import { own } from "./TableWritesRepo.ts"

/** What erasure and retention need of a plugin. */
export interface PersonalPlugin {
  readonly id: string
  readonly tables: ReadonlyArray<Table>
  /** Names of the events that it announces. */
  readonly events: ReadonlyArray<string>
}

type Sql = SqlClient.SqlClient

const found = rowsOf(Schema.Struct({ id: Schema.String }))
const idsOf = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)

/** Personal tables of a plugin; those that refer to others come before them. */
export const personalTables = ({ tables }: Pick<PersonalPlugin, "tables">): ReadonlyArray<PersonalTable> =>
  [...tables].reverse().flatMap((table) => personalOf(table) ?? [])

const hasTurn = ({ options }: Table): boolean => options.excluding !== undefined

/** Deletes these rows, or blanks their columns. They are locked, and their entries are redacted afterwards. */
const forgetRows = (sql: Sql, { blanked, table }: PersonalTable, ids: ReadonlyArray<string>) => {
  const these = sql`id = any(${[...ids]}::uuid[])`
  if (blanked === undefined) return sql`delete from ${sql(table.name)} where ${these}`
  const set = blanked.flatMap((name) => {
    const facts = table.columns[name]?.facts
    return facts === undefined ? [] : [`${columnName(name)} = ${blankOf(facts)}`]
  })
  const stamp = table.kind === "organization" ? ["updated_at = now()"] : []
  return sql`update ${sql(table.name)} set ${sql.literal([...set, ...stamp].join(", "))} where ${these}`
}

const redact = (sql: Sql, plugin: PersonalPlugin, one: PersonalTable, rows: ReadonlyArray<RowPlace>) =>
  one.table.options.changeLog === false && plugin.events.length === 0
    ? Effect.void
    : redactRows(sql, {
      places: rows,
      entityType: `${plugin.id}/${one.table.name}`,
      events: plugin.events,
      keys: redactedKeys(one)
    })

interface Link {
  readonly column: string
  readonly values: ReadonlyArray<string>
  readonly type: "text" | "uuid"
}

const linkOf = (
  { column, kind }: Exclude<Subject, { readonly kind: "row" }>,
  { customerId, orderIds, userId }: Person
): Link => {
  if (kind === "user") return { column, type: "text", values: userId === null ? [] : [userId] }
  return { column, type: "uuid", values: kind === "customer" ? [customerId] : orderIds }
}

const isLinked = (sql: Sql, { column, type, values }: Link): Statement.Fragment =>
  sql`t.${sql.literal(columnName(column))} = any(${[...values]}::${sql.literal(`${type}[]`)})`

type About = Pick<PersonalTable, "subject" | "table">

/** The table whose rows say about whom those of this one are, and the column that names them. */
const ownerOf = ({ tables }: Pick<PersonalPlugin, "tables">, { subject, table: { parent } }: About) => {
  if (subject === undefined) return parent
  const owner = subject.kind === "row" ? tables.find(({ name }) => name === subject.table) : undefined
  return owner && { table: owner, column: subject.column }
}

/** Rows without a customer of their own are linked to the rows of their owner that are about the person. */
const linkTo = Effect.fnUntraced(
  function*(sql: Sql, plugin: Pick<PersonalPlugin, "tables">, one: About, organization: string, person: Person) {
    if (one.subject !== undefined && one.subject.kind !== "row") return linkOf(one.subject, person)
    const owner = ownerOf(plugin, one)
    const subject = owner && subjectIn(owner.table)
    if (owner === undefined || subject === undefined || subject.kind === "row") return undefined
    const rows = yield* found(sql`select t.id from ${sql(owner.table.name)} t
      where ${own(sql, owner.table, organization)} and ${isLinked(sql, linkOf(subject, person))} order by t.id`)
    const link: Link = { column: owner.column, type: "uuid", values: idsOf(rows) }
    return link
  }
)

/** Erases a person from one table and returns how many rows it deleted or blanked; six statements at most. */
const eraseFrom = Effect.fnUntraced(
  function*(sql: Sql, plugin: PersonalPlugin, one: PersonalTable, person: Person) {
    const organizationId = yield* currentOrganization
    const { table } = one
    const link = yield* linkTo(sql, plugin, one, organizationId, person)
    if (link === undefined || link.values.length === 0) return 0
    const ids = idsOf(
      yield* found(sql`select t.id from ${sql(table.name)} t
        where ${own(sql, table, organizationId)} and ${isLinked(sql, link)} order by t.id for update of t`)
    )
    if (ids.length > 0) yield* forgetRows(sql, one, ids)
    const entityType = `${plugin.id}/${table.name}`
    const gone = table.options.changeLog === false
      ? []
      : idsOf(yield* deletedRows(sql, { organizationId, entityType, column: link.column, values: link.values }))
    yield* redact(sql, plugin, one, [...new Set([...ids, ...gone])].map((id) => ({ organizationId, id })))
    return ids.length
  }
)

const exportedRows = rowsOf(Schema.Struct({ row: Schema.Record(Schema.String, Schema.Unknown) }))

/** The newest `limit` rows about a person in each table, as the API shows them; two statements at most for each table. */
const exported = Effect.fnUntraced(
  function*(sql: Sql, { id, tables }: PersonalPlugin, person: Person, limit: number) {
    const organization = yield* currentOrganization
    const found: Record<string, ReadonlyArray<Readonly<Record<string, unknown>>>> = {}
    for (const one of tables.flatMap((table) => exportOf(table) ?? [])) {
      const { table, withheld } = one
      const link = yield* linkTo(sql, { tables }, one, organization, person)
      if (link === undefined || link.values.length === 0) continue
      const rows = yield* exportedRows(
        sql`select ${sql.literal(rowJson(table, "t", ["organizationId", ...withheld]))} as row
        from ${sql(table.name)} t where ${own(sql, table, organization)} and ${isLinked(sql, link)}
        order by t.created_at desc, t.id desc limit ${limit}`
      )
      if (rows.length > 0) found[`${id}/${table.name}`] = rows.map(({ row }) => row)
    }
    return found
  },
  Effect.orDie
)

/** Exports and erases rows of the tables of a plugin. */
export const personalRecordsOf = (sql: Sql, plugin: PersonalPlugin): PersonalRecordsOf => {
  const tables = personalTables(plugin)
  return {
    exported: (person, limit) => exported(sql, plugin, person, limit),
    takeTurns: Effect.flatMap(currentOrganization, (organization) =>
      Effect.forEach(
        tables.map(({ table }) => table).filter(hasTurn).sort((one, other) => one.name < other.name ? -1 : 1),
        (table) => Effect.orDie(takeTurn(sql, table, organization)),
        { discard: true }
      )),
    erase: (person) =>
      Effect.forEach(
        tables,
        (one) =>
          Effect.map(eraseFrom(sql, plugin, one, person), (count) => [`${plugin.id}/${one.table.name}`, count] as const)
      ).pipe(
        Effect.map((counts) => Object.fromEntries(counts.filter(([, count]) => count > 0))),
        Effect.orDie
      )
  }
}

const along = (sql: Sql, plugin: PersonalPlugin, table: Table, rows: ReadonlyArray<RowPlace>) =>
  Effect.forEach(
    personalTables(plugin).flatMap((one) => {
      const owner = ownerOf(plugin, one)
      return owner?.table.name === table.name ? [{ one, column: owner.column }] : []
    }),
    ({ column, one }) =>
      Effect.map(
        places(sql`select t.id, parent.organization_id as "organizationId" from ${sql(one.table.name)} t
          join ${sql(table.name)} parent on parent.id = t.${sql.literal(columnName(column))}
          where parent.id = any(${idsOf(rows)}::uuid[])`),
        (found) => ({ one, rows: found })
      )
  )

/**
 * Deletes or blanks rows of all organizations that are older than this, at most `limit`, and returns how many. Rows that
 * another transaction has locked wait for the next run.
 */
export const forgetOld = Effect.fn("PersonalRows.forgetOld")(
  function*(sql: Sql, plugin: PersonalPlugin, one: PersonalTable, before: Date, limit: number) {
    const { blanked, since, table } = one
    const { join, organization } = parentOf(sql, table)
    const time = sql.literal(`t.${columnName(since)}`)
    const left = sql.literal(blanked === undefined ? "true" : unblanked(table, blanked, "t."))
    const isOld = sql`${time} < ${before}::timestamptz and (${left})`
    const old = yield* places(sql`select t.id, ${organization} as "organizationId" from ${sql(table.name)} t ${join}
      where ${isOld} order by ${time} limit ${limit}`)
    const turns = hasTurn(table) ? [...new Set(old.map(({ organizationId }) => organizationId))].sort() : []
    yield* Effect.forEach(turns, (organizationId) => takeTurn(sql, table, organizationId), { discard: true })
    const locked = new Set(idsOf(
      yield* found(sql`select t.id from ${sql(table.name)} t where t.id = any(${idsOf(old)}::uuid[]) and ${isOld}
        order by t.id for update of t skip locked`)
    ))
    const rows = old.filter(({ id }) => locked.has(id))
    if (rows.length === 0) return 0
    const children = blanked === undefined ? yield* along(sql, plugin, table, rows) : []
    yield* forgetRows(sql, one, idsOf(rows))
    yield* redact(sql, plugin, one, rows)
    yield* Effect.forEach(children, (child) => redact(sql, plugin, child.one, child.rows), { discard: true })
    return rows.length
  },
  (work, sql) => Effect.orDie(sql.withTransaction(work))
)
