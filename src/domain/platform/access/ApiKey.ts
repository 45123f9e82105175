import { Option, Schema, SchemaGetter } from "effect"
import { hash, randomBytes } from "node:crypto"
import { about } from "../hints/Hints.ts"
import { ApiKeyId } from "../ids/Id.ts"
import { maybe } from "../text/Fields.ts"
import { StorableObject, Text } from "../text/Storable.ts"
import { Time, Until } from "../text/Time.ts"
import { grants, type Permission } from "./Permission.ts"

const Stored = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Array(Schema.String)))

const decode = Schema.decodeOption(Stored)

export const permissionsOfMap = (map: Readonly<Record<string, ReadonlyArray<string>>>): ReadonlyArray<Permission> =>
  Object.entries(map).flatMap(([module, actions]) => actions.map((action) => `${module}:${action}`))

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

export type KeyScopes = Readonly<Record<string, KeyScope>>

export interface KeyScopeOption {
  readonly prefix: string
  readonly description?: string
  /** Module to actions: `{ orders: ["read", "update"] }`. */
  readonly permissions: Readonly<Record<string, ReadonlyArray<string>>>
  readonly rateLimit?: {
    readonly enabled?: boolean
    readonly timeWindow: number
    readonly maxRequests: number
  }
  readonly keyExpiration?: number
  /** Default `user`. */
  readonly references?: "user" | "organization"
  /** Default false. */
  readonly enableMetadata?: boolean
}

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

export const scopeNamed = (scopes: KeyScopes, name: string): KeyScope | undefined =>
  Object.hasOwn(scopes, name) ? scopes[name] : undefined

/** An API key of an organization without its secret, which is shown only at creation (contract, platform §4). */
export const ApiKey = Schema.Struct({
  id: ApiKeyId,
  name: Schema.NullOr(Schema.String),
  start: Schema.NullOr(Schema.String).pipe(about("First characters of the key, to recognise it.")),
  prefix: Schema.NullOr(Schema.String).pipe(about("Characters that all keys of its scope begin with.")),
  role: Schema.NullOr(Schema.String).pipe(about("Role with its permissions; null for a key with a scope.")),
  scope: Schema.NullOr(Schema.String).pipe(
    about("Name of the scope with its permissions; null for a key with a role.")
  ),
  permissions: Schema.NullOr(Schema.Array(Schema.String)).pipe(
    about("Permissions that the key is narrowed to; null: its role or scope alone decides.")
  ),
  userId: Schema.NullOr(Schema.String).pipe(
    about(
      "Owner: the key has no more permissions than this user, and ends with the membership. Null: the organization."
    )
  ),
  enabled: Schema.Boolean.pipe(about("False: the key opens nothing.")),
  expiresAt: Schema.NullOr(Time),
  lastRequest: Schema.NullOr(Time).pipe(about("Time of the last use. It is written every few seconds.")),
  requestCount: Schema.Int.pipe(about("Requests so far in the window of its rate limit.")),
  metadata: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)).pipe(
    about("Free JSON of its author, where the scope allows it.")
  ),
  createdAt: Time
}).annotate({ identifier: "ApiKey" })
export type ApiKey = typeof ApiKey.Type

/** The record with the secret: only the response of the creation has it. */
export const ApiKeyWithKey = Schema.Struct({
  ...ApiKey.fields,
  key: Schema.String.annotate({ description: "Shown in this answer only." })
}).annotate({ identifier: "ApiKeyWithKey" })
export type ApiKeyWithKey = typeof ApiKeyWithKey.Type

export const NewApiKey = Schema.Struct({
  name: Text.check(Schema.isMaxLength(64)),
  role: maybe(Text).pipe(about("Role with its permissions; either this or `scope`.")),
  scope: maybe(Text).pipe(about("Name of a scope of the deployment; either this or `role`.")),
  permissions: maybe(Schema.Array(Text).check(Schema.isBetweenLength(1, 100))).annotate({
    description: "Permissions that the key is narrowed to, all of its role or scope."
  }),
  metadata: maybe(StorableObject),
  expiresAt: maybe(
    Until.annotate({ description: "Moment from which it is invalid. Default: as its scope says, else never." })
  )
}).annotate({ identifier: "NewApiKey" })
export type NewApiKey = typeof NewApiKey.Type

/** Prefix of all keys, so that people and secret scanners recognize one in a log or a commit. */
export const keyPrefix = "stoa_"

/** Creates a key of 256 random bits after its prefix, and its stored form. Show the key once and store it nowhere. */
export const newKeyText = (prefix = keyPrefix) => {
  const key = `${prefix}${randomBytes(32).toString("base64url")}`
  // Ten characters, prefix included (contract §4). After a long prefix a few letters more tell keys apart.
  const start = key.slice(0, Math.max(10, prefix.length + 4))
  return { key, stored: { prefix, start, hash: hash("sha256", key, "base64url") } }
}
