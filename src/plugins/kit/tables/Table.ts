import { Schema, String } from "effect"
import { about } from "../../../domain/platform/hints/Hints.ts"
import { OrganizationId, Uuid } from "../../../domain/platform/ids/Id.ts"
import { Time } from "../../../domain/platform/text/Time.ts"
import type { AnyColumn, Column } from "./Column.ts"
import type { Listing } from "./Listing.ts"
import { checkPersonal, type Personal } from "./Personal.ts"
import { checkBounds, type RowBounds } from "./RowBounds.ts"

/** Columns by the names that code and API know them by, in camel case. */
export type Columns = Readonly<Record<string, AnyColumn>>

/** What a table has beyond its columns. Names are those of the columns in code. */
export interface TableOptions<Name extends string = string> {
  /** Columns that together stand in one row of the organization only; a second one is 409. */
  readonly unique?: ReadonlyArray<IndexColumns<Name>>
  /** Ranges of which no two overlap, such as bookings of one court; a second one is 409. */
  readonly excluding?: ReadonlyArray<Exclusion<Name>>
  /** Columns that code looks up together, after the organization. Lists get the indexes of their filters by themselves. */
  readonly indexes?: ReadonlyArray<IndexColumns<Name>>
  /** Conditions in SQL that each row meets, by name: `{ adds_up: "payout = subtotal - commission" }`. */
  readonly checks?: Readonly<Record<string, string>>
  /** False: changes have no entries in the change log, because entries of another table cover them. */
  readonly changeLog?: boolean
  /** False: no list shows the table, so that writes save counting its rows. */
  readonly counted?: false
  /** Bodies of its `resource` refuse unknown fields with 422 `unknown_key`. Routes of your own say `strict` themselves. */
  readonly strict?: boolean
  /**
   * Rows are about customers: what their erasure, or time, does to them and to their entries of the change log. A table that
   * names customers and erases nothing says why: `{ exempt: "…" }`.
   */
  readonly personal?: Personal<Name>
  /**
   * What one customer may have: `[{ per: "customerId", rows: 20, refusal: "…" }]`. A table that names customers without a
   * bound says why: `{ unbounded: "…" }`.
   */
  readonly atMost?: RowBounds<Name>
}

type NameOf<C> = (keyof C & string) | "id" | "createdAt" | "updatedAt"

export interface IndexColumns<Name extends string = string> {
  readonly columns: readonly [Name, ...ReadonlyArray<Name>]
  /** Read from the largest value on. */
  readonly descending?: boolean
  /** An SQL condition on the table's own columns: only rows that meet it count. */
  readonly where?: string
}

export interface Exclusion<Name extends string = string> {
  /** Rows of the organization that are equal in these columns. */
  readonly columns: readonly [Name, ...ReadonlyArray<Name>]
  /** Two columns of one kind, a time, a day or a number: where the range begins, and where it ends, which is not a part of it. */
  readonly range: readonly [from: Name, to: Name]
  /** An SQL condition on the table's own columns: only rows that meet it count. */
  readonly where?: string
}

