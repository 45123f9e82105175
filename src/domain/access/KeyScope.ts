import { Option, Schema, SchemaGetter } from "effect"
import { grants, type Permission } from "./Permission.ts"

/** The column format: JSON of module to actions. */
const Stored = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Array(Schema.String)))

const decode = Schema.decodeOption(Stored)

/** The permissions of a map of module to actions, `module:action` each. */
export const permissionsOfMap = (map: Readonly<Record<string, ReadonlyArray<string>>>): ReadonlyArray<Permission> =>
  Object.entries(map).flatMap(([module, actions]) => actions.map((action) => `${module}:${action}`))

/** The reverse, as JSON for the column. */
export const storedPermissions = (permissions: ReadonlyArray<Permission>): string => {
  const map: Record<string, Array<string>> = {}
  for (const permission of permissions) {
    const end = permission.indexOf(":")
    const actions = map[permission.slice(0, end)] ??= []
    actions.push(permission.slice(end + 1))
  }
  return JSON.stringify(map)
}

/** The permissions of a key as its column has them; none for malformed JSON. */
export const StoredPermissions = Schema.String.pipe(Schema.decodeTo(Schema.Array(Schema.String), {
  decode: SchemaGetter.transform((stored) => permissionsOfMap(Option.getOrElse(decode(stored), () => ({})))),
  encode: SchemaGetter.transform(storedPermissions)
}))

/**
 * The intersection of two lists: of each, the entries that the other covers. A narrowed key never gets more than its
 * role.
 */
export const narrowed = (
  role: ReadonlyArray<Permission>,
  own: ReadonlyArray<Permission> | null
): ReadonlyArray<Permission> =>
  own === null
    ? role
    : [
      ...new Set([
        ...own.filter((permission) => grants(role, permission)),
        ...role.filter((permission) => grants(own, permission))
      ])
    ]

/** Shared settings of keys with one purpose (`auth.apiKeyScopes`; contract, platform §4). */
export interface KeyScope {
  /** The prefix of all keys of the scope, and of no others. */
  readonly prefix: string
  readonly description: string
  /** Permissions of its keys, as configured at the time of use. */
  readonly permissions: ReadonlyArray<Permission>
  /** Request limit of each key and its window in milliseconds; null for the general limit of keys. */
  readonly rateLimit: { readonly limit: number; readonly windowMs: number } | null
  /** Default lifetime in days of a key without an end; null for unlimited. */
  readonly expiresAfterDays: number | null
  /** Who may own its keys: users as well, or the organization alone. */
  readonly references: "user" | "organization"
  /** Whether its keys may have metadata. They affect nothing. */
  readonly metadata: boolean
}

/** Scopes by name; keys store the name. */
export type KeyScopes = Readonly<Record<string, KeyScope>>

/** A scope in `commerce.config.ts`. */
export interface KeyScopeOption {
  readonly prefix: string
  readonly description?: string
  /** Module to actions: `{ orders: ["read", "update"] }`. */
  readonly permissions: Readonly<Record<string, ReadonlyArray<string>>>
  readonly rateLimit?: {
    readonly enabled?: boolean
    /** Milliseconds. */
    readonly timeWindow: number
    readonly maxRequests: number
  }
  /** Days. */
  readonly keyExpiration?: number
  /** Default `user`. */
  readonly references?: "user" | "organization"
  /** Default false. */
  readonly enableMetadata?: boolean
}

/** The name of keys without a scope. */
export const noScope = "default"

/** The scope that every deployment has (contract, platform §4). */
const builtIn: Readonly<Record<string, KeyScopeOption>> = {
  compensation_admin: {
    prefix: "uc_cfadm_",
    description: "Look after compensations that failed",
    permissions: { compensation: ["admin"] }
  }
}

const scopeOf = (option: KeyScopeOption): KeyScope => {
  const { rateLimit } = option
  return {
    prefix: option.prefix,
    description: option.description ?? "",
    permissions: permissionsOfMap(option.permissions),
    rateLimit: rateLimit === undefined || rateLimit.enabled === false
      ? null
      : { limit: rateLimit.maxRequests, windowMs: rateLimit.timeWindow },
    expiresAfterDays: option.keyExpiration ?? null,
    references: option.references ?? "user",
    metadata: option.enableMetadata ?? false
  }
}

/** Merges the deployment's scopes over the built-in one, by name. */
export const mergedScopes = (options: Readonly<Record<string, KeyScopeOption>> = {}): KeyScopes =>
  Object.fromEntries(Object.entries({ ...builtIn, ...options }).map(([name, option]) => [name, scopeOf(option)]))

/** The scope of a name; undefined for one that the configuration does not have. */
export const scopeNamed = (scopes: KeyScopes, name: string): KeyScope | undefined =>
  Object.hasOwn(scopes, name) ? scopes[name] : undefined
