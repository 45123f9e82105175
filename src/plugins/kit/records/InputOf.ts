import { Schema } from "effect"
import {
  addedTo,
  addedToOrganization,
  type Columns,
  type ColumnsOf,
  type GivenOf,
  schemasOf,
  type SecretsOf,
  type Simplify,
  type Table,
  type ValuesOf
} from "../tables/Table.ts"

type NameOf<T> = keyof ColumnsOf<T> & string

type Sent<T, Name extends NameOf<T>> = Schema.Codec<ValuesOf<T>[Name], unknown>

/** The schema of a body that has to name some columns and may name others. */
export type InputOf<T, Required extends NameOf<T>, Optional extends NameOf<T>> = Schema.Struct<
  Simplify<
    & { readonly [K in Required]: Sent<T, K> }
    & { readonly [K in Optional]: Schema.optional<Sent<T, K>> }
  >
>

/** Columns by how a body names them. */
export interface InputNames<Required extends string, Optional extends string> {
  readonly required?: ReadonlyArray<Required>
  readonly optional?: ReadonlyArray<Optional>
}

const inputSchema = ({ columns, name: table }: Table, required: ReadonlySet<string>, optional: Iterable<string>) => {
  const sent = (name: string) => {
    const column = columns[name]
    if (column === undefined) throw new Error(`Table "${table}" has no column "${name}".`)
    return column.sent
  }
  return Schema.Struct({
    ...Object.fromEntries([...optional].map((name) => [name, Schema.optional(sent(name))])),
    ...Object.fromEntries([...required].map((name) => [name, sent(name)]))
  })
}

/**
 * The schema of a body out of the columns of a table, so that a shape is said once: `inputOf(suppliers, { required:
 * ["name"], optional: ["email"] })`. Without names it has all columns, those with a default or that may be null as
 * optional ones; `without` leaves some out. Its `fields` can be a part of another body.
 */
export function inputOf<T extends Table, const Left extends NameOf<T> = never>(
  table: T,
  options?: { readonly without: ReadonlyArray<Left> }
): InputOf<T, Exclude<GivenOf<T>, Left>, Exclude<NameOf<T>, GivenOf<T> | Left>>
export function inputOf<
  T extends Table,
  const Required extends NameOf<T> = never,
  const Optional extends NameOf<T> = never
>(
  table: T,
  options: InputNames<Required, Optional>
): InputOf<T, Required, Optional>
export function inputOf(
  table: Table,
  options: InputNames<string, string> | { readonly without: ReadonlyArray<string> } = { without: [] }
): Schema.Top {
  if (!("without" in options)) return inputSchema(table, new Set(options.required), options.optional ?? [])
  const names = Object.keys(table.columns).filter((name) => !options.without.includes(name))
  const required = names.filter((name) => {
    const facts = table.columns[name]?.facts
    return facts?.nullable === false && facts.fallback === undefined
  })
  return inputSchema(table, new Set(required), names.filter((name) => !required.includes(name)))
}

/** The fields of `fieldsOf`. */
export type FieldsOf<C extends Columns, Kind> = Simplify<
  & { readonly [K in Exclude<keyof C, SecretsOf<C>>]: C[K]["schema"] }
  & ReturnType<Kind extends "organization" ? typeof addedToOrganization : typeof addedTo>
>

/** The fields of a row as the API shows it, to be a part of another shape: `Schema.Struct({ ...fieldsOf(orders), lines })`. */
export const fieldsOf = <C extends Columns, Kind extends "organization" | "child">(
  { columns, kind, name }: Table<C, Kind>
): FieldsOf<C, Kind> =>
  // The fields are made of the columns that the type is made of.
  Object.assign(kind === "organization" ? addedToOrganization(name) : addedTo(name), schemasOf(columns)) as FieldsOf<
    C,
    Kind
  >
