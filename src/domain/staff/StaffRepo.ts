import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { changeLogInsert, changeLogRows } from "../platform/events/ChangeLogRepo.ts"
import { totalOf } from "../platform/paging/ListTotalsRepo.ts"
import { ownPage } from "../platform/paging/OwnPageRepo.ts"
import { offsetOf, type PageRequest } from "../platform/paging/Paging.ts"
import { decoding } from "../platform/records/Rows.ts"
import { columnsOf, Table } from "../platform/records/Table.ts"
import { Invitation, StaffMember } from "./StaffMember.ts"

const memberColumns = columnsOf(StaffMember.fields, "m", { email: "u.email", name: "u.name" })

export const openInvitations = new Table("invitations", Invitation)

const StoredMember = Schema.Struct({
  ...Struct.omit(StaffMember.fields, ["email", "name"]),
  organizationId: Schema.String
})

export const storedMembers = new Table("members", StoredMember)

export interface MemberState {
  readonly role: string
  readonly owners: number
}

const memberChange = (
  type: "staff.create" | "staff.update" | "staff.delete",
  payload: StaffMember,
  before: StaffMember | null
) => [{ type, entityType: "member", entityId: payload.id, payload, before }] as const

/** Members and invitations. Every change writes a change log entry in its transaction. */
export class StaffRepo extends Context.Service<StaffRepo>()("stoa/domain/staff/StaffRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const members = decoding(sql, StaffMember)
    const candidates = decoding(sql, Schema.Struct({ ...StaffMember.fields, isMember: Schema.Boolean }))
    const counts = decoding(sql, Schema.Struct({ count: Schema.Number }))

    const list = Effect.fn("StaffRepo.list")(function*(page: PageRequest) {
      const organization = yield* currentOrganization
      const [items, [counted]] = yield* Effect.all([
        members`select ${sql.literal(memberColumns)}
          from members m join users u on u.id = m.user_id where m.organization_id = ${organization}
          order by m.created_at, m.id limit ${page.limit} offset ${offsetOf(page)}`,
        counts`select ${totalOf(sql, organization, "members")} as count`
      ], { concurrency: "unbounded" })
      return { ...page, items, total: counted?.count ?? 0 }
    }, Effect.orDie)

    const invitations = Effect.fn("StaffRepo.invitations")((page: PageRequest) =>
      Effect.orDie(
        ownPage(sql, openInvitations, "created_at desc, id desc", page, [
          sql`status = 'pending'`,
          sql`expires_at > now()`
        ])
      )
    )

    const invite = Effect.fn("StaffRepo.invite")(function*(payload: Invitation) {
      const actor = yield* CurrentActor
      const change = { type: "invitations.create", entityType: "invitation", entityId: payload.id, payload } as const
      yield* sql`with made as (insert into invitations (${sql.literal(openInvitations.names)})
          ${openInvitations.values(sql, [{ ...payload, organizationId: actor.organizationId }])})
        ${changeLogInsert(sql, actor, [change])}`
    }, Effect.orDie)

    const add = Effect.fn("StaffRepo.add")(function*(id: string, userId: string, role: string) {
      const actor = yield* CurrentActor
      const [found] = yield* candidates`select ${id}::uuid as id, u.id as "userId",
          ${role}::text as role, now() as "createdAt", u.email, u.name, exists (select 1 from members m
            where m.organization_id = ${actor.organizationId} and m.user_id = u.id) as "isMember"
        from users u where u.id = ${userId}::uuid`
      if (found === undefined) return { _tag: "NoUser" } as const
      const { isMember, ...member } = found
      if (isMember) return { _tag: "Member" } as const
      const made = yield* sql`with made as (
          insert into members ${
        storedMembers.insert(sql, {
          id: sql`${id}::uuid`,
          organizationId: sql`${actor.organizationId}`,
          userId: "u.id",
          role: sql`${role}`,
          createdAt: sql`${member.createdAt}::timestamptz`
        })
      } from users u where u.id = ${userId}::uuid
          on conflict (organization_id, user_id) do nothing returning 1),
        recorded as (${changeLogInsert(sql, actor, memberChange("staff.create", member, null), "made")})
        select 1 from made`
      return made.length === 1 ? { _tag: "Added", member } as const : { _tag: "Member" } as const
    }, Effect.orDie)

    return { list, add, change: changing(sql), invitations, invite }
  })
}) {
  static readonly layer = Layer.effect(StaffRepo, StaffRepo.make)
}

const changing = (sql: SqlClient.SqlClient) => {
  const members = decoding(sql, StaffMember)

  const cancelOffers = Effect.fnUntraced(function*(userId: string) {
    const actor = yield* CurrentActor
    const record = (status: string) =>
      `jsonb_build_object('id', r.id, 'email', r.email, 'role', r.role, 'status', '${status}',
        'inviterId', r.inviter_id)`
    const change = { type: "invitations.cancel", entityType: "invitation", entityId: "r.id" } as const
    const records = { payload: record("canceled"), before: record("pending"), from: "cancelled r" }
    yield* sql`with cancelled as (
        update invitations set status = 'canceled'
        where organization_id = ${actor.organizationId} and inviter_id = ${userId}::uuid and status = 'pending'
        returning *)
      ${changeLogRows(sql, actor, { ...change, ...records })}`
  })

  const locked = Effect.fnUntraced(function*(id: string) {
    const organization = yield* currentOrganization
    const owners = yield* sql`select 1 from members
      where organization_id = ${organization} and role = 'owner' order by id for update`
    const [before] = yield* members`select ${sql.literal(memberColumns)}
      from members m join users u on u.id = m.user_id
      where m.organization_id = ${organization} and m.id = ${id}::uuid for update of m`
    return before && { before, owners: owners.length }
  })

  /**
   * Changes or removes (null) a member by a rule that runs while all owners are locked: if two owners leave at once,
   * the second is the last. A demotion cancels open invitations. Undefined for an unknown member.
   */
  return <E>(
    id: string,
    to: string | null,
    rule: (state: MemberState) => Effect.Effect<void, E>,
    losesRank: (from: string, to: string | null) => boolean
  ) =>
    sql.withTransaction(Effect.gen(function*() {
      const actor = yield* CurrentActor
      const found = yield* locked(id)
      if (found === undefined) return undefined
      const { before, owners } = found
      yield* rule({ role: before.role, owners })
      const member = { ...before, role: to ?? before.role }
      const mine = sql`organization_id = ${actor.organizationId} and id = ${id}::uuid`
      yield* to === null
        ? sql`delete from members where ${mine}`
        : sql`update members set role = ${to} where ${mine}`
      const type = to === null ? "staff.delete" : "staff.update"
      yield* changeLogInsert(sql, actor, memberChange(type, member, before))
      if (losesRank(before.role, to)) yield* cancelOffers(before.userId)
      return member
    })).pipe(Effect.catchTag("SqlError", Effect.die))
}
