import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { changeLogRows } from "../events/ChangeLogRepo.ts"
import { decoding } from "../records/Rows.ts"
import { emailKey } from "../text/Email.ts"

const KnownUser = Schema.Struct({ id: Schema.String, email: Schema.String, name: Schema.String })

export interface SoughtUser {
  readonly userId?: string | undefined
  readonly email?: string | undefined
}

export interface ActingChange {
  readonly from: string | null
  readonly to: string | null
  readonly role: string | null
}

const isKnown = (sql: SqlClient.SqlClient, organization: string) =>
  sql`(exists (select 1 from members m where m.user_id = u.id and m.organization_id = ${organization})
    or exists (select 1 from customers_read c where c.user_id = u.id::text and c.organization_id = ${organization}))`

const record = (row: string): string =>
  `jsonb_build_object('id', ${row}.id, 'vendorId', ${row}.vendor_id,
    'vendorRole', ${row}.vendor_role)`

export class UserRepo extends Context.Service<UserRepo>()("stoa/domain/platform/credentials/UserRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const users = decoding(sql, KnownUser)

    const known = Effect.fn("UserRepo.known")(function*({ email, userId }: SoughtUser) {
      const { organizationId } = yield* CurrentActor
      // Only a verified address: anyone can sign up with a foreign one.
      const who = userId === undefined
        ? sql`u.email = ${emailKey(email ?? "")} and u.email_verified`
        : sql`u.id = ${userId}::uuid`
      const [row] = yield* users`select u.id, u.email, u.name from users u
        where ${who} and ${isKnown(sql, organizationId)}`
      return row
    }, Effect.orDie)

    const change = Effect.fnUntraced(function*(userId: string, { from, role, to }: ActingChange) {
      const actor = yield* CurrentActor
      // Leaving is always allowed: the user may have left the store before.
      const may = to === null || to === from ? sql`true` : isKnown(sql, actor.organizationId)
      const recorded = changeLogRows(sql, actor, {
        type: "users.update",
        entityType: "user",
        entityId: "r.id::text",
        payload: record("r"),
        before: record("w"),
        from: "r join w on w.id = r.id"
      })
      const rows = yield* sql`with w as materialized (
          select u.* from users u where u.id = ${userId}::uuid and u.vendor_id is not distinct from ${from}::text and ${may}
          for update of u),
        r as (update users u set vendor_id = ${to}::text, vendor_role = ${role}::text, updated_at = now() from w where u.id = w.id returning u.*),
        recorded as (${recorded})
        select 1 from r`
      return rows.length === 1
    })

    /** Whether a user belongs to the staff of the organization now. */
    const isMember = Effect.fn("UserRepo.isMember")(function*(userId: string) {
      const { organizationId } = yield* CurrentActor
      const found = yield* sql`select 1 from members
        where organization_id = ${organizationId} and user_id = ${userId}::uuid`
      return found.length > 0
    }, Effect.orDie)

    /** Members with one of these roles whose address is verified, at most `limit`. */
    const withRoles = Effect.fn("UserRepo.withRoles")(function*(roles: ReadonlyArray<string>, limit: number) {
      const { organizationId } = yield* CurrentActor
      return yield* users`select u.id, u.email, u.name from members m join users u on u.id = m.user_id
        where m.organization_id = ${organizationId} and m.role = any(${roles}::text[]) and u.email_verified
        order by m.created_at, m.id limit ${limit}`
    }, Effect.orDie)

    return {
      isMember,
      known,
      withRoles,
      /**
       * Changes the vendor and runs the work in the same transaction; `done` is false, and no work runs, when the
       * vendor is not `from`.
       */
      actFor: <A, E, R>(userId: string, acting: ActingChange, work: Effect.Effect<A, E, R>) =>
        sql.withTransaction(Effect.gen(function*() {
          if (!(yield* change(userId, acting))) return { done: false } as const
          return { done: true, result: yield* work } as const
        })).pipe(Effect.catchIf(SqlError.isSqlError, Effect.die))
    }
  })
}) {
  static readonly layer = Layer.effect(UserRepo, UserRepo.make)
}
