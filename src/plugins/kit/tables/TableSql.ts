import { createHash } from "node:crypto"
import { type AnyColumn, type ColumnKind, quoted, sqlType } from "./Column.ts"
import { equalColumns, type Listing } from "./Listing.ts"
import { blankOf } from "./Personal.ts"
import { personalOf } from "./PersonalTables.ts"
import { columnName, type IndexColumns, type Table } from "./Table.ts"
import { columnFacts } from "./TableRowsRepo.ts"

/** Whose table it is by the database: the organizations that every tenant's rows refer to. */
const organizations = "organizations"

/** One column as `create table` and `add column` say it. */
export const columnSql = (name: string, { facts }: AnyColumn): string =>
  [
    columnName(name),
    sqlType(facts),
    facts.nullable ? "" : "not null",
    facts.fallback === undefined ? "" : `default ${facts.fallback}`
  ].filter((part) => part !== "").join(" ")

/** What the values of a column have to meet; undefined: nothing. */
const conditionOf = (column: string, { among, bounds, form, isList, kind }: AnyColumn["facts"]): string | undefined => {
  const words = among?.map(quoted).join(", ")
  if (isList) {
    const whole = `array_position(${column}, null) is null`
    return words === undefined ? whole : `${whole} and ${column} <@ array[${words}]::${kind}[]`
  }
  if (words !== undefined) return `${column} in (${words})`
  if (form !== undefined) return `${column} ~ ${quoted(form)}`
  return bounds === undefined ? undefined : `${column} between ${bounds[0]} and ${bounds[1]}`
}

/** The columns that the library adds, before and after the plugin's own. */
const ownColumns = (kind: Table["kind"]): readonly [ReadonlyArray<string>, ReadonlyArray<string>] =>
  kind === "organization"
    ? [["id uuid primary key default gen_random_uuid()", `organization_id text not null references ${organizations}`], [
      "created_at timestamptz not null default now()",
      "updated_at timestamptz not null default now()"
    ]]
    : [["id uuid primary key default gen_random_uuid()"], ["created_at timestamptz not null default now()"]]

/** The statement that makes the table as it is defined now. */
export const createTable = (table: Table): string => {
  const [before, after] = ownColumns(table.kind)
  const own = Object.entries(table.columns).map(([name, column]) => columnSql(name, column))
  return `create table ${table.name} (${[...before, ...own, ...after].join(", ")})`
}

/** A short text that another one does not have. */
export const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8)

/** A name that says what it is of. One that PostgreSQL would cut ends with a digest, so that no two become the same. */
const named = (...parts: ReadonlyArray<string>): string => {
  const whole = parts.join("_")
  return whole.length <= 63 ? whole : `${whole.slice(0, 54)}_${digestOf(whole)}`
}

interface NamedSql {
  readonly name: string
  readonly sql: string
}

/** A constraint over a range between two columns. */
interface NamedRange extends NamedSql {
  readonly range: readonly [from: string, to: string]
}

/** A constraint of one column. */
interface NamedReference extends NamedSql {
  readonly column: string
}

/** An index. One with a condition was named without it by version 0.2. */
export interface NamedIndex extends NamedSql {
  readonly formerName?: string
}

const index = (table: Table, { columns, descending, where }: IndexColumns, unique: boolean): NamedIndex => {
  const [stem, end] = [[table.name, ...columns.map(columnName)], unique ? "key" : "idx"]
  const name = where === undefined ? named(...stem, end) : named(...stem, digestOf(where), end)
  const own = columns.map((column) => `${columnName(column)}${descending === true && !unique ? " desc" : ""}`)
  // Every look-up names the organization first; a child's rows are found by their own columns.
  const all = table.kind === "organization" ? ["organization_id", ...own] : own
  const only = where === undefined ? "" : ` where ${where}`
  return {
    name,
    ...(where === undefined ? {} : { formerName: named(...stem, end) }),
    sql: `create ${unique ? "unique " : ""}index ${name} on ${table.name} (${all.join(", ")})${only}`
  }
}

const uniqueColumn = (table: Table, column: string, { facts }: AnyColumn): ReadonlyArray<NamedSql> => {
  if (facts.uniqueness === undefined) return []
  const name = named(table.name, columnName(column), "key")
  const columns = facts.uniqueness === "global" || table.kind === "child"
    ? columnName(column)
    : `organization_id, ${columnName(column)}`
  return [{ name, sql: `create unique index ${name} on ${table.name} (${columns})` }]
}

