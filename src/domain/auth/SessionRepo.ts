import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { recordedChange } from "./AuthChangeLogRepo.ts"

/** All SQL of sessions besides better-auth's and the verification of credentials. */
export class SessionRepo extends Context.Service<SessionRepo, {
  /**
   * Ends all sessions of a user, with a change log entry for each; a trigger invalidates them in every process.
   * Idempotent.
   */
  readonly endAll: (userId: string) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/auth/SessionRepo") {}

/** `SessionRepo` over the database of the process. */
export const sessionRepoLayer = Layer.effect(
  SessionRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    SessionRepo.of({
      endAll: Effect.fn("SessionRepo.endAll")(function*(userId: string) {
        const actor = yield* CurrentActor
        yield* sql`with r as (delete from sessions where user_id = ${userId}::uuid returning *)${
          recordedChange(sql, actor, "sessions", "deleted")
        } select 1`
      }, Effect.orDie)
    }))
)
