import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { recordedChange } from "./AuthChangeLogRepo.ts"

/** All SQL of users' API keys, besides better-auth's and the verification of credentials. */
export class OwnKeyRepo extends Context.Service<OwnKeyRepo, {
  /**
   * Deletes all keys of a user, with a change log entry for each; a trigger invalidates them in every process.
   * Idempotent.
   */
  readonly endAll: (userId: string) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/auth/OwnKeyRepo") {}

/** `OwnKeyRepo` over the database of the process. */
export const ownKeyRepoLayer = Layer.effect(
  OwnKeyRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    OwnKeyRepo.of({
      endAll: Effect.fn("OwnKeyRepo.endAll")(function*(userId: string) {
        const actor = yield* CurrentActor
        yield* sql`with r as (delete from api_keys where reference_id = ${userId} returning *)${
          recordedChange(sql, actor, "api_keys", "deleted")
        } select 1`
      }, Effect.orDie)
    }))
)