/** The unique of a table that has these columns, and the rows that it counts: what an insert may conflict with. */
export const conflictTarget = (table: Table, columns: ReadonlyArray<string>) => {
  const [first] = columns
  const uniqueness = columns.length === 1 && first !== undefined ? table.columns[first]?.facts.uniqueness : undefined
  const found = uniqueness !== undefined ?
    { where: undefined } :
    table.options.unique?.find((unique) =>
      unique.columns.length === columns.length && unique.columns.every((name) => columns.includes(name))
    )
  if (found === undefined) throw new Error(`Table "${table.name}" has no unique of ${columns.join(", ")}.`)
  const own = uniqueness === "global" || table.kind === "child" ? [] : ["organization_id"]
  const where = found.where
  const target = `(${[...own, ...columns.map(columnName)].join(", ")})${where === undefined ? "" : ` where ${where}`}`
  return { target, where }
}

/** Whether an index that is there anyway begins with the column. */
const isLed = (table: Table, column: string): boolean =>
  table.kind === "child" &&
  [...table.options.unique ?? [], ...table.options.indexes ?? []].some(({ columns, where }) =>
    columns[0] === column && where === undefined
  )

/** Deleting a row looks for those that refer to it. */
const referring = (table: Table, column: string, { facts }: AnyColumn): ReadonlyArray<NamedSql> => {
  if (facts.reference === undefined || isLed(table, column) || facts.uniqueness === "global") return []
  const name = named(table.name, columnName(column), "fk")
  return [{ name, sql: `create index ${name} on ${table.name} (${columnName(column)})` }]
}

/** The order of lists: newest first, the id where times are the same. */
const listing = (table: Table): ReadonlyArray<NamedSql> =>
  table.kind === "child" ? [] : [{
    name: named(table.name, "listed"),
    sql: `create index ${named(table.name, "listed")} on ${table.name} (organization_id, created_at desc, id desc)`
  }]

/** The order of a list as columns of an index, from the largest first: an index is read from either end. */
const orderOf = ({ order }: Listing): ReadonlyArray<readonly [column: string, isDescending: boolean]> => {
  const columns = order.map((name) => name.startsWith("-") ? [name.slice(1), true] as const : [name, false] as const)
  const isMirrored = columns[0]?.[1] === false
  return columns.map(([name, isDescending]) => [columnName(name), isDescending !== isMirrored])
}

/** Indexes of lists: rows that are equal in a filter come in the list's order, the id where they are the same in it. */
const listIndexes = (table: Table): ReadonlyArray<NamedIndex> =>
  table.kind === "child" ? [] : (table.lists ?? []).flatMap((one) => {
    const order = orderOf(one)
    const isListed = order.length === 1 && order[0]?.[0] === "created_at"
    return equalColumns(one, (name) => columnFacts(table, name)).filter(({ length }) => length > 0 || !isListed).map(
      (equal) => {
        const own = equal.map(columnName)
        const rest = order.filter(([column]) => !own.includes(column))
        const ordered = rest.map(([column, isDescending]) => isDescending ? column : `${column}_asc`)
        const name = named(table.name, ...own, ...ordered, "id", "idx")
        const all = ["organization_id", ...own, ...rest.map(([column, desc]) => desc ? `${column} desc` : column)]
        return { name, sql: `create index ${name} on ${table.name} (${all.join(", ")}, id desc)` }
      }
    )
  })

/** An SQL condition: one of the columns that are blanked has a value. */
export const unblanked = ({ columns }: Table, blanked: ReadonlyArray<string>, alias = ""): string =>
  blanked.flatMap((name) => {
    const facts = columns[name]?.facts
    return facts === undefined ? [] : [`${alias}${columnName(name)} is distinct from ${blankOf(facts)}`]
  }).join(" or ")

/** The order in which rows of all organizations have been kept long enough (`keepDays`). */
const keeping = (table: Table): ReadonlyArray<NamedSql> => {
  const personal = personalOf(table)
  if (personal?.keepDays === undefined) return []
  const { blanked, since } = personal
  const only = blanked === undefined ? "" : ` where ${unblanked(table, blanked)}`
  const name = named(table.name, columnName(since), ...(only === "" ? [] : [digestOf(only)]), "kept")
  return [{ name, sql: `create index ${name} on ${table.name} (${columnName(since)})${only}` }]
}

