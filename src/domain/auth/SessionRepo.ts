import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** All SQL of sessions beside better-auth's own and the verification of credentials. */
export class SessionRepo extends Context.Service<SessionRepo, {
  /** Ends all sessions of a user, in every process (a trigger tells them); repeating it changes nothing. */
  readonly endAll: (userId: string) => Effect.Effect<void>
}>()("stoa/domain/auth/SessionRepo") {}

/** `SessionRepo` over the database of the process. */
export const sessionRepoLayer = Layer.effect(
  SessionRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    SessionRepo.of({
      endAll: Effect.fn("SessionRepo.endAll")(function*(userId: string) {
        yield* sql`delete from sessions where user_id = ${userId}::uuid`
      }, Effect.orDie)
    }))
)
