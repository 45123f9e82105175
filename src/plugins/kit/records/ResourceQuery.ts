import { Schema, SchemaGetter } from "effect"
import { wholeNumber } from "../../../domain/platform/hints/Hints.ts"
import { Uuid } from "../../../domain/platform/ids/Id.ts"
import { FreeText, ShortText, Text } from "../../../domain/platform/text/Storable.ts"
import { Moment } from "../../../domain/platform/text/Time.ts"
import type { QueryFields } from "../routes/RouteShape.ts"
import type { Facts } from "../tables/Column.ts"
import { date, decimal, timeOfDay } from "../tables/ColumnKinds.ts"
import type { ColumnsOf, RowOf, Table } from "../tables/Table.ts"
import { columnFacts } from "../tables/TableRowsRepo.ts"
import type { Where } from "../tables/TableWhereRepo.ts"

/** Names of the columns that a list can be filtered by: all but JSON and secrets. */
export type FilterOf<T> = keyof ColumnsOf<T> & keyof RowOf<T> & string

/** Names of the columns of texts. */
export type SearchOf<T> = {
  [K in FilterOf<T>]: NonNullable<RowOf<T>[K]> extends string ? K : never
}[FilterOf<T>]

const Flag = Schema.Literals(["true", "false"]).pipe(
  Schema.decodeTo(Schema.Boolean, {
    decode: SchemaGetter.transform((text) => text === "true"),
    encode: SchemaGetter.transform((value) => value ? "true" as const : "false" as const)
  })
)

/** A value of the column, or an entry of its list, as a text of the query. */
const valueSchema = ({ among, bounds, digits, form, kind }: Facts): Schema.Codec<unknown, string> | undefined => {
  if (among !== undefined) return Schema.Literals(among)
  switch (kind) {
    case "bool":
      return Flag
    case "int4":
    case "int8":
      return wholeNumber(...bounds ?? [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER])
    case "uuid":
      return Uuid
    case "timestamptz":
      return Moment
    case "date":
      return Schema.String.check(Schema.makeFilter(Schema.is(date.schema)))
    case "numeric":
      return digits === undefined ? undefined : FreeText.check(Schema.makeFilter(Schema.is(decimal(...digits).schema)))
    case "text":
      return form === undefined ? Text : FreeText.check(Schema.makeFilter(Schema.is(timeOfDay.schema)))
    case "jsonb":
      return undefined
  }
}

/** The query of a list: a parameter for each filter, and `search`. */
export const listQuery = (table: Table, filters: ReadonlyArray<string>, search: ReadonlyArray<string>): QueryFields => {
  const named = filters.map((name) => {
    const facts = columnFacts(table, name)
    const value = facts.isSecret ? undefined : valueSchema(facts)
    if (value === undefined) throw new Error(`Table "${table.name}" cannot be filtered by "${name}".`)
    const description = facts.isList ? `Only rows whose ${name} has this entry.` : `Only rows of this ${name}.`
    return [name, Schema.optional(value.pipe(Schema.annotateEncoded({ description })))] as const
  })
  const description = `Only rows with this text in ${search.join(" or ")}, in capitals or not.`
  return {
    ...Object.fromEntries(named),
    ...(search.length === 0 ? {} : { search: Schema.optional(ShortText.annotate({ description })) })
  }
}

/** The rows that a query means. */
export const listWhere = <T extends Table>(
  table: T,
  filters: ReadonlyArray<string>,
  search: ReadonlyArray<string>,
  query: Readonly<Record<string, unknown>>
): Where<T> => {
  const where: Record<string, unknown> = Object.fromEntries(
    filters.filter((name) => query[name] !== undefined).map((name) =>
      [name, columnFacts(table, name).isList ? { has: query[name] } : query[name]] as const
    )
  )
  const text = query["search"]
  const isSearch = search.length > 0 && typeof text === "string" && text !== ""
  // The names are columns of the table, by the types of the filters.
  return (isSearch ? { ...where, or: search.map((name) => ({ [name]: { contains: text } })) } : where) as Where<T>
}