/** All indexes of a table, by name. */
export const indexesOf = (table: Table): ReadonlyArray<NamedIndex> => [
  ...keeping(table),
  ...listing(table),
  ...listIndexes(table),
  ...Object.entries(table.columns).flatMap(([name, column]) => [
    ...uniqueColumn(table, name, column),
    ...referring(table, name, column)
  ]),
  ...(table.options.unique ?? []).map((columns) => index(table, columns, true)),
  ...(table.options.indexes ?? []).map((columns) => index(table, columns, false))
]

/** The unique indexes of a table with their columns. */
export const uniquesOf = (table: Table): ReadonlyArray<NamedIndex & { readonly columns: ReadonlyArray<string> }> => [
  ...Object.entries(table.columns).flatMap(([name, column]) =>
    uniqueColumn(table, name, column).map((one) => ({ ...one, columns: [name] }))
  ),
  ...(table.options.unique ?? []).map((unique) => ({ ...index(table, unique, true), columns: unique.columns }))
]

const ranges: Partial<Record<ColumnKind, string>> = {
  timestamptz: "tstzrange",
  date: "daterange",
  int4: "int4range",
  int8: "int8range",
  numeric: "numrange"
}

/** The constraints of a table that keep ranges apart. They need the extension `btree_gist` for the columns beside the range. */
export const exclusionsOf = (table: Table): ReadonlyArray<NamedRange> =>
  (table.options.excluding ?? []).map(({ columns, range: [from, to], where }) => {
    const kind = table.columns[from]?.facts.kind
    const range = kind === undefined ? undefined : ranges[kind]
    if (range === undefined || table.columns[to]?.facts.kind !== kind) {
      throw new Error(`Table "${table.name}": "${from}" and "${to}" are no columns that a range can be made of.`)
    }
    const name = named(table.name, ...columns.map(columnName), columnName(from), "excl")
    const equal = [...table.kind === "organization" ? ["organization_id"] : [], ...columns.map(columnName)]
    const parts = [
      ...equal.map((column) => `${column} with =`),
      `${range}(${columnName(from)}, ${columnName(to)}, '[)') with &&`
    ]
    const only = where === undefined ? "" : ` where (${where})`
    return {
      name,
      range: [from, to],
      sql: `alter table ${table.name} add constraint ${name} exclude using gist (${parts.join(", ")})${only}`
    }
  })

/** A condition of a table. Its name ends with what it says, so that one that says something else is another one. */
export interface NamedCheck extends NamedSql {
  /** Conditions of this name and another ending are older versions of it. */
  readonly stem: string
  readonly condition: string
}

const check = (table: Table, key: string, condition: string): NamedCheck => {
  const whole = `${table.name}_${key}`
  const stem = whole.length <= 54 ? whole : `${whole.slice(0, 45)}_${digestOf(whole)}`
  const name = `${stem}_${digestOf(condition)}`
  return { condition, stem, name, sql: `alter table ${table.name} add constraint ${name} check (${condition})` }
}

/** All conditions of a table: those of its columns, then those of the table. */
export const checksOf = (table: Table): ReadonlyArray<NamedCheck> => [
  ...Object.entries(table.columns).flatMap(([name, { facts }]) => {
    const condition = conditionOf(columnName(name), facts)
    return condition === undefined ? [] : [check(table, `${columnName(name)}_values`, condition)]
  }),
  ...Object.entries(table.options.checks ?? {}).map(([key, condition]) => check(table, key, condition))
]

/**
 * What of a table refers to others. Of two tables of organizations the organization is a part of the reference: a row of
 * another one's cannot be referred to. That asks for a unique key of both on the other table.
 */
export const referencesOf = (table: Table): ReadonlyArray<NamedReference> =>
  Object.entries(table.columns).flatMap(([column, { facts: { reference } }]) => {
    if (reference === undefined) return []
    const own = columnName(column)
    const name = named(table.name, own, "fkey")
    const both = reference.withinOrganization && table.kind === "organization"
    const gone = both && reference.onDelete === "set null" ? `set null (${own})` : reference.onDelete
    const [from, to] = both ? [`organization_id, ${own}`, "organization_id, id"] : [own, "id"]
    const key = named(reference.table, "tenant_key")
    const constraint = `foreign key (${from}) references ${reference.table} (${to}) on delete ${gone}`
    return [
      ...(both
        ? [{ column, name: key, sql: `create unique index ${key} on ${reference.table} (organization_id, id)` }]
        : []),
      { column, name, sql: `alter table ${table.name} add constraint ${name} ${constraint}` }
    ]
  })
