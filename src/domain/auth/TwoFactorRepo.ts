import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** All SQL of second factors besides better-auth's. */
export class TwoFactorRepo extends Context.Service<TwoFactorRepo, {
  /**
   * Uses up the code of an authenticator's period, and all earlier codes. False when it was used before; of several
   * concurrent calls one returns true.
   */
  readonly spend: (userId: string, period: number) => Effect.Effect<boolean>
}>()("stoa/domain/auth/TwoFactorRepo") {}

/** `TwoFactorRepo` over the database of the process. */
export const twoFactorRepoLayer = Layer.effect(
  TwoFactorRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    TwoFactorRepo.of({
      spend: Effect.fn("TwoFactorRepo.spend")(function*(userId: string, period: number) {
        const rows = yield* sql`update two_factors set last_period = ${period}
          where user_id = ${userId}::uuid and (last_period is null or last_period < ${period}) returning 1`
        return rows.length > 0
      }, Effect.orDie)
    }))
)
