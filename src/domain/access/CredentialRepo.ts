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

/** The queries of credential verification on the tables of `domain/auth`. */
export class CredentialRepo extends Context.Service<CredentialRepo, {
  readonly session: (token: string) => Effect.Effect<SessionFacts | undefined>
  /** By the SHA-256 of the full key, base64url without padding. */
  readonly key: (hash: string) => Effect.Effect<KeyFacts | undefined>
  /** Extends a live session that ends before `due` to `expiresAt`. False when there is no such session. */
  readonly renew: (sessionId: string, due: Date, expiresAt: Date) => Effect.Effect<boolean>
  /** Takes one use of a key that counts them, after a refill that is due. False when none is left. */
  readonly takeUse: (keyId: string) => Effect.Effect<boolean>
  /** Writes the last use and the number of uses of keys in one statement. */
  readonly recordUses: (uses: ReadonlyArray<KeyUse>) => Effect.Effect<void>
}>()("stoa/domain/access/CredentialRepo") {}

interface SessionRow {
  readonly id: string
  readonly user_id: string
  readonly email: string
  readonly name: string
  readonly vendor_id: string | null
  readonly vendor_role: string | null
  readonly two_factor: boolean
  readonly active_organization_id: string | null
  readonly memberships: Readonly<Record<string, string>> | null
  readonly created_at: Date
  readonly expires_at: Date
}

interface KeyRow {
  readonly id: string
  readonly name: string | null
  readonly owner: string | null
  readonly memberships: Readonly<Record<string, string>> | null
  readonly two_factor: boolean
  readonly config_id: string
  readonly organization_id: string | null
  readonly role: string | null
  readonly permissions: string | null
  readonly expires_at: Date | null
  readonly metered: boolean
  readonly limit_max: number | null
  readonly limit_window: number | null
}

const toSession = (row: SessionRow): SessionFacts => ({
  id: row.id,
  userId: row.user_id,
  email: row.email,
  name: row.name,
  vendorId: row.vendor_id,
  vendorRole: row.vendor_role,
  twoFactor: row.two_factor,
  activeOrganizationId: row.active_organization_id,
  memberships: row.memberships ?? {},
  createdAt: row.created_at,
  expiresAt: row.expires_at
})

const toKey = (row: KeyRow): KeyFacts => ({
  id: row.id,
  name: row.name,
  userId: row.owner,
  memberships: row.memberships ?? {},
  twoFactor: row.two_factor,
  organizationId: row.organization_id,
  role: row.role,
  scope: row.config_id === noScope ? null : row.config_id,
  permissions: row.permissions === null ? null : permissionsOf(row.permissions),
  expiresAt: row.expires_at,
  metered: row.metered,
  rateLimit: row.limit_max === null || row.limit_window === null
    ? null
    : { limit: row.limit_max, windowMs: row.limit_window }
})

/** A reference in the form of a user's id is a user; any other is an organization. */
const uuid = "'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'"

const looking = (sql: SqlClient.SqlClient) => ({
  session: Effect.fnUntraced(function*(token: string) {
    const [row] = yield* sql<SessionRow>`select s.id, s.user_id, u.email, u.name, u.vendor_id, u.vendor_role,
        coalesce(u.two_factor_enabled, false) as two_factor, s.active_organization_id, s.created_at, s.expires_at,
        (select jsonb_object_agg(m.organization_id, m.role) from members m where m.user_id = s.user_id) as memberships
      from sessions s join users u on u.id = s.user_id
      where s.token = ${tokenDigest(token)} and s.expires_at > now()`
    return row && toSession(row)
  }, Effect.orDie),
  key: Effect.fnUntraced(function*(hash: string) {
    const [row] = yield* sql<KeyRow>`select k.id, k.name, u.id as owner, k.organization_id, k.role, k.config_id,
        k.second_factor and coalesce(u.two_factor_enabled, false) as two_factor,
        k.permissions, k.expires_at, k.remaining is not null as metered,
        case when k.rate_limit_enabled then k.rate_limit_max end as limit_max,
        case when k.rate_limit_enabled then k.rate_limit_time_window::float8 end as limit_window,
        (select jsonb_object_agg(m.organization_id, m.role) from members m where m.user_id = u.id) as memberships
      from api_keys k
      left join users u on u.id = case when k.reference_id ~ ${sql.literal(uuid)} then k.reference_id::uuid end
      where k.key = ${hash} and k.enabled is not false and (k.expires_at is null or k.expires_at > now())
        and (u.id is not null or exists (select 1 from organizations o where o.id = k.reference_id))`
    return row && toKey(row)
  }, Effect.orDie)
})

/** `CredentialRepo` over the database of the process. */
export const credentialRepoLayer = Layer.effect(
  CredentialRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const renew = Effect.fnUntraced(function*(sessionId: string, due: Date, expiresAt: Date) {
      const rows = yield* sql`update sessions set expires_at = ${expiresAt}::timestamptz, updated_at = now()
        where id = ${sessionId}::uuid and expires_at <= ${due}::timestamptz and expires_at > now() returning 1`
      return rows.length > 0
    }, Effect.orDie)

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

    return CredentialRepo.of({ ...looking(yield* lookupSql), renew, takeUse, recordUses })
  })
)
