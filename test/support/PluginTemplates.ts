import { PgClient } from "@effect/sql-pg"
import { inject } from "@effect/vitest"
import { Effect, Redacted, type Scope } from "effect"
import { createHash } from "node:crypto"
import { inspect } from "node:util"
import { migratePlugins } from "../../src/plugins/kit/install/PluginTables.ts"
import type { Plugin } from "../../src/plugins/kit/Plugin.ts"
import { copyOf, type FreshDatabase, freshDatabase, makeDatabase } from "./Postgres.ts"

/** Fewer tables are made as fast as a template is. */
const worthwhile = 10

const made = new Map<string, Promise<string>>()

const recorded = new WeakMap<object, string>()

/** What a table or a list of migrations says, in short; in full it has megabytes, and the next file brings the same one. */
const digestOf = (part: object): string => {
  const digest = recorded.get(part) ?? createHash("sha256").update(inspect(part, { depth: null })).digest("hex")
  recorded.set(part, digest)
  return digest
}

const keyOf = (plugins: ReadonlyArray<Plugin>): string => {
  const said = plugins.map(({ id, migrations, tables }) => [id, digestOf(migrations), tables.map(digestOf)])
  return createHash("sha256").update(JSON.stringify(said)).digest("hex").slice(0, 12)
}

const make = async (name: string, plugins: ReadonlyArray<Plugin>): Promise<string> => {
  const { url } = await Effect.runPromise(makeDatabase(name))
  await Effect.runPromise(Effect.provide(migratePlugins(plugins), PgClient.layer({ url: Redacted.make(url) })))
  return name
}

/**
 * A copy of a database in which these plugins have their tables, which each process makes once: a hundred statements and
 * more for the marketplace, before each file of its tests otherwise. How tables come into being is for tests of installing.
 */
export const freshDatabaseWith = (
  plugins: ReadonlyArray<Plugin>
): Effect.Effect<FreshDatabase, never, Scope.Scope> =>
  plugins.reduce((sum, { tables }) => sum + tables.length, 0) < worthwhile
    ? freshDatabase
    : Effect.flatMap(
      Effect.promise(() => {
        const key = keyOf(plugins)
        const template = made.get(key) ?? make(`${inject("postgres").template}_${process.pid}_${key}`, plugins)
        made.set(key, template)
        return template
      }),
      copyOf
    )
