import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { recordedChange } from "./AuthChangeLogRepo.ts"

/** Rows of a store still reference it. */
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
    /**
     * Ends all sessions of a user, with a change log entry for each; a trigger invalidates them in every process.
     * Idempotent.
     */
    endSessions: end("sessions"),
    /** Deletes all API keys of a user in the same way. */
    endKeys: end("api_keys"),
    /** Deletes expired sessions in a batch; returns how many. */
    purgeSessions: purge("sessions"),
    /** Deletes expired links, codes and challenges in the same way. */
    purgeVerifications: purge("verifications")
  }
}

/** All SQL of authentication besides better-auth's and the verification of credentials and addresses. */
export class AuthRepo extends Context.Service<AuthRepo>()("stoa/domain/auth/AuthRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => ({
    ...ending(sql),
    /** Replaces an older hash of the same password; does nothing when that hash has changed meanwhile. */
    // A hash contains a random salt, so it identifies its row.
    renewPassword: Effect.fn("AuthRepo.renewPassword")(function*(old: string, fresh: string) {
      yield* sql`update user_accounts set password = ${fresh}, updated_at = now()
          where provider_id = 'credential' and password = ${old}`
    }, Effect.orDie),
    /**
     * Uses up the code of an authenticator's period, and all earlier codes. False when it was used before; of several
     * concurrent calls one returns true.
     */
    spendCode: Effect.fn("AuthRepo.spendCode")(function*(userId: string, period: number) {
      const rows = yield* sql`update two_factors set last_period = ${period}
          where user_id = ${userId}::uuid and (last_period is null or last_period < ${period}) returning 1`
      return rows.length > 0
    }, Effect.orDie),
    /** The user's role there; undefined without a membership. */
    roleOf: Effect.fn("AuthRepo.roleOf")(function*(userId: string, organizationId: string) {
      const rows = yield* sql<{ readonly role: string }>`select role from members
          where organization_id = ${organizationId} and user_id = ${userId}::uuid`
      return rows[0]?.role
    }, Effect.orDie),
    /**
     * Deletes an organization with its memberships and invitations, and records it in the change log, in one
     * statement. False when other rows reference it: a store cannot be deleted.
     */
    removeEmpty: Effect.fn("AuthRepo.removeEmpty")(function*(organizationId: string) {
      const removal = sql`with r as (delete from organizations where id = ${organizationId} returning *)${
        recordedChange(sql, yield* CurrentActor, "organizations", "deleted")
      } select 1`
      // Behind a savepoint, so that the transaction continues after a foreign key error.
      const removed = Effect.as(sql.withTransaction(removal), true)
      return yield* Effect.catch(removed, (error) => isInUse(error) ? Effect.succeed(false) : Effect.fail(error))
    }, Effect.orDie)
  }))
}) {}

/** `AuthRepo` over the database of the process. */
export const authRepoLayer = Layer.effect(AuthRepo, AuthRepo.make)
