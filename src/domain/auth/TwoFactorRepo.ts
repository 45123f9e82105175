import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** All SQL of second factors beside better-auth's own. */
export class TwoFactorRepo extends Context.Service<TwoFactorRepo, {
  /**
   * Uses up the code of a period of a user's authenticator, and all earlier ones with it. False when that was done before;
   * of several at once one is told true.
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
