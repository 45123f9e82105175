import { type Schema, String } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { decoderOf, decodingBy, plainRows, type Preparation } from "./Rows.ts"

/** The fields of a record's schema; each of them is stored in the column of that name in snake case. */
type Fields = Readonly<Record<string, unknown>>

/** SQL for fields that need more than their column, for example a bigint read as a number. */
type Expressions = Readonly<Record<string, string | undefined>>

/** The column of a field, of `row` if it is named. */
export const columnOf = (row: string | undefined, field: string) =>
  `${row === undefined ? "" : `${row}.`}${String.camelToSnake(field)}`

/** The select list that reads a record: columns of `row`, named like the fields. */
export const columnsOf = (fields: Fields, row?: string, expressions: Expressions = {}): string =>
  Object.keys(fields).map((field) => `${expressions[field] ?? columnOf(row, field)} as "${field}"`).join(", ")

const pairsOf = (fields: Fields, row: string, expressions: Expressions): string =>
  Object.keys(fields).map((field) => `'${field}', ${expressions[field] ?? columnOf(row, field)}`).join(", ")

/** The record of a row as `jsonb`, as the API shows it. */
export const jsonOf = (fields: Fields, row: string, expressions: Expressions = {}): string =>
  `jsonb_build_object(${pairsOf(fields, row, expressions)})`

/** The same as `json`, which is made faster and keeps the order of the fields: for files, and for what is only read. */
export const orderedJsonOf = (fields: Fields, row: string, expressions: Expressions = {}): string =>
  `json_build_object(${pairsOf(fields, row, expressions)})`

/** A schema that names its fields: a `Schema.Struct`. */
type RecordSchema<A> = Schema.Codec<A, unknown> & { readonly fields: Readonly<Record<string, Schema.Top>> }

type Cell<Sql> = readonly [field: string, sql: Sql | undefined]

const namesOf = (cells: ReadonlyArray<Cell<unknown>>) => cells.map(([field]) => String.camelToSnake(field)).join(", ")

const insertOf = (cells: ReadonlyArray<Cell<string>>) =>
  `(${namesOf(cells)}) select ${cells.map(([, cell]) => cell).join(", ")}`

/** A value for each column that an insert writes; `Unset` fields may be left out. */
type Values<A extends object, Unset extends keyof A, Sql> =
  & { readonly [Field in Exclude<keyof A, Unset>]: Sql }
  & { readonly [Field in Unset]?: Sql }

/** How fields of a table differ from plain columns. */
interface TableOptions<A extends object, Unset extends keyof A> {
  /** Types that stored fields are read as: a `numeric` as `float8`, which is a number. */
  readonly casts?: { readonly [Field in keyof A]?: string }
  /** SQL of fields that are computed and not stored. */
  readonly computed?: { readonly [Field in Unset]?: string }
  /** Fields whose columns have a default, or stay empty, when a row is inserted. */
  readonly unset?: ReadonlyArray<Unset>
}

/**
 * A table that keeps records of a schema: each field in the column of that name in snake case. Select lists, inserts and
 * the types of rows come from the schema, so a field is said once, and its column in a migration. A test compares the
 * fields of every table with the columns of the database.
 */
export class Table<A extends object, Unset extends keyof A = never> {
  readonly name: string
  readonly schema: RecordSchema<A>
  /** Types that stored fields are read as. */
  readonly casts: Expressions
  /** SQL of fields that are computed and not stored. */
  readonly computed: Expressions
  /** The columns, for `insert into … (…)` and `update … set (…)`. */
  readonly names: string

  /** Fields that an insert writes. */
  readonly #inserted: ReadonlyArray<string>
  readonly #decode: (rows: unknown) => ReadonlyArray<A>

  constructor(
    name: string,
    schema: RecordSchema<A>,
    { casts = {}, computed = {}, unset = [] }: TableOptions<A, Unset> = {}
  ) {
    this.name = name
    this.schema = schema
    this.computed = computed
    this.casts = casts
    this.#decode = decoderOf(schema)
    const stored = Object.keys(schema.fields).filter((field) => !(field in computed))
    const isUnset = new Set<PropertyKey>(unset)
    this.#inserted = stored.filter((field) => !isUnset.has(field))
    this.names = stored.map(String.camelToSnake).join(", ")
  }

  /** The select list that reads a record of `row`, or `only` some of its fields. */
  columns(row?: string, only?: ReadonlyArray<keyof A>): string {
    const casts = Object.entries(this.casts).map(([field, type]) => [field, `${columnOf(row, field)}::${type}`])
    const named = only && new Set<PropertyKey>(only)
    const fields = Object.entries(this.schema.fields).filter(([field]) => named?.has(field) ?? true)
    return columnsOf(Object.fromEntries(fields), row, { ...Object.fromEntries(casts), ...this.computed })
  }

  /** The assignments that copy these fields from `row`, for `update … set` and `on conflict … do update set`. */
  sets(row: string, fields: ReadonlyArray<keyof A & string>): string {
    return fields.map((field) => `${columnOf(undefined, field)} = ${columnOf(row, field)}`).join(", ")
  }

  /** SQL of a record of `row` as JSON. */
  json(row: string, of = jsonOf): string {
    return of(this.schema.fields, row, this.computed)
  }

  /** SQL of the row of a record that an SQL text has as JSON. */
  row(json: string): string {
    const pairs = this.#inserted.map((field) => `'${String.camelToSnake(field)}', ${json}->'${field}'`)
    return `jsonb_populate_record(null::${this.name}, jsonb_build_object(${pairs.join(", ")}))`
  }

  /** `(…) select …` of an insert: the columns of these fields and an SQL text for each. */
  insertion(values: Values<A, Unset, string>): string {
    return insertOf(Object.entries<string | undefined>(values))
  }

  /** The same for an insert that copies `row`, except for these values. */
  copy(row: string, values: { readonly [Field in keyof A]?: string } = {}): string {
    const copied = this.#inserted.filter((field) => !(field in values)).map((field) =>
      [field, columnOf(row, field)] as const
    )
    return insertOf([...copied, ...Object.entries<string | undefined>(values)])
  }

  /** The same as `insertion`, with parameters in the values. */
  insert(sql: SqlClient.SqlClient, values: Values<A, Unset, string | Statement.Fragment>): Statement.Fragment {
    const cells = Object.entries<string | Statement.Fragment | undefined>(values)
    return sql`(${sql.literal(namesOf(cells))}) select ${sql.csv(cells.map(([, cell]) => cell ?? "null"))}`
  }

  /** The records of rows that have more columns beside. */
  readonly decode = (rows: ReadonlyArray<Record<string, unknown>>): ReadonlyArray<A> => this.#decode(plainRows(rows))

  /** A template for statements that return complete records. */
  rows(sql: SqlClient.SqlClient, preparation?: Preparation) {
    return decodingBy(sql, this.#decode, preparation)
  }

  /** A `select` of these records: one parameter for any number, whose values PostgreSQL converts to the columns' types. */
  values(sql: SqlClient.SqlClient, records: ReadonlyArray<A>): Statement.Fragment {
    const rows = records.map((record) =>
      Object.fromEntries(Object.entries(record).map(([field, value]) => [String.camelToSnake(field), value]))
    )
    return sql`select ${sql.literal(this.names)}
      from jsonb_populate_recordset(null::${sql(this.name)}, ${JSON.stringify(rows)}::jsonb)`
  }
}
