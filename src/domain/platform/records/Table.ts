import { type Schema, String } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { decoderOf, decodingBy, plainRows, type Preparation } from "./Rows.ts"

type Fields = Readonly<Record<string, unknown>>

type Expressions = Readonly<Record<string, string | undefined>>

export const columnOf = (row: string | undefined, field: string) =>
  `${row === undefined ? "" : `${row}.`}${String.camelToSnake(field)}`

/** Select list of a record: columns of `row`, named like the fields. */
export const columnsOf = (fields: Fields, row?: string, expressions: Expressions = {}): string =>
  Object.keys(fields).map((field) => `${expressions[field] ?? columnOf(row, field)} as "${field}"`).join(", ")

const pairsOf = (fields: Fields, row: string, expressions: Expressions): string =>
  Object.keys(fields).map((field) => `'${field}', ${expressions[field] ?? columnOf(row, field)}`).join(", ")

export const jsonOf = (fields: Fields, row: string, expressions: Expressions = {}): string =>
  `jsonb_build_object(${pairsOf(fields, row, expressions)})`

/** The record as `json`: faster, in the order of the fields. */
export const orderedJsonOf = (fields: Fields, row: string, expressions: Expressions = {}): string =>
  `json_build_object(${pairsOf(fields, row, expressions)})`

type RecordSchema<A> = Schema.Codec<A, unknown> & { readonly fields: Readonly<Record<string, Schema.Top>> }

type Cell<Sql> = readonly [field: string, sql: Sql | undefined]

const namesOf = (cells: ReadonlyArray<Cell<unknown>>) => cells.map(([field]) => String.camelToSnake(field)).join(", ")

const insertOf = (cells: ReadonlyArray<Cell<string>>) =>
  `(${namesOf(cells)}) select ${cells.map(([, cell]) => cell).join(", ")}`

/** A value for each inserted column; `Unset` fields may be left out. */
type Values<A extends object, Unset extends keyof A, Sql> =
  & { readonly [Field in Exclude<keyof A, Unset>]: Sql }
  & { readonly [Field in Unset]?: Sql }

interface TableOptions<A extends object, Unset extends keyof A> {
  /** Types to read fields as: `float8` makes a `numeric` a number. */
  readonly casts?: { readonly [Field in keyof A]?: string }
  readonly computed?: { readonly [Field in Unset]?: string }
  /** What reads a stored field. */
  readonly reads?: { readonly [Field in keyof A]?: string }
  /** Have a default, or stay empty, in new rows. */
  readonly unset?: ReadonlyArray<Unset>
}

/**
 * Keeps records of a schema, each field in the column of its name in snake case. Select lists, inserts and row types
 * come from the schema. A test compares every table with the database.
 */
export class Table<A extends object, Unset extends keyof A = never> {
  readonly name: string
  readonly schema: RecordSchema<A>
  readonly casts: Expressions
  readonly computed: Expressions
  readonly names: string

  readonly #inserted: ReadonlyArray<string>
  readonly #stored: ReadonlySet<string>
  readonly #decode: (rows: unknown) => ReadonlyArray<A>

  constructor(
    name: string,
    schema: RecordSchema<A>,
    { casts = {}, computed = {}, reads = {}, unset = [] }: TableOptions<A, Unset> = {}
  ) {
    this.name = name
    this.schema = schema
    this.computed = { ...reads, ...computed }
    this.casts = casts
    this.#decode = decoderOf(schema)
    const stored = Object.keys(schema.fields).filter((field) => !(field in computed))
    const isUnset = new Set<PropertyKey>(unset)
    this.#inserted = stored.filter((field) => !isUnset.has(field))
    this.#stored = new Set(stored)
    this.names = stored.map(String.camelToSnake).join(", ")
  }

  columns(row?: string, only?: ReadonlyArray<keyof A>): string {
    const casts = Object.entries(this.casts).map(([field, type]) => [field, `${columnOf(row, field)}::${type}`])
    const named = only && new Set<PropertyKey>(only)
    const fields = Object.entries(this.schema.fields).filter(([field]) => named?.has(field) ?? true)
    return columnsOf(Object.fromEntries(fields), row, { ...Object.fromEntries(casts), ...this.computed })
  }

  sets(row: string, fields: ReadonlyArray<keyof A & string>): string {
    return fields.map((field) => `${columnOf(undefined, field)} = ${columnOf(row, field)}`).join(", ")
  }

  json(row: string, of = jsonOf): string {
    return of(this.schema.fields, row, this.computed)
  }

  /** SQL of a row from the JSON of a record. */
  row(json: string): string {
    const pairs = this.#inserted.map((field) => `'${String.camelToSnake(field)}', ${json}->'${field}'`)
    return `jsonb_populate_record(null::${this.name}, jsonb_build_object(${pairs.join(", ")}))`
  }

  /** `(…) select …` of an insert, with an SQL text for each field. */
  insertion(values: Values<A, Unset, string>): string {
    return insertOf(Object.entries<string | undefined>(values))
  }

  copy(row: string, values: { readonly [Field in keyof A]?: string } = {}): string {
    const copied = this.#inserted.filter((field) => !(field in values)).map((field) =>
      [field, columnOf(row, field)] as const
    )
    return insertOf([...copied, ...Object.entries<string | undefined>(values)])
  }

  insert(sql: SqlClient.SqlClient, values: Values<A, Unset, string | Statement.Fragment>): Statement.Fragment {
    const cells = Object.entries<string | Statement.Fragment | undefined>(values)
    return sql`(${sql.literal(namesOf(cells))}) select ${sql.csv(cells.map(([, cell]) => cell ?? "null"))}`
  }

  readonly decode = (rows: ReadonlyArray<Record<string, unknown>>): ReadonlyArray<A> => this.#decode(plainRows(rows))

  rows(sql: SqlClient.SqlClient, preparation?: Preparation) {
    return decodingBy(sql, this.#decode, preparation)
  }

  /** A `select` of these records with one parameter for any number. */
  values(sql: SqlClient.SqlClient, records: ReadonlyArray<A>): Statement.Fragment {
    const rows = records.map((record) =>
      Object.fromEntries(
        Object.entries(record).flatMap(([field, value]) =>
          this.#stored.has(field) ? [[String.camelToSnake(field), value]] : []
        )
      )
    )
    return sql`select ${sql.literal(this.names)}
      from jsonb_populate_recordset(null::${sql(this.name)}, ${JSON.stringify(rows)}::jsonb)`
  }
}
