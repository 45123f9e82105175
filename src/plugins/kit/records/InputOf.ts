import { Schema } from "effect"
import type { ColumnsOf, NewRowOf, Simplify, Table, ValuesOf } from "../tables/Table.ts"

type NameOf<T> = keyof ColumnsOf<T> & string

/** What a body names beside each other. */
type Named<T, Required extends NameOf<T>, Optional extends NameOf<T>> = Simplify<
  & Pick<ValuesOf<T>, Required>
  & { readonly [K in Optional]?: ValuesOf<T>[K] | undefined }
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
 * optional ones; `without` leaves some out.
 */
export function inputOf<T extends Table, const Left extends NameOf<T> = never>(
  table: T,
  options?: { readonly without: ReadonlyArray<Left> }
): Schema.Codec<Simplify<Omit<NewRowOf<T>, "id" | Left>>, unknown>
export function inputOf<
  T extends Table,
  const Required extends NameOf<T> = never,
  const Optional extends NameOf<T> = never
>(
  table: T,
  options: InputNames<Required, Optional>
): Schema.Codec<Named<T, Required, Optional>, unknown>
export function inputOf(
  table: Table,
  options: InputNames<string, string> | { readonly without: ReadonlyArray<string> } = { without: [] }
): Schema.Codec<unknown, unknown> {
  if (!("without" in options)) return inputSchema(table, new Set(options.required), options.optional ?? [])
  const names = Object.keys(table.columns).filter((name) => !options.without.includes(name))
  const required = names.filter((name) => {
    const facts = table.columns[name]?.facts
    return facts?.nullable === false && facts.fallback === undefined
  })
  return inputSchema(table, new Set(required), names.filter((name) => !required.includes(name)))
}
