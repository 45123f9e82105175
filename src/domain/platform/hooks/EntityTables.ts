import { Context, Effect, Layer, Option } from "effect"

/** A table of a plugin with rows about entities of the catalog, as `table` of the kit makes it; an index begins with `entityId`. */
export interface EntityTable {
  readonly name: string
  readonly kind: "organization"
  readonly columns: { readonly entityId: object }
}

/** Entities that statements look for. */
export interface EntitySet {
  /** Unique; among `InTables`. */
  readonly name: string
  /** SQL of whether one of the entities, an array, is in it. */
  readonly has: (organization: string, entityIds: string) => string
}

/** Names of the declared tables and sets that have a row about an entity, or one of several; undefined when that was not read. */
export type InTables = ReadonlyArray<string> | undefined

/**
 * SQL of whether a table has a row of the organization with one of the ids, an array, in the column; both are SQL too. A
 * scalar subquery: on a young table the planner would scan it for a join.
 */
export const hasRow = (table: string, organization: string, column: "entity_id" | "order_id", ids: string): string =>
  `coalesce((select true from ${tableName(table)} a where a.organization_id = ${organization}
    and a.${column} = any(${ids}) limit 1), false)`

/** The entities with a row in the table. */
export const withRowIn = ({ name }: EntityTable): EntitySet => ({
  name: tableName(name),
  has: (organization, entityIds) => hasRow(name, organization, "entity_id", entityIds)
})

export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Names become SQL. */
const tableName = (name: string): string => {
  if (/^[a-z][a-z0-9_]*$/.test(name)) return name
  throw new Error(`"${name}" is no name of a table.`)
}

const emptyTables = () => {
  const sets = new Map<string, EntitySet>()
  return {
    /** Declares one while the process starts. */
    declare: (set: EntitySet): void => void sets.set(set.name, set),
    /**
     * The column `inTables` (`InTables`) for a statement that reads the entities anyway, with a comma before it; empty
     * when no table is declared.
     */
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
 * The tables that hooks and order projections of plugins are limited to (`entitiesIn`, docs/plugins.md). Statements that
 * read entities for an operation read with them who has rows about them: so it costs no statement to find that no plugin is
 * concerned, and no process can remember it wrongly.
 */
export class EntityTables extends Context.Service<EntityTables>()("stoa/domain/platform/hooks/EntityTables", {
  make: Effect.sync(emptyTables)
}) {
  static readonly layer = Layer.effect(EntityTables, EntityTables.make)
}

/** The tables of this process; none if a repository is built alone, as in some tests. */
export const entityTables: Effect.Effect<EntityTables["Service"]> = Effect.map(
  Effect.serviceOption(EntityTables),
  Option.getOrElse(emptyTables)
)
