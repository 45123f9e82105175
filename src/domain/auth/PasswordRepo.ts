import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** All SQL of password hashes beside better-auth's own. */
export class PasswordRepo extends Context.Service<PasswordRepo, {
  /** Puts a hash in the place of an older one of the same password; nothing happens when that is gone meanwhile. */
  readonly renew: (old: string, fresh: string) => Effect.Effect<void>
}>()("stoa/domain/auth/PasswordRepo") {}

/** `PasswordRepo` over the database of the process. */
export const passwordRepoLayer = Layer.effect(
  PasswordRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    PasswordRepo.of({
      // A hash holds a random salt, so it names its row.
      renew: Effect.fn("PasswordRepo.renew")(function*(old: string, fresh: string) {
        yield* sql`update user_accounts set password = ${fresh}, updated_at = now()
          where provider_id = 'credential' and password = ${old}`
      }, Effect.orDie)
    }))
)
