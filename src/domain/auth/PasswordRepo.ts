import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** All SQL of password hashes besides better-auth's. */
export class PasswordRepo extends Context.Service<PasswordRepo, {
  /** Replaces an older hash of the same password; does nothing when that hash has changed meanwhile. */
  readonly renew: (old: string, fresh: string) => Effect.Effect<void>
}>()("stoa/domain/auth/PasswordRepo") {}

/** `PasswordRepo` over the database of the process. */
export const passwordRepoLayer = Layer.effect(
  PasswordRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    PasswordRepo.of({
      // A hash contains a random salt, so it identifies its row.
      renew: Effect.fn("PasswordRepo.renew")(function*(old: string, fresh: string) {
        yield* sql`update user_accounts set password = ${fresh}, updated_at = now()
          where provider_id = 'credential' and password = ${old}`
      }, Effect.orDie)
    }))
)
