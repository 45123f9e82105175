import type { SqlClient } from "effect/sql"
import type { Actor } from "../access/Actor.ts"
import { changeLogRows, isoTime } from "../events/ChangeLogRepo.ts"
import type { AuditedType, Subject } from "../events/Event.ts"

/**
 * What the change log tells of the rows of a table. SQL texts over `r`, the row after the change (the one that is gone, of a
 * removal), and `w`, the row as it was. Secrets are left out by naming what is told; and so is what says who somebody is,
 * because an erasure does not find it here: of a user's name, address and picture only that they changed.
 */
interface Telling {
  readonly entityType: Subject
  readonly entityId: string
  readonly record: (row: string) => string
  /** Whose change it is where the row itself says it; else the signed-in user's. */
  readonly actorId?: string
  /** Whose change log tells of it; absent: that of the organization the request was made in. */
  readonly organizationId?: string
  readonly created: AuditedType
  /** What happened to a row that was updated, as an SQL text; null where nobody has to be told. */
  readonly updated: string
  /** Fields that an update names when they changed, beside what the record shows. */
  readonly named?: ReadonlyArray<readonly [field: string, column: string]>
  /** Absent: its removal is a part of another change, which is told. */
  readonly deleted?: AuditedType
  /** Which removals are told; the others sweep up what had run out. */
  readonly deletedIf?: string
}

const differ = (...columns: ReadonlyArray<string>): string =>
  columns.map((column) => `r.${column} is distinct from w.${column}`).join(" or ")

/** His own: nobody else can change it here, and whoever signs in or up is not signed in yet. */
const ofUser = { entityType: "user", entityId: "r.user_id::text", actorId: "r.user_id::text" } as const

const users: Telling = {
  entityType: "user",
  entityId: "r.id::text",
  actorId: "r.id::text",
  record: (row) =>
    `jsonb_build_object('id', ${row}.id, 'emailVerified', ${row}.email_verified, 'twoFactorEnabled',
      ${row}.two_factor_enabled is true, 'createdAt', ${isoTime(`${row}.created_at`)}, 'updatedAt',
      ${isoTime(`${row}.updated_at`)})`,
  created: "users.create",
  updated: `case when r.email_verified and not w.email_verified then 'users.verifyEmail'
    when r.two_factor_enabled is true and w.two_factor_enabled is not true then 'users.enableTwoFactor'
    when r.two_factor_enabled is not true and w.two_factor_enabled is true then 'users.disableTwoFactor'
    when ${differ("name", "email", "email_verified", "image", "vendor_id")} then 'users.update' end`,
  named: [["name", "name"], ["email", "email"], ["image", "image"], ["vendorId", "vendor_id"]],
  deleted: "users.delete"
}

const sessions: Telling = {
  entityType: "session",
  entityId: "r.id::text",
  actorId: "r.user_id::text",
  record: (row) =>
    `jsonb_build_object('id', ${row}.id, 'userId', ${row}.user_id, 'activeOrganizationId', ${row}.active_organization_id,
      'createdAt', ${isoTime(`${row}.created_at`)}, 'expiresAt', ${isoTime(`${row}.expires_at`)})`,
  created: "sessions.create",
  // That it is given a later end by its use is nobody's change.
  updated: `case when ${differ("active_organization_id")} then 'sessions.update' end`,
  deleted: "sessions.delete",
  deletedIf: "r.expires_at > now()"
}

/** How he signs in. Tokens of providers are renewed by every sign-in, and only a password is a change. */
const accounts: Telling = {
  ...ofUser,
  record: (row) => `jsonb_build_object('userId', ${row}.user_id, 'providerId', ${row}.provider_id)`,
  created: "users.linkAccount",
  updated: `case when ${differ("password")} then 'users.changePassword' end`,
  deleted: "users.unlinkAccount"
}

/** That it counts, and that it does so no more, is told of the user. Wrong codes are counted and not told. */
const factors: Telling = {
  ...ofUser,
  record: (row) => `jsonb_build_object('userId', ${row}.user_id, 'verified', ${row}.verified)`,
  created: "users.setUpTwoFactor",
  updated: `case when ${differ("secret")} then 'users.setUpTwoFactor'
    when ${differ("backup_codes")} then 'users.changeBackupCodes' end`
}

