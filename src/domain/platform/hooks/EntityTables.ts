import { Context, Effect, Layer, Option } from "effect"

/** A plugin's table about catalog entities, made by `table` of the kit; an index begins with `entityId`. */
export interface EntityTable {
  readonly name: string
  readonly kind: "organization"
  readonly columns: { readonly entityId: object }
}

export interface EntitySet {
  readonly name: string
  readonly has: (organization: string, entityIds: string) => string
}

/** Tables and sets with a row about one of the entities; undefined when not read. */
export type InTables = ReadonlyArray<string> | undefined

/**
 * SQL: the table has a row of the organization with one of the ids. A scalar subquery: on a young table the planner
 * would scan it for a join.
 */
export const hasRow = (table: string, organization: string, column: "entity_id" | "order_id", ids: string): string =>
  `coalesce((select true from ${tableName(table)} a where a.organization_id = ${organization}
    and a.${column} = any(${ids}) limit 1), false)`

export const withRowIn = ({ name }: EntityTable): EntitySet => ({
  name: tableName(name),
  has: (organization, entityIds) => hasRow(name, organization, "entity_id", entityIds)
})

export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** The name becomes SQL. */
const tableName = (name: string): string => {
  if (/^[a-z][a-z0-9_]*$/.test(name)) return name
  throw new Error(`"${name}" is no name of a table.`)
}

const emptyTables = () => {
  const sets = new Map<string, EntitySet>()
  return {
    declare: (set: EntitySet): void => void sets.set(set.name, set),
    /** Column `inTables` with a comma before it; empty when no table is declared. */
    column: (organization: string, entityIds: string): string =>
      sets.size === 0 ?
        "" :
        `, array_remove(array[${
          [...sets.values()].map(({ has, name }) =>
            `case when ${has(organization, entityIds)} then ${quoted(name)} end`
          ).join(", ")
        }], null) as "inTables"`
  }
}

/**
 * Tables that limit hooks and order projections (`entitiesIn`, docs/plugins.md). Statements that read entities read
 * these names with them: no extra statement, and nothing stale.
 */
export class EntityTables extends Context.Service<EntityTables>()("stoa/domain/platform/hooks/EntityTables", {
  make: Effect.sync(emptyTables)
}) {
  static readonly layer = Layer.effect(EntityTables, EntityTables.make)
}

export const entityTables: Effect.Effect<EntityTables["Service"]> = Effect.map(
  Effect.serviceOption(EntityTables),
  Option.getOrElse(emptyTables)
)
