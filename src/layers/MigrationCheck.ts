import { Effect, Schema } from "effect"
import { lookupSql } from "../domain/platform/database/DatabaseRepo.ts"
import { decoding } from "../domain/platform/records/Rows.ts"
import type { Check } from "../http/health/HealthApi.ts"
import { ledgerOf } from "../plugins/kit/install/PluginTables.ts"
import { AppConfig } from "./config/AppConfig.ts"
import { HealthContributors } from "./health/HealthContributors.ts"
import { migrationOwners } from "./modules/Modules.ts"

const numberOf = (name: string): number => Number(name.slice(0, name.indexOf("_")))

const newestOf = (owners: typeof migrationOwners) =>
  owners.flatMap(([owner, migrations]) => {
    const numbers = Object.keys(migrations).map(numberOf)
    return numbers.length === 0 ? [] : [{ owner, newest: Math.max(...numbers) }]
  })

const Reached = Schema.Struct({ owner: Schema.String, reached: Schema.Int })

/**
 * Unhealthy when tables are behind this version: a backup was restored under the running process. Newer tables are
 * fine, as in a rolling deployment.
 */
export const migrationCheck = HealthContributors.add(Effect.gen(function*() {
  const sql = yield* lookupSql
  const { plugins = [] } = (yield* AppConfig).deployment
  const newest = newestOf([...migrationOwners, ...plugins.map(ledgerOf)])
  const ledgers = newest.map(({ owner }) =>
    sql`select ${owner}::text as owner, coalesce(max(migration_id), 0)::int4 as reached from ${
      sql(`${owner}_migrations`)
    }`
  )
  const check = Effect.map(
    decoding(sql, Reached, "unprepared")`${sql.join(" union all ", false)(ledgers)}`,
    (rows): Check => {
      const reached = new Map(rows.map((row) => [row.owner, row.reached]))
      const behind = newest.filter((one) => (reached.get(one.owner) ?? 0) < one.newest).map(({ owner }) => owner)
      return behind.length === 0
        ? { status: "ok" }
        : { status: "failing", message: `The tables of ${behind.join(", ")} are older than this version.` }
    }
  )
  return { name: "migrations", check: Effect.withTracerEnabled(check, false) }
}))
