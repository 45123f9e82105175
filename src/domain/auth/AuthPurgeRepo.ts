import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** Removes what authentication left behind, some rows at a time; each gives how many. */
export class AuthPurgeRepo extends Context.Service<AuthPurgeRepo, {
  /** Sessions that have run out. */
  readonly purgeSessions: (rows: number) => Effect.Effect<number>
  /** Links, codes and challenges that have run out. */
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