/** Columns that the library adds to every table of an organization (spec §2, plugin manifest). */
interface OwnFields {
  readonly id: string
  readonly organizationId: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Columns that it adds to a child table: its organization is that of the row it belongs to. */
interface ChildFields {
  readonly id: string
  readonly createdAt: Date
}

type Values<C extends Columns> = {
  readonly [K in keyof C]: C[K] extends Column<infer A, infer _, infer __> ? A : never
}

/** Names of the columns that rows do not show. */
export type SecretsOf<C> = { [K in keyof C]: C[K] extends { readonly "~secret": true } ? K : never }[keyof C]

export type Simplify<A> = { readonly [K in keyof A]: A[K] }

/**
 * A table of a plugin. `kind` says what it belongs to: an organization, or a row of another table of the plugin's.
 * `Row` is its rows as the API shows them.
 */
export interface Table<C extends Columns = Columns, Kind extends "organization" | "child" = "organization" | "child"> {
  readonly name: string
  readonly kind: Kind
  readonly columns: C
  /** Of a child table: the table it belongs to, and the column that says to which row. */
  readonly parent: { readonly table: Table; readonly column: string } | undefined
  readonly options: TableOptions
  /** Lists of the plugin's routes that show it; a plugin knows them (`Plugin.tables`). */
  readonly lists?: ReadonlyArray<Listing>
  readonly Row: Schema.Codec<Row<C, Kind>, unknown>
}

/** A row as code sees it: times are `Date`s, amounts numbers. */
export type Row<C extends Columns, Kind> = Simplify<
  Omit<Values<C>, SecretsOf<C>> & (Kind extends "organization" ? OwnFields : ChildFields)
>

export type RowOf<T> = T extends Table<infer C, infer Kind> ? Row<C, Kind> : never

type Named<C extends Columns> = { [K in keyof C]: C[K]["~given"] extends true ? K : never }[keyof C]

/** What an insert names: columns without a default must be there; an id may be chosen. */
export type NewRowOf<T> = T extends Table<infer C, infer _> ? Simplify<
    & Pick<Values<C>, Named<C>>
    & { readonly [K in Exclude<keyof C, Named<C>>]?: Values<C>[K] | undefined }
    & { readonly id?: string }
  >
  : never

export type ColumnsOf<T> = T extends Table<infer C, infer _> ? C : never

/** Names of the columns that an insert must name. */
export type GivenOf<T> = Named<ColumnsOf<T>> & string

/** Values of all columns of a table's own, secrets too. */
export type ValuesOf<T> = Values<ColumnsOf<T>>

/** Names of the secrets of a table. */
export type SecretOf<T> = T extends Table<infer C, infer _> ? SecretsOf<C> & string : never

/** What an update may change: what it names; a column that is undefined stays. */
export type ChangeOf<T> = T extends Table<infer C, infer _> ? { readonly [K in keyof C]?: Values<C>[K] | undefined }
  : never

/** The columns that every table gets. */
export const addedTo = (name: string) => ({
  id: Uuid.pipe(about(`Id of one of the ${name.replaceAll("_", " ")}.`, { ref: name })),
  createdAt: Time
})

export const addedToOrganization = (name: string) => ({
  ...addedTo(name),
  organizationId: OrganizationId,
  updatedAt: Time
})

export const schemasOf = (columns: Columns) =>
  Object.fromEntries(
    Object.entries(columns).filter(([, { facts }]) => !facts.isSecret)
      .map(([name, { schema }]) => [name, schema])
  )

/** The document has each kind of row once: those of `gift_cards` are `GiftCardsRow`. */
const rowOf = <const F extends Schema.Struct.Fields>(name: string, fields: F) =>
  Schema.Struct(fields).annotate({ identifier: `${String.pascalCase(name)}Row` })

const longest = 63

/** Names become SQL, so they are checked where a table is written and not where its first statement fails. */
const check = (name: string, columns: Columns): void => {
  if (!/^[a-z][a-z0-9_]*$/.test(name) || name.length > longest - 8) {
    throw new Error(`Table "${name}": a name has lower case letters, digits and _, at most ${longest - 8} of them.`)
  }
  for (const column of Object.keys(columns)) {
    if (!/^[a-z][a-zA-Z0-9]*$/.test(column)) throw new Error(`Table "${name}": column "${column}" is not in camelCase.`)
    if (["id", "organizationId", "createdAt", "updatedAt"].includes(column)) {
      throw new Error(`Table "${name}": "${column}" is a column that the library adds.`)
    }
    if (column === "or") throw new Error(`Table "${name}": filters have another meaning for "or".`)
  }
}

/**
 * A table whose rows belong to an organization. It gets `id`, `organizationId` (which refers to the organization),
 * `createdAt` and `updatedAt` (spec §2).
 */
export const table = <const C extends Columns>(
  name: string,
  columns: C,
  options: TableOptions<NameOf<C>> = {}
): Table<C, "organization"> => {
  check(name, columns)
  const fields = { ...addedToOrganization(name), ...schemasOf(columns) }
  return checkBounds(checkPersonal({
    name,
    kind: "organization",
    columns,
    parent: undefined,
    options,
    // The fields are made of the columns that the type is made of.
    Row: rowOf(name, fields) as Schema.Codec<unknown, unknown> as Schema.Codec<Row<C, "organization">, unknown>
  }))
}

/** A child table, and the column that names its parent. */
export type ChildTable<C extends Columns, Key extends string> = Table<C, "child"> & {
  readonly parent: { readonly table: Table; readonly column: Key }
}

/**
 * A table whose rows belong to a row of another one, by the column `column`: they go with it, and are visible to those who
 * sees it. It gets `id` and `createdAt` (spec §2).
 */
export const childOf = <const C extends Columns, const Key extends keyof C & string>(
  parent: Table<Columns, "organization">,
  column: Key,
  name: string,
  columns: C,
  options: TableOptions<NameOf<C>> = {}
): ChildTable<C, Key> => {
  check(name, columns)
  if (columns[column]?.facts.reference?.table !== parent.name) {
    throw new Error(`Table "${name}": column "${column}" has to say \`uuid.references(…)\` of "${parent.name}".`)
  }
  return checkBounds(checkPersonal({
    name,
    kind: "child",
    columns,
    parent: { table: parent, column },
    options,
    Row: rowOf(name, { ...addedTo(name), ...schemasOf(columns) }) as Schema.Codec<unknown, unknown> as Schema.Codec<
      Row<C, "child">,
      unknown
    >
  }))
}

/** `suspendedAt` as the database has it: `suspended_at`. */
export const columnName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
