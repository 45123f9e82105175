import type { BetterAuthOptions } from "better-auth"
import { getAuthTables } from "better-auth/db"
import { columnOf } from "../../src/layers/auth/AuthConditions.ts"

/** A column as better-auth wants it. */
export interface WantedColumn {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly unique: boolean
  readonly indexed: boolean
}

type Tables = ReturnType<typeof getAuthTables>
type Field = Tables[string]["fields"][string]

const isOrganization = (tables: Tables, model: string): boolean =>
  model === "organization" || tables["organization"]?.modelName === model

const typeOf = (tables: Tables, { bigint, references, type }: Field): string => {
  if (references?.field === "id") return isOrganization(tables, references.model) ? "text" : "uuid"
  if (type === "number") return bigint === true ? "bigint" : "integer"
  if (type === "boolean") return "boolean"
  return type === "date" ? "timestamp with time zone" : "text"
}

/** The tables that better-auth wants for these options, in the order in which they refer to one another. */
export const wantedTables = (options: BetterAuthOptions) => {
  const tables = getAuthTables(options)
  return Object.entries(tables).toSorted(([, one], [, other]) => (one.order ?? 9) - (other.order ?? 9)).map(
    ([model, { fields, modelName }]) => ({
      name: modelName,
      idType: model === "organization" ? "text" : "uuid",
      columns: Object.entries(fields).map(([key, field]): WantedColumn => ({
        name: columnOf(field.fieldName ?? key),
        type: typeOf(tables, field),
        required: field.required === true,
        unique: field.unique === true,
        indexed: field.index === true
      }))
    })
  )
}
