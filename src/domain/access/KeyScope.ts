import { permissionsOfMap } from "./KeyPermissions.ts"
import type { Permission } from "./Permission.ts"

/** What keys of one purpose have in common (`auth.apiKeyScopes`; contract, platform §4). */
export interface KeyScope {
  /** Every key of the scope begins with it, and no other one does. */
  readonly prefix: string
  readonly description: string
  /** What its keys may do, as it stands in the configuration at the time of use. */
  readonly permissions: ReadonlyArray<Permission>
  /** Requests of each key and in how many milliseconds; null for the limit that holds for every key. */
  readonly rateLimit: { readonly limit: number; readonly windowMs: number } | null
  /** Days after which a key runs out that is made without an end; null for never. */
  readonly expiresAfterDays: number | null
  /** Who may own its keys: users who make them for themselves too, or the organization alone. */
  readonly references: "user" | "organization"
  /** Whether its keys may carry metadata. They decide nothing. */
  readonly metadata: boolean
}

/** Scopes by their names, which keys are stored with. */
export type KeyScopes = Readonly<Record<string, KeyScope>>

/** A scope as `commerce.config.ts` writes it. */
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

/** The deployment's scopes over the built-in one, name by name. */
export const mergedScopes = (options: Readonly<Record<string, KeyScopeOption>> = {}): KeyScopes =>
  Object.fromEntries(Object.entries({ ...builtIn, ...options }).map(([name, option]) => [name, scopeOf(option)]))

/** The scope of a name; undefined for one that the deployment does not have (any more). */
export const scopeNamed = (scopes: KeyScopes, name: string): KeyScope | undefined =>
  Object.hasOwn(scopes, name) ? scopes[name] : undefined
