import { randomUUID } from "node:crypto"
import type { AnyColumn } from "../tables/Column.ts"
import { knownTrigger } from "../tables/KnownRecordsRepo.ts"
import { columnName, type Table } from "../tables/Table.ts"
import type { PluginTestApp } from "./PluginTestApp.ts"

/** Values that the rows of a test need beside those that fit the columns: for conditions that only the plugin knows. */
export type SampleRows = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** A value that fits a column; ids of rows it refers to come from those that were made before. */
const valueOf = ({ facts }: AnyColumn, made: ReadonlyMap<string, string>): unknown => {
  if (facts.reference !== undefined) return made.get(facts.reference.table) ?? null
  if (facts.isList) return []
  if (facts.among !== undefined) return facts.among[0]
  if (facts.form !== undefined) return "09:30"
  switch (facts.kind) {
    case "text":
      return `sample ${randomUUID()}`
    case "int4":
    case "int8":
      return String(facts.bounds?.[0] ?? 1)
    case "bool":
      return false
    case "uuid":
      return randomUUID()
    case "numeric":
      return "0"
    case "date":
      return new Date().toISOString().slice(0, 10)
    case "timestamptz":
      return new Date().toISOString()
    case "jsonb":
      return "{}"
  }
}

const isNeeded = ({ facts }: AnyColumn): boolean => !facts.nullable && facts.fallback === undefined

/** Writes a row into every table of the plugins, for an organization; gives their ids by table. */
export const sampleRows = async (
  { db, plugins }: Pick<PluginTestApp, "db" | "plugins">,
  organizationId: string,
  given: SampleRows
): Promise<ReadonlyMap<string, string>> => {
  await db.query("insert into organizations (id, slug, name) values ($1, $1, $1) on conflict do nothing", [
    organizationId
  ])
  const made = new Map<string, string>()
  for (const table of plugins.flatMap(({ tables }) => tables)) {
    const own = Object.entries(table.columns).filter(([, column]) => isNeeded(column)).map(([name, column]) =>
      [name, valueOf(column, made)] as const
    )
    const id = randomUUID()
    const row = { id, ...organizationOf(table, organizationId), ...Object.fromEntries(own), ...given[table.name] }
    const names = Object.keys(row)
    // Its records of the core do not exist.
    const trigger = knownTrigger(table)
    const known = (word: "disable" | "enable") =>
      trigger === undefined ? undefined : db.query(`alter table ${table.name} ${word} trigger ${trigger}`)
    await known("disable")
    await db.query(
      `insert into ${table.name} (${names.map(columnName).join(", ")})
        values (${names.map((_, n) => `$${n + 1}`).join(", ")})`,
      Object.values(row)
    )
    await known("enable")
    made.set(table.name, id)
  }
  return made
}

const organizationOf = ({ kind }: Table, organizationId: string) => kind === "organization" ? { organizationId } : {}
