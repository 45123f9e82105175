import { Context, Data, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { randomUUID } from "node:crypto"
import { CurrentActor } from "../access/Actor.ts"
import { insertRecorded } from "./AuthChangeLogRepo.ts"

/** The length of a password hash. */
const hash = `$argon2id$v=19$m=19456,t=2,p=1$${"A".repeat(22)}$${"A".repeat(43)}`

/** Rolls back the changes. */
class Undone extends Data.TaggedError("Undone") {}

/**
 * Statements like those of better-auth, for a user who does not exist (`layers/auth/Decoys.ts`). They join the caller's
 * transaction, which must roll them back.
 */
export class AuthDecoyRepo extends Context.Service<AuthDecoyRepo>()("stoa/domain/auth/AuthDecoyRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const made = (table: string, row: Readonly<Record<string, unknown>>) =>
      Effect.flatMap(CurrentActor, (actor) => insertRecorded(sql, actor, table, row))
    /** Writes a user and their password. */
    const newAccount = Effect.suspend(() => {
      const id = randomUUID()
      return Effect.andThen(
        made("users", { id, name: "Decoy", email: `${id}@decoy.invalid` }),
        made("user_accounts", { account_id: id, provider_id: "credential", user_id: id, password: hash })
      )
    })
    return {
      /** Looks up the accounts of a user. */
      account: Effect.suspend(() =>
        Effect.asVoid(sql`select * from user_accounts where user_id = ${randomUUID()}::uuid limit 100`)
      ),
      newAccount: Effect.asVoid(newAccount),
      /** Looks up a link's token. */
      token: Effect.suspend(() =>
        Effect.asVoid(sql`select * from verifications where identifier = ${randomUUID()} limit 1`)
      ),
      /** Writes a link's token. */
      newToken: Effect.suspend(() =>
        Effect.asVoid(
          made("verifications", {
            identifier: randomUUID(),
            value: randomUUID(),
            expires_at: new Date(4_102_444_800_000)
          })
        )
      ),
      /**
       * Runs changes and rolls them back to a savepoint. The surrounding transaction commits, so that the database
       * waits for its disk as for a real change.
       */
      undone: (work: Effect.Effect<unknown, SqlError.SqlError, CurrentActor>) => {
        const inner = sql.withTransaction(Effect.andThen(work, Effect.fail(new Undone())))
        return sql.withTransaction(Effect.catchTag(inner, "Undone", () => Effect.void))
      }
    }
  })
}) {}

/** `AuthDecoyRepo` over the database of the process. */
export const authDecoyRepoLayer = Layer.effect(AuthDecoyRepo, AuthDecoyRepo.make)
