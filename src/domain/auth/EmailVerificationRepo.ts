import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { insertRecorded, recordedChange } from "./AuthChangeLogRepo.ts"
import { AuthRepo } from "./AuthRepo.ts"

/** A user whose address may be verified. */
export interface Unproven {
  readonly email: string
  readonly name: string
  readonly verified: boolean
  /** Digest of the nonce of the browser that signed up; null without a browser, or once it is used. */
  readonly signUpBrowser: string | null
}

/** All SQL of address verification. */
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
          const rows = yield* sql<Unproven>`select email, name, email_verified as verified,
          sign_up_browser as "signUpBrowser" from users where id = ${userId}::uuid`
          return rows[0]
        }, Effect.orDie),
        /**
         * Marks an address as verified and ends all sessions, once; false where it was verified. With the hash of a new
         * password it also removes every other way to act as the user: passwords, linked accounts, second factors, keys
         * and pending verifications.
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
{}

/** `EmailVerificationRepo` over the database of the process. */
export const emailVerificationRepoLayer = Layer.effect(EmailVerificationRepo, EmailVerificationRepo.make)
