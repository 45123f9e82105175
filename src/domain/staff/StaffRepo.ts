import { Context, Effect, Layer, type Result } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogInsert, changeLogRows } from "../events/ChangeLogRepo.ts"
import type { Change } from "../events/Event.ts"
import { offsetOf, type PageOf, type PageRequest } from "../paging/Paging.ts"
import type { Invitation, StaffMember } from "./StaffMember.ts"
import type { Standing } from "./StaffRules.ts"

interface MemberRow {
  readonly id: string
  readonly user_id: string
  readonly role: string
  readonly created_at: Date
  readonly email: string
  readonly name: string
}

interface InvitationRow {
  readonly id: string
  readonly organization_id: string
  readonly email: string
  readonly role: string | null
  readonly status: string
  readonly expires_at: Date
  readonly created_at: Date
  readonly inviter_id: string
}

interface Counted {
  readonly count: bigint
}

const toMember = (row: MemberRow): StaffMember => ({
  id: row.id,
  userId: row.user_id,
  role: row.role,
  createdAt: row.created_at,
  email: row.email,
  name: row.name
})

const toInvitation = (row: InvitationRow): Invitation => ({
  id: row.id,
  organizationId: row.organization_id,
  email: row.email,
  role: row.role,
  status: row.status,
  expiresAt: row.expires_at,
  createdAt: row.created_at,
  inviterId: row.inviter_id
})

/** What became of a new member. */
export type Added =
  | { readonly _tag: "Added"; readonly member: StaffMember }
  | { readonly _tag: "NoUser" }
  | { readonly _tag: "Member" }

/** All SQL of an organization's staff. Every change writes a change log entry in the same transaction. */
export class StaffRepo extends Context.Service<StaffRepo, {
  /** The oldest first. */
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<StaffMember>, never, CurrentActor>
  readonly add: (id: string, userId: string, role: string) => Effect.Effect<Added, never, CurrentActor>
  /**
   * Changes a member's role, or removes the member (null), by a rule that gets their standing while all owners are
   * locked: if two owners leave at once, the second sees that they are the last. A demotion cancels the member's open
   * invitations. Undefined for an unknown member.
   */
  readonly change: <E>(
    id: string,
    rule: (standing: Standing) => Result.Result<string | null, E>,
    losesRank: (from: string, to: string | null) => boolean
  ) => Effect.Effect<StaffMember | undefined, E, CurrentActor>
  /** Open invitations, the newest first. */
  readonly invitations: (page: PageRequest) => Effect.Effect<PageOf<Invitation>, never, CurrentActor>
  readonly invite: (invitation: Invitation) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/staff/StaffRepo") {}

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
    const [found] = yield* sql<MemberRow & { readonly member: boolean }>`select ${id}::uuid as id, u.id as user_id,
        ${role}::text as role, now() as created_at, u.email, u.name, exists (select 1 from members m
          where m.organization_id = ${actor.organizationId} and m.user_id = u.id) as member
      from users u where u.id = ${userId}::uuid`
    if (found === undefined) return { _tag: "NoUser" } as const
    if (found.member) return { _tag: "Member" } as const
    const member = toMember(found)
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
    const [row] = yield* sql<MemberRow>`select m.id, m.user_id, m.role, m.created_at, u.email, u.name
      from members m join users u on u.id = m.user_id
      where m.organization_id = ${organization} and m.id = ${id}::uuid for update of m`
    return row && { before: toMember(row), owners: owners.length }
  })

  return <E>(
    id: string,
    rule: (standing: Standing) => Result.Result<string | null, E>,
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

/** `StaffRepo` over the database of the process. */
export const staffRepoLayer = Layer.effect(
  StaffRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const list = Effect.fn("StaffRepo.list")(function*(page: PageRequest) {
      const organization = yield* currentOrganization
      const [rows, counted] = yield* Effect.all([
        sql<MemberRow>`select m.id, m.user_id, m.role, m.created_at, u.email, u.name
          from members m join users u on u.id = m.user_id where m.organization_id = ${organization}
          order by m.created_at, m.id limit ${page.limit} offset ${offsetOf(page)}`,
        sql<Counted>`select count(*) as count from members where organization_id = ${organization}`
      ], { concurrency: "unbounded" })
      return { items: rows.map(toMember), ...page, total: Number(counted[0]?.count ?? 0) }
    }, Effect.orDie)

    const invitations = Effect.fn("StaffRepo.invitations")(function*(page: PageRequest) {
      const organization = yield* currentOrganization
      const open = sql`organization_id = ${organization} and status = 'pending' and expires_at > now()`
      const [rows, counted] = yield* Effect.all([
        sql<InvitationRow>`select * from invitations where ${open}
          order by created_at desc, id desc limit ${page.limit} offset ${offsetOf(page)}`,
        sql<Counted>`select count(*) as count from invitations where ${open}`
      ], { concurrency: "unbounded" })
      return { items: rows.map(toInvitation), ...page, total: Number(counted[0]?.count ?? 0) }
    }, Effect.orDie)

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

    return StaffRepo.of({ list, add: adding(sql), change: changing(sql), invitations, invite })
  })
)
