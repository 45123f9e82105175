import type { SqlClient } from "effect/sql"
import type { Actor } from "../platform/access/Actor.ts"
import { changeLogRows, isoTime } from "../platform/events/ChangeLogRepo.ts"
import type { AuditedType, Subject } from "../platform/events/Event.ts"

/**
 * Change log entries of a table's rows: SQL over `r`, the row after the change (or the deleted one), and `w`, the row
 * before. Only listed columns are recorded; an erasure does not search these entries, so personal data appears only as
 * changed.
 */
interface Telling {
  readonly entityType: Subject
  readonly entityId: string
  readonly record: (row: string) => string
  readonly actorId?: string
  readonly organizationId?: string
  readonly created: AuditedType
  /** The event of an updated row; null where it is not recorded. */
  readonly updated: string
  readonly named?: ReadonlyArray<readonly [field: string, column: string]>
  readonly deleted?: AuditedType
  readonly deletedIf?: string
}

const differ = (...columns: ReadonlyArray<string>): string =>
  columns.map((column) => `r.${column} is distinct from w.${column}`).join(" or ")

/** A user who signs in or up is not signed in yet: the actor is the row's user. */
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
  // An extension by use is not recorded.
  updated: `case when ${differ("active_organization_id")} then 'sessions.update' end`,
  deleted: "sessions.delete",
  deletedIf: "r.expires_at > now()"
}

/** Each sign-in renews provider tokens, so only a password counts as a change. */
const accounts: Telling = {
  ...ofUser,
  record: (row) => `jsonb_build_object('userId', ${row}.user_id, 'providerId', ${row}.provider_id)`,
  created: "users.linkAccount",
  updated: `case when ${differ("password")} then 'users.changePassword' end`,
  deleted: "users.unlinkAccount"
}

/** Enabling and disabling are recorded on the user. Wrong codes are counted and not recorded. */
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

/** Rows of `verifications` are used once and expire: the change they allow is recorded instead. */
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
 * The part `, recorded as (…)` of a statement on an auth table. No change is without an entry, and no transaction stays
 * open while better-auth hashes passwords.
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

export const insertRecorded = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  table: string,
  row: Readonly<Record<string, unknown>>
) =>
  sql`with r as (insert into ${sql(table)} ${sql.insert(row)} returning *)${
    recordedChange(sql, actor, table, "created")
  }
    select * from r`
