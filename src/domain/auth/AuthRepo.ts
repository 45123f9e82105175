import { Context, Data, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { randomUUID } from "node:crypto"
import { CurrentActor } from "../platform/access/Actor.ts"
import { decoding } from "../platform/records/Rows.ts"
import { insertRecorded, recordedChange } from "./AuthChangeLogRepo.ts"

const isInUse = (error: unknown): boolean => JSON.stringify(error)?.includes("\"23503\"") === true

const ending = (sql: SqlClient.SqlClient) => {
  const end = (table: "sessions" | "api_keys") =>
    Effect.fn(`AuthRepo.end.${table}`)(function*(userId: string) {
      const owned = table === "sessions" ? sql`user_id = ${userId}::uuid` : sql`reference_id = ${userId}`
      yield* sql`with r as (delete from ${sql(table)} where ${owned} returning *)${
        recordedChange(sql, yield* CurrentActor, table, "deleted")
      } select 1`
    }, Effect.orDie)
  const purge = (table: "sessions" | "verifications") =>
    Effect.fn(`AuthRepo.purge.${table}`)(function*(rows: number) {
      const gone = yield* sql`delete from ${sql(table)} where id = any(array(
        select id from ${sql(table)} where expires_at < now() limit ${rows})) returning 1`
      return gone.length
    }, Effect.orDie)
  return {
    endSessions: end("sessions"),
    endKeys: end("api_keys"),
    purgeSessions: purge("sessions"),
    purgeVerifications: purge("verifications")
  }
}

/** Statements of authentication besides those of better-auth. */
export class AuthRepo extends Context.Service<AuthRepo>()("stoa/domain/auth/AuthRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => ({
    ...ending(sql),
    /** Replaces an older hash of the same password; does nothing when that hash has changed meanwhile. */
    // A hash contains a random salt, so it identifies its row.
    renewPassword: Effect.fn("AuthRepo.renewPassword")(function*(old: string, fresh: string) {
      yield* sql`update user_accounts set password = ${fresh}, updated_at = now()
          where provider_id = 'credential' and password = ${old}`
    }, Effect.orDie),
    /** Uses up the code of an authenticator's period, and all earlier codes; of concurrent calls one returns true. */
    spendCode: Effect.fn("AuthRepo.spendCode")(function*(userId: string, period: number) {
      const rows = yield* sql`update two_factors set last_period = ${period}
          where user_id = ${userId}::uuid and (last_period is null or last_period < ${period}) returning 1`
      return rows.length > 0
    }, Effect.orDie),
    roleOf: Effect.fn("AuthRepo.roleOf")(function*(userId: string, organizationId: string) {
      const rows = yield* decoding(sql, Schema.Struct({ role: Schema.String }))`select role from members
          where organization_id = ${organizationId} and user_id = ${userId}::uuid`
      return rows[0]?.role
    }, Effect.orDie),
    removeEmpty: Effect.fn("AuthRepo.removeEmpty")(function*(organizationId: string) {
      const removal = sql`with r as (delete from organizations where id = ${organizationId} returning *)${
        recordedChange(sql, yield* CurrentActor, "organizations", "deleted")
      } select 1`
      // Behind a savepoint: the transaction continues after a foreign key error.
      const removed = Effect.as(sql.withTransaction(removal), true)
      return yield* Effect.catch(removed, (error) => isInUse(error) ? Effect.succeed(false) : Effect.fail(error))
    }, Effect.orDie)
  }))
}) {
  static readonly layer = Layer.effect(AuthRepo, AuthRepo.make)
}

const Unproven = Schema.Struct({
  email: Schema.String,
  name: Schema.String,
  verified: Schema.Boolean,
  signUpBrowser: Schema.NullOr(Schema.String)
})

