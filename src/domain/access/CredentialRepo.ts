import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { lookupSql } from "../modules/LookupRepo.ts"
import { permissionsOf } from "./KeyPermissions.ts"
import { noScope } from "./KeyScope.ts"
import { tokenDigest } from "./SessionToken.ts"

/** A live session with its user and the user's memberships, role by organization. */
export interface SessionFacts {
  readonly id: string
  readonly userId: string
  readonly email: string
  readonly name: string
  readonly vendorId: string | null
  readonly vendorRole: string | null
  readonly twoFactor: boolean
  readonly activeOrganizationId: string | null
  readonly memberships: Readonly<Record<string, string>>
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** A valid key: enabled, not expired, and its owner exists. */
export interface KeyFacts {
  readonly id: string
  readonly name: string | null
  /** The user that owns it; null for a key of an organization. */
  readonly userId: string | null
  /** The owner's memberships, role by organization; empty without an owner. */
  readonly memberships: Readonly<Record<string, string>>
  /** The owner has a second factor, and the session that created the key had passed it. */
  readonly twoFactor: boolean
  readonly organizationId: string | null
  readonly role: string | null
  /** Name of its scope; null without one. */
  readonly scope: string | null
  /**
   * Permissions stored with the key: with a role or a scope they narrow it, else they are all it has. Null for none.
   */
  readonly permissions: ReadonlyArray<string> | null
  readonly expiresAt: Date | null
  /** The key has a limited number of uses, so each use is checked in the database. */
  readonly metered: boolean
  /** The key's request limit and its window in milliseconds; null without one. */
  readonly rateLimit: { readonly limit: number; readonly windowMs: number } | null
}

/** Uses of a key that are not written yet. */
export interface KeyUse {
  readonly id: string
  readonly count: number
  readonly at: Date
}

/** A reference in the form of a user's id is a user; any other is an organization. */
const uuid = "'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'"

interface KeyRow extends Omit<KeyFacts, "permissions" | "rateLimit"> {
  readonly permissions: string | null
  readonly limit: number | null
  readonly windowMs: number | null
}

const looking = (sql: SqlClient.SqlClient) => ({
  session: Effect.fnUntraced(function*(token: string) {
    const [row] = yield* sql<
      SessionFacts
    >`select s.id, s.user_id as "userId", u.email, u.name, u.vendor_id as "vendorId",
        u.vendor_role as "vendorRole", coalesce(u.two_factor_enabled, false) as "twoFactor",
        s.active_organization_id as "activeOrganizationId", s.created_at as "createdAt", s.expires_at as "expiresAt",
        coalesce((select jsonb_object_agg(m.organization_id, m.role) from members m where m.user_id = s.user_id), '{}')
          as memberships
      from sessions s join users u on u.id = s.user_id
      where s.token = ${tokenDigest(token)} and s.expires_at > now()`
    return row
  }, Effect.orDie),
  /** By the SHA-256 of the full key, base64url without padding. */
  key: Effect.fnUntraced(function*(hash: string) {
    const [row] = yield* sql<
      KeyRow
    >`select k.id, k.name, u.id as "userId", k.organization_id as "organizationId", k.role,
        nullif(k.config_id, ${noScope}) as scope,
        k.second_factor and coalesce(u.two_factor_enabled, false) as "twoFactor",
        k.permissions, k.expires_at as "expiresAt", k.remaining is not null as metered,
        case when k.rate_limit_enabled then k.rate_limit_max end as "limit",
        case when k.rate_limit_enabled then k.rate_limit_time_window::float8 end as "windowMs",
        coalesce((select jsonb_object_agg(m.organization_id, m.role) from members m where m.user_id = u.id), '{}')
          as memberships
      from api_keys k
      left join users u on u.id = case when k.reference_id ~ ${sql.literal(uuid)} then k.reference_id::uuid end
      where k.key = ${hash} and k.enabled is not false and (k.expires_at is null or k.expires_at > now())
        and (u.id is not null or exists (select 1 from organizations_read o where o.id = k.reference_id))`
    if (row === undefined) return undefined
    const { limit, permissions, windowMs, ...key } = row
    return {
      ...key,
      permissions: permissions === null ? null : permissionsOf(permissions),
      rateLimit: limit === null || windowMs === null ? null : { limit, windowMs }
    }
  }, Effect.orDie)
})

/** The queries of credential verification on the tables of `domain/auth`. */
export class CredentialRepo extends Context.Service<CredentialRepo>()("stoa/domain/access/CredentialRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /** Extends a live session that ends before `due` to `expiresAt`. False when there is no such session. */
    const renew = Effect.fnUntraced(function*(sessionId: string, due: Date, expiresAt: Date) {
      const rows = yield* sql`update sessions set expires_at = ${expiresAt}::timestamptz, updated_at = now()
        where id = ${sessionId}::uuid and expires_at <= ${due}::timestamptz and expires_at > now() returning 1`
      return rows.length > 0
    }, Effect.orDie)

    /** Takes one use of a key that counts them, after a refill that is due. False when none is left. */
    const takeUse = Effect.fnUntraced(function*(keyId: string) {
      const due = sql.literal(`(refill_amount is not null and refill_interval is not null and
        coalesce(last_refill_at, created_at) + refill_interval * interval '1 millisecond' < now())`)
      const rows = yield* sql`update api_keys set
          remaining = case when ${due} then refill_amount else remaining end - 1,
          last_refill_at = case when ${due} then now() else last_refill_at end
        where id = ${keyId}::uuid and case when ${due} then refill_amount else remaining end > 0 returning 1`
      return rows.length > 0
    }, Effect.orDie)

    /** Writes the last use and the number of uses of keys in one statement. */
    const recordUses = Effect.fnUntraced(function*(uses: ReadonlyArray<KeyUse>) {
      yield* sql`update api_keys k set request_count = coalesce(k.request_count, 0) + (u->>'count')::int,
          last_request = greatest(k.last_request, (u->>'at')::timestamptz)
        from jsonb_array_elements(${JSON.stringify(uses)}::jsonb) u where k.id = (u->>'id')::uuid`
    }, Effect.orDie)

    return { ...looking(yield* lookupSql), renew, takeUse, recordUses }
  })
}) {}

/** `CredentialRepo` over the database of the process. */
export const credentialRepoLayer = Layer.effect(CredentialRepo, CredentialRepo.make)
