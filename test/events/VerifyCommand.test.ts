import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { JournalPurgeRepo, journalPurgeRepoLayer } from "../../src/domain/events/JournalPurgeRepo.ts"
import { RelayRepo, relayRepoLayer } from "../../src/domain/events/RelayRepo.ts"
import { onDatabase } from "../support/Audit.ts"
import { stoa } from "../support/Command.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { writeEntries } from "./Journal.ts"

/** Runs `audit verify` on a database; its exit code and what it wrote. */
const verify = (databaseUrl: string) => stoa(["audit", "verify"], { DATABASE_URL: databaseUrl })

describe("audit verify", () => {
  it.live(
    "ends with 0 while what is kept of the journal is what was written, and with 1 and a clear line when it is not",
    () =>
      Effect.gen(function*() {
        const { url } = yield* freshDatabase
        yield* onDatabase(url, (sql) =>
          Effect.gen(function*() {
            yield* writeEntries(4)
            yield* Effect.andThen(
              Effect.flatMap(RelayRepo, ({ seal }) => seal({ entries: 10, bytes: 1_000_000 }, () => Effect.void)),
              // What is left after a purge holds by itself.
              Effect.flatMap(JournalPurgeRepo, ({ purge }) => purge(1, 0))
            ).pipe(Effect.provide(Layer.provide(
              Layer.merge(relayRepoLayer, journalPurgeRepoLayer),
              Layer.succeed(SqlClient.SqlClient, sql)
            )))
          }).pipe(Effect.provideService(SqlClient.SqlClient, sql)))
        const whole = yield* verify(url)
        assert.strictEqual(whole.code, 0, whole.output)
        assert.match(
          whole.output,
          /org_default: 3 entries up to position 4 are as they were written, last hash [0-9a-f]{64}/
        )
        yield* onDatabase(url, (sql) =>
          sql.withTransaction(Effect.andThen(
            sql`set local session_replication_role = replica`,
            sql`update journal_entries set payload = '{}' where position = 3`
          )))
        const broken = yield* verify(url)
        assert.strictEqual(broken.code, 1, broken.output)
        assert.match(broken.output, /org_default: BROKEN, position 3 \(entry [0-9a-f-]{36}\) is not what was written/)
      }),
    60_000
  )
})
