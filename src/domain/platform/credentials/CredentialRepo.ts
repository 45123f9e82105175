import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { noScope, StoredPermissions } from "../access/ApiKey.ts"
import { tokenDigest } from "../access/SentCredential.ts"
import { lookupSql } from "../database/DatabaseRepo.ts"
import { decoding } from "../records/Rows.ts"

/** Role by organization. */
const Memberships = Schema.Record(Schema.String, Schema.String)

const SessionFacts = Schema.Struct({
  id: Schema.String,
  userId: Schema.String,
  email: Schema.String,
  name: Schema.String,
  vendorId: Schema.NullOr(Schema.String),
  vendorRole: Schema.NullOr(Schema.String),
  twoFactor: Schema.Boolean,
  activeOrganizationId: Schema.NullOr(Schema.String),
  memberships: Memberships,
  createdAt: Schema.Date,
  expiresAt: Schema.Date
})
export type SessionFacts = typeof SessionFacts.Type

const KeyFacts = Schema.Struct({
  id: Schema.String,
  name: Schema.NullOr(Schema.String),
  userId: Schema.NullOr(Schema.String),
  memberships: Memberships,
  twoFactor: Schema.Boolean,
  organizationId: Schema.NullOr(Schema.String),
  role: Schema.NullOr(Schema.String),
  scope: Schema.NullOr(Schema.String),
  /** They narrow a role or scope; without one they are all it has. */
  permissions: Schema.NullOr(StoredPermissions),
  expiresAt: Schema.NullOr(Schema.Date),
  metered: Schema.Boolean,
  /** Milliseconds. */
  rateLimit: Schema.NullOr(Schema.Struct({ limit: Schema.Number, windowMs: Schema.Number }))
})
export type KeyFacts = typeof KeyFacts.Type

export interface KeyUse {
  readonly id: string
  readonly count: number
  readonly at: Date
}

/** References in this form are users; others are organizations. */
const uuid = "'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'"

const looking = (sql: SqlClient.SqlClient) => {
  const [sessions, keys] = [decoding(sql, SessionFacts), decoding(sql, KeyFacts)]
  return {
    session: Effect.fnUntraced(function*(token: string) {
      const [found] = yield* sessions`select s.id, s.user_id as "userId", u.email, u.name, u.vendor_id as "vendorId",
          u.vendor_role as "vendorRole", coalesce(u.two_factor_enabled, false) as "twoFactor",
          s.active_organization_id as "activeOrganizationId", s.created_at as "createdAt", s.expires_at as "expiresAt",
          coalesce((select jsonb_object_agg(m.organization_id, m.role) from members m where m.user_id = s.user_id), '{}')
            as memberships
        from sessions s join users u on u.id = s.user_id
        where s.token = ${tokenDigest(token)} and s.expires_at > now()`
      return found
    }, Effect.orDie),
    /** By the SHA-256 of the key, base64url without padding. */
    key: Effect.fnUntraced(function*(hash: string) {
      const [found] = yield* keys`select k.id, k.name, u.id as "userId", k.organization_id as "organizationId", k.role,
          nullif(k.config_id, ${noScope}) as scope,
          k.second_factor and coalesce(u.two_factor_enabled, false) as "twoFactor",
          k.permissions, k.expires_at as "expiresAt", k.remaining is not null as metered,
          case when k.rate_limit_enabled and k.rate_limit_max is not null and k.rate_limit_time_window is not null
            then jsonb_build_object('limit', k.rate_limit_max, 'windowMs', k.rate_limit_time_window) end as "rateLimit",
          coalesce((select jsonb_object_agg(m.organization_id, m.role) from members m where m.user_id = u.id), '{}')
            as memberships
        from api_keys k
        left join users u on u.id = case when k.reference_id ~ ${sql.literal(uuid)} then k.reference_id::uuid end
        where k.key = ${hash} and k.enabled is not false and (k.expires_at is null or k.expires_at > now())
          and case when u.id is null then exists (select 1 from organizations o where o.id = k.reference_id)
            else k.organization_id is null or exists (select 1 from members m
              where m.user_id = u.id and m.organization_id = k.organization_id) end`
      return found
    }, Effect.orDie)
  }
}

/** Verifies credentials against the tables of `domain/auth`. */
export class CredentialRepo
  extends Context.Service<CredentialRepo>()("stoa/domain/platform/credentials/CredentialRepo", {
    make: Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const renew = Effect.fnUntraced(function*(sessionId: string, due: Date, expiresAt: Date) {
        const rows = yield* sql`update sessions set expires_at = ${expiresAt}::timestamptz, updated_at = now()
        where id = ${sessionId}::uuid and expires_at <= ${due}::timestamptz and expires_at > now() returning 1`
        return rows.length > 0
      }, Effect.orDie)

      /** Takes one use after a due refill; false when none is left. */
      const takeUse = Effect.fnUntraced(function*(keyId: string) {
        const due = sql.literal(`(refill_amount is not null and refill_interval is not null and
        coalesce(last_refill_at, created_at) + refill_interval * interval '1 millisecond' < now())`)
        const rows = yield* sql`update api_keys set
          remaining = case when ${due} then refill_amount else remaining end - 1,
          last_refill_at = case when ${due} then now() else last_refill_at end
        where id = ${keyId}::uuid and case when ${due} then refill_amount else remaining end > 0 returning 1`
        return rows.length > 0
      }, Effect.orDie)

      const recordUses = Effect.fnUntraced(function*(uses: ReadonlyArray<KeyUse>) {
        yield* sql`update api_keys k set request_count = coalesce(k.request_count, 0) + (u->>'count')::int,
          last_request = greatest(k.last_request, (u->>'at')::timestamptz)
        from jsonb_array_elements(${JSON.stringify(uses)}::jsonb) u where k.id = (u->>'id')::uuid`
      }, Effect.orDie)

      return { ...looking(yield* lookupSql), renew, takeUse, recordUses }
    })
  })
{
  static readonly layer = Layer.effect(CredentialRepo, CredentialRepo.make)
}