export class EmailVerificationRepo
  extends Context.Service<EmailVerificationRepo>()("stoa/domain/auth/EmailVerificationRepo", {
    make: Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { endKeys, endSessions } = yield* AuthRepo

      const startAfresh = Effect.fnUntraced(function*(userId: string, password: string) {
        const actor = yield* CurrentActor
        for (const table of ["user_accounts", "two_factors"]) {
          yield* sql`with r as (delete from ${sql(table)} where user_id = ${userId}::uuid returning *)${
            recordedChange(sql, actor, table, "deleted")
          } select 1`
        }
        yield* endKeys(userId)
        // A pending link to a provider names its user in the stored value.
        yield* sql`delete from verifications where strpos(value, ${userId}) > 0`
        const account = { account_id: userId, provider_id: "credential", user_id: userId, password }
        yield* insertRecorded(sql, actor, "user_accounts", account)
      })

      return {
        find: Effect.fn("EmailVerificationRepo.find")(function*(userId: string) {
          const rows = yield* decoding(sql, Unproven)`select email, name, email_verified as verified,
          sign_up_browser as "signUpBrowser" from users where id = ${userId}::uuid`
          return rows[0]
        }, Effect.orDie),
        /**
         * Verifies an address and ends all sessions, once; false where it was verified. A new password's hash also
         * removes every other way to act as the user.
         */
        verify: Effect.fn("EmailVerificationRepo.verify")(
          function*(userId: string, email: string, newPassword: string | undefined) {
            const actor = yield* CurrentActor
            const afresh = newPassword !== undefined
            const verified = yield* sql`with w as materialized (select * from users where id = ${userId}::uuid
              and email = ${email} and not email_verified for update),
            r as (update users set email_verified = true, sign_up_browser = null, updated_at = now(),
              two_factor_enabled = users.two_factor_enabled and not ${afresh}
              from w where users.id = w.id returning users.*)${
              recordedChange(sql, actor, "users", "updated")
            } select 1 from r`
            if (verified.length === 0) return false
            yield* endSessions(userId)
            if (afresh) yield* startAfresh(userId, newPassword)
            return true
          },
          (work) => sql.withTransaction(work),
          Effect.orDie
        )
      }
    })
  })
{
  static readonly layer = Layer.effect(EmailVerificationRepo, EmailVerificationRepo.make)
}

const hash = `$argon2id$v=19$m=19456,t=2,p=1$${"A".repeat(22)}$${"A".repeat(43)}`

class Undone extends Data.TaggedError("Undone") {}

/**
 * Statements like those of better-auth, for a user who does not exist (`layers/auth/Auth.ts`). The caller's transaction
 * must roll them back.
 */
export class AuthDecoyRepo extends Context.Service<AuthDecoyRepo>()("stoa/domain/auth/AuthDecoyRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const made = (table: string, row: Readonly<Record<string, unknown>>) =>
      Effect.flatMap(CurrentActor, (actor) => insertRecorded(sql, actor, table, row))
    const newAccount = Effect.suspend(() => {
      const id = randomUUID()
      return Effect.andThen(
        made("users", { id, name: "Decoy", email: `${id}@decoy.invalid` }),
        made("user_accounts", { account_id: id, provider_id: "credential", user_id: id, password: hash })
      )
    })
    return {
      account: Effect.suspend(() =>
        Effect.asVoid(sql`select * from user_accounts where user_id = ${randomUUID()}::uuid limit 100`)
      ),
      newAccount: Effect.asVoid(newAccount),
      token: Effect.suspend(() =>
        Effect.asVoid(sql`select * from verifications where identifier = ${randomUUID()} limit 1`)
      ),
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
       * Rolls changes back to a savepoint. The surrounding transaction commits: the database waits for its disk as for
       * a real change.
       */
      undone: (work: Effect.Effect<unknown, SqlError.SqlError, CurrentActor>) => {
        const inner = sql.withTransaction(Effect.andThen(work, Effect.fail(new Undone())))
        return sql.withTransaction(Effect.catchTag(inner, "Undone", () => Effect.void))
      }
    }
  })
}) {
  static readonly layer = Layer.effect(AuthDecoyRepo, AuthDecoyRepo.make)
}