const organizations: Telling = {
  entityType: "organization",
  entityId: "r.id",
  organizationId: "r.id",
  record: (row) => `jsonb_build_object('id', ${row}.id, 'name', ${row}.name, 'slug', ${row}.slug, 'logo', ${row}.logo)`,
  created: "organizations.create",
  updated: `case when ${differ("name", "slug", "logo", "metadata")} then 'organizations.update' end`,
  named: [["name", "name"], ["slug", "slug"], ["logo", "logo"], ["metadata", "metadata"]],
  deleted: "organizations.delete"
}

const members: Telling = {
  entityType: "member",
  entityId: "r.id::text",
  organizationId: "r.organization_id",
  record: (row) =>
    `jsonb_build_object('id', ${row}.id, 'userId', ${row}.user_id, 'role', ${row}.role, 'createdAt',
      ${isoTime(`${row}.created_at`)})`,
  created: "staff.create",
  updated: `case when ${differ("role")} then 'staff.update' end`,
  deleted: "staff.delete"
}

const invitations: Telling = {
  entityType: "invitation",
  entityId: "r.id::text",
  organizationId: "r.organization_id",
  record: (row) =>
    `jsonb_build_object('id', ${row}.id, 'role', ${row}.role, 'status', ${row}.status, 'inviterId', ${row}.inviter_id)`,
  created: "invitations.create",
  updated: `case when ${differ("status")} then case r.status when 'accepted' then 'invitations.accept'
    when 'rejected' then 'invitations.reject' when 'canceled' then 'invitations.cancel' end end`
}

const keys: Telling = {
  entityType: "api_key",
  entityId: "r.id::text",
  actorId: "r.reference_id",
  organizationId: "r.organization_id",
  record: (row) =>
    `jsonb_build_object('id', ${row}.id, 'name', ${row}.name, 'start', ${row}.start, 'role', ${row}.role, 'enabled',
      ${row}.enabled is not false, 'expiresAt', ${isoTime(`${row}.expires_at`)})`,
  created: "apiKeys.create",
  updated: `case when ${differ("name", "enabled", "expires_at", "permissions")} then 'apiKeys.update' end`,
  deleted: "apiKeys.delete",
  deletedIf: "(r.expires_at is null or r.expires_at > now())"
}

/** What lies in `verifications` opens something once and runs out: what it opened is told. */
const tellings: ReadonlyMap<string, Telling> = new Map([
  ["users", users],
  ["sessions", sessions],
  ["user_accounts", accounts],
  ["two_factors", factors],
  ["organizations", organizations],
  ["members", members],
  ["invitations", invitations],
  ["api_keys", keys]
])

const changedFields = ({ named = [] }: Telling): string =>
  named.length === 0 ?
    "" :
    ` || jsonb_build_object('changed', array_remove(array[${
      named.map(([field, column]) => `case when ${differ(column)} then '${field}' end`).join(", ")
    }], null))`

/** What was done to the rows that an entry tells of. */
export type RowChange = "created" | "updated" | "deleted"

const changeOf = (telling: Telling, change: RowChange) => {
  const { created, deleted, deletedIf, record, updated } = telling
  switch (change) {
    case "created":
      return { type: created, payload: record("r"), from: "r" } as const
    case "updated":
      return {
        type: { sql: updated },
        payload: record("r") + changedFields(telling),
        before: record("w"),
        from: "r join w on w.id = r.id",
        only: `(${updated}) is not null`
      } as const
    case "deleted":
      return deleted && { type: deleted, payload: record("r"), before: record("r"), from: "r", only: deletedIf }
  }
}

/**
 * A part `, recorded as (…)` of the statement that changes rows of a table of authentication, which writes the entries of the
 * change log: so the change is not made where it cannot be told, and no transaction has to be held open around better-auth
 * while it hashes passwords. The statement calls the changed rows `r`, and of an update the rows as they were `w`. Empty
 * where nothing is told.
 */
export const recordedChange = (sql: SqlClient.SqlClient, actor: Actor, table: string, change: RowChange) => {
  const telling = tellings.get(table)
  const written = telling && changeOf(telling, change)
  if (telling === undefined || written === undefined) return sql.literal("")
  const { actorId, entityId, entityType, organizationId } = telling
  return sql`, recorded as (${
    changeLogRows(sql, actor, { ...written, entityType, entityId, actorId, organizationId })
  })`
}

/** Inserts a row of columns, with its entry of the change log, and gives it as it lies there. */
export const insertRecorded = <Row extends object>(
  sql: SqlClient.SqlClient,
  actor: Actor,
  table: string,
  row: Readonly<Record<string, unknown>>
) =>
  sql<Row>`with r as (insert into ${sql(table)} ${sql.insert(row)} returning *)${
    recordedChange(sql, actor, table, "created")
  }
    select * from r`
