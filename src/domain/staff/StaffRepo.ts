import { Context, Effect, Layer, type Result } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogInsert, changeLogRows } from "../events/ChangeLogRepo.ts"
import type { Change } from "../events/Event.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import { offsetOf, type PageRequest } from "../paging/Paging.ts"
import { columnsOf } from "../records/Columns.ts"
import { Table } from "../records/Table.ts"
import { Invitation, StaffMember } from "./StaffMember.ts"
import type { MemberState } from "./StaffRules.ts"

const memberColumns = columnsOf(StaffMember.fields, "m", { email: "u.email", name: "u.name" })

export const openInvitations = new Table("invitations", Invitation)

/** All SQL of an organization's staff. Every change writes a change log entry in the same transaction. */
export class StaffRepo extends Context.Service<StaffRepo>()("stoa/domain/staff/StaffRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /** The oldest first. */
    const list = Effect.fn("StaffRepo.list")(function*(page: PageRequest) {
      const organization = yield* currentOrganization
      const [items, counted] = yield* Effect.all([
        sql<StaffMember>`select ${sql.literal(memberColumns)}
          from members m join users u on u.id = m.user_id where m.organization_id = ${organization}
          order by m.created_at, m.id limit ${page.limit} offset ${offsetOf(page)}`,
        sql<{ readonly count: bigint }>`select count(*) as count from members where organization_id = ${organization}`
      ], { concurrency: "unbounded" })
      return { ...page, items, total: Number(counted[0]?.count ?? 0) }
    }, Effect.orDie)

    /** Open invitations, the newest first. */
    const invitations = Effect.fn("StaffRepo.invitations")((page: PageRequest) =>
      Effect.orDie(
        ownPage(sql, openInvitations, "created_at desc, id desc", page, [
          sql`status = 'pending'`,
          sql`expires_at > now()`
        ])
      )
    )

    const invite = Effect.fn("StaffRepo.invite")(function*(invitation: Invitation) {
      const actor = yield* CurrentActor
      const change = {
        type: "invitations.create",
        entityType: "invitation",
        entityId: invitation.id,
        payload: invitation
      } as const
      yield* sql`with made as (
          insert into invitations (id, organization_id, email, role, status, expires_at, inviter_id, created_at)
          values (${invitation.id}::uuid, ${actor.organizationId}, ${invitation.email}, ${invitation.role},
            ${invitation.status}, ${invitation.expiresAt}::timestamptz, ${invitation.inviterId}::uuid,
            ${invitation.createdAt}::timestamptz))
        ${changeLogInsert(sql, actor, [change])}`
    }, Effect.orDie)

    return { list, add: adding(sql), change: changing(sql), invitations, invite }
  })
}) {
  static readonly layer = Layer.effect(StaffRepo, StaffRepo.make)
}

const memberChange =
  (type: "staff.create" | "staff.update" | "staff.delete") =>
  (member: StaffMember, before: StaffMember | null): Change => ({
    type,
    entityType: "member",
    entityId: member.id,
    payload: member,
    before
  })

const adding = (sql: SqlClient.SqlClient) =>
  Effect.fn("StaffRepo.add")(function*(id: string, userId: string, role: string) {
    const actor = yield* CurrentActor
    const [found] = yield* sql<StaffMember & { readonly isMember: boolean }>`select ${id}::uuid as id, u.id as "userId",
        ${role}::text as role, now() as "createdAt", u.email, u.name, exists (select 1 from members m
          where m.organization_id = ${actor.organizationId} and m.user_id = u.id) as "isMember"
      from users u where u.id = ${userId}::uuid`
    if (found === undefined) return { _tag: "NoUser" } as const
    const { isMember, ...member } = found
    if (isMember) return { _tag: "Member" } as const
    const made = yield* sql`with made as (
        insert into members (id, organization_id, user_id, role, created_at)
        select ${id}::uuid, ${actor.organizationId}, u.id, ${role}, ${member.createdAt}::timestamptz from users u
          where u.id = ${userId}::uuid
        on conflict (organization_id, user_id) do nothing returning 1),
      recorded as (${changeLogInsert(sql, actor, [memberChange("staff.create")(member, null)], "made")})
      select 1 from made`
    return made.length === 1 ? { _tag: "Added", member } as const : { _tag: "Member" } as const
  }, Effect.orDie)

/** Cancels a user's open invitations. */
const cancelOffers = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, userId: string) {
  const actor = yield* CurrentActor
  const record = (status: string) =>
    `jsonb_build_object('id', r.id, 'email', r.email, 'role', r.role, 'status', '${status}', 'inviterId', r.inviter_id)`
  const recorded = changeLogRows(sql, actor, {
    type: "invitations.cancel",
    entityType: "invitation",
    entityId: "r.id",
    payload: record("canceled"),
    before: record("pending"),
    from: "cancelled r"
  })
  yield* sql`with cancelled as (
      update invitations set status = 'canceled'
      where organization_id = ${actor.organizationId} and inviter_id = ${userId}::uuid and status = 'pending'
      returning *)
    ${recorded}`
})

const changing = (sql: SqlClient.SqlClient) => {
  const locked = Effect.fnUntraced(function*(id: string) {
    const organization = yield* currentOrganization
    const owners = yield* sql`select 1 from members
      where organization_id = ${organization} and role = 'owner' order by id for update`
    const [before] = yield* sql<StaffMember>`select ${sql.literal(memberColumns)}
      from members m join users u on u.id = m.user_id
      where m.organization_id = ${organization} and m.id = ${id}::uuid for update of m`
    return before && { before, owners: owners.length }
  })

  /**
   * Changes a member's role, or removes the member (null), by a rule that gets their state while all owners are
   * locked: if two owners leave at once, the second sees that they are the last. A demotion cancels the member's open
   * invitations. Undefined for an unknown member.
   */
  return <E>(
    id: string,
    rule: (state: MemberState) => Result.Result<string | null, E>,
    losesRank: (from: string, to: string | null) => boolean
  ) =>
    sql.withTransaction(Effect.gen(function*() {
      const actor = yield* CurrentActor
      const found = yield* locked(id)
      if (found === undefined) return undefined
      const { before, owners } = found
      const to = yield* Effect.fromResult(rule({ role: before.role, owners }))
      const member = { ...before, role: to ?? before.role }
      const mine = sql`organization_id = ${actor.organizationId} and id = ${id}::uuid`
      yield* to === null
        ? sql`delete from members where ${mine}`
        : sql`update members set role = ${to} where ${mine}`
      yield* changeLogInsert(sql, actor, [memberChange(to === null ? "staff.delete" : "staff.update")(member, before)])
      if (losesRank(before.role, to)) yield* cancelOffers(sql, before.userId)
      return member
    })).pipe(Effect.catchTag("SqlError", Effect.die))
}
