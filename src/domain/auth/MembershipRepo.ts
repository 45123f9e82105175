import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { recordedChange } from "./AuthChangeLogRepo.ts"

/** All SQL of memberships and organizations besides better-auth's. */
export class MembershipRepo extends Context.Service<MembershipRepo, {
  /** The user's role there; undefined without a membership. */
  readonly roleOf: (userId: string, organizationId: string) => Effect.Effect<string | undefined>
  /**
   * Deletes an organization with its memberships and invitations, and records it in the change log, in one statement.
   * False when other rows reference it: a store cannot be deleted.
   */
  readonly removeEmpty: (organizationId: string) => Effect.Effect<boolean, never, CurrentActor>
}>()("stoa/domain/auth/MembershipRepo") {}

/** Rows of a store still reference it. */
const isInUse = (error: unknown): boolean => JSON.stringify(error)?.includes("\"23503\"") === true

/** `MembershipRepo` over the database of the process. */
export const membershipRepoLayer = Layer.effect(
  MembershipRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    MembershipRepo.of({
      roleOf: Effect.fn("MembershipRepo.roleOf")(function*(userId: string, organizationId: string) {
        const rows = yield* sql<{ readonly role: string }>`select role from members
          where organization_id = ${organizationId} and user_id = ${userId}::uuid`
        return rows[0]?.role
      }, Effect.orDie),
      removeEmpty: Effect.fn("MembershipRepo.removeEmpty")(function*(organizationId: string) {
        const actor = yield* CurrentActor
        const removal = sql`with r as (delete from organizations where id = ${organizationId} returning *)${
          recordedChange(sql, actor, "organizations", "deleted")
        } select 1`
        // Behind a savepoint, so that the transaction continues after a foreign key error.
        const removed = Effect.as(sql.withTransaction(removal), true)
        return yield* Effect.catch(removed, (error) => isInUse(error) ? Effect.succeed(false) : Effect.fail(error))
      }, Effect.orDie)
    }))
)
