import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { recordedChange } from "./AuthChangeLogRepo.ts"

/** All SQL of keys that users made for themselves, beside better-auth's own and the verification of credentials. */
export class OwnKeyRepo extends Context.Service<OwnKeyRepo, {
  /**
   * Deletes all keys of a user: they open nothing any more, in any process (a trigger tells them). Each has its entry in
   * the change log; repeating it changes nothing.
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
