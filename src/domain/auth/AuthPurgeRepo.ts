import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** Deletes expired rows of authentication in batches; each method returns how many. */
export class AuthPurgeRepo extends Context.Service<AuthPurgeRepo, {
  /** Expired sessions. */
  readonly purgeSessions: (rows: number) => Effect.Effect<number>
  /** Expired links, codes and challenges. */
  readonly purgeVerifications: (rows: number) => Effect.Effect<number>
}>()("stoa/domain/auth/AuthPurgeRepo") {}

/** `AuthPurgeRepo` over the database of the process. */
export const authPurgeRepoLayer = Layer.effect(
  AuthPurgeRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const purge = (table: string) =>
      Effect.fn(`AuthPurgeRepo.${table}`)(function*(rows: number) {
        const gone = yield* sql`delete from ${sql(table)} where id = any(array(
          select id from ${sql(table)} where expires_at < now() limit ${rows})) returning 1`
        return gone.length
      }, Effect.orDie)
    return AuthPurgeRepo.of({ purgeSessions: purge("sessions"), purgeVerifications: purge("verifications") })
  })
)
