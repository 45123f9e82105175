import { Effect, Option } from "effect"
import { keyPrefix } from "../../domain/access/ApiKey.ts"
import { type KeyScopeOption, type KeyScopes, mergedScopes, noScope } from "../../domain/access/KeyScope.ts"
import { isPermission, type Permission } from "../../domain/access/Permission.ts"
import { defaultRoles, type Roles } from "../../domain/access/Role.ts"
import { defaultSettings } from "../../domain/settings/StoreSettings.ts"
import { type Environment, refuse, text } from "./Variables.ts"

/**
 * Says which organization a request is for, by its headers or address; null for none (spec §5, store resolution). The
 * request has no body.
 */
export type StoreResolver = (request: Request) => string | null | undefined | Promise<string | null | undefined>

/** What a role may do: its permissions, alone or as a property. */
export type RoleOption = ReadonlyArray<Permission> | { readonly permissions: ReadonlyArray<Permission> }

/** The part of `auth` in `commerce.config.ts` that decides who may do what, and where (spec §5; contract, platform §16). */
export interface AccessOptions {
  /** Roles and their permissions, merged over the defaults key by key. */
  readonly roles?: Readonly<Record<string, RoleOption>>
  /** What visitors and signed-in shoppers may do. Default: the permissions of the role customer. */
  readonly customerPermissions?: ReadonlyArray<Permission>
  /** Organization of requests that name none; a start makes it if it is not there. Default `org_default`. */
  readonly defaultOrganizationId?: string
  /** Finds the organization of a caller who has none of his own. Default: nobody asks, it is the default one. */
  readonly storeResolver?: StoreResolver
  /** Answers 503 where `storeResolver` finds none, instead of taking the default one. Default false (`STRICT_ORG_RESOLUTION`). */
  readonly strictOrgResolution?: boolean
  readonly apiKeys?: {
    /** What a key may do that has neither a role nor permissions. Default nothing. */
    readonly defaultPermissions?: ReadonlyArray<Permission>
  }
  /**
   * What keys can be made for beside roles: a prefix, permissions, a limit of requests and a life for all keys of a kind
   * (docs/access.md). Merged by name over the built-in `compensation_admin`.
   */
  readonly apiKeyScopes?: Readonly<Record<string, KeyScopeOption>>
  /** Takes the actor of a request from `x-test-actor`. Default: when `NODE_ENV` is test; refused in production. */
  readonly allowTestActor?: boolean
}

/** What a process knows of access. */
export interface AccessSettings {
  readonly defaultOrganizationId: string
  readonly roles: Roles
  readonly customerPermissions: ReadonlyArray<Permission>
  readonly keyPermissions: ReadonlyArray<Permission>
  readonly keyScopes: KeyScopes
  readonly storeResolver: StoreResolver | undefined
  readonly strictOrgResolution: boolean
  readonly allowTestActor: boolean
}

const form = "module:action, module:action:scope, module:* or *:*"

const permissionsOfRole = (role: RoleOption): ReadonlyArray<Permission> =>
  "permissions" in role ? role.permissions : role

/** The deployment's roles over the default ones, key by key. */
export const mergedRoles = (options: AccessOptions["roles"]): Roles => ({
  ...defaultRoles,
  ...Object.fromEntries(Object.entries(options ?? {}).map(([name, role]) => [name, permissionsOfRole(role)]))
})

const checkPermissions = (name: string, permissions: ReadonlyArray<Permission>) => {
  const wrong = permissions.find((permission) => !isPermission(permission))
  return wrong === undefined ? Effect.void : refuse(name, wrong, form)
}

/** Organizations may give several roles to one member, joined by commas: a name must not look like that. */
const roleName = /^[A-Za-z][\w-]{0,63}$/

const checkRoles = Effect.fnUntraced(function*(roles: Roles) {
  for (const [name, permissions] of Object.entries(roles)) {
    if (!roleName.test(name)) {
      return yield* refuse("auth.roles", name, "names of up to 64 letters, digits, _ and -, a letter first")
    }
    yield* checkPermissions(`auth.roles.${name}`, permissions)
  }
})

const scopeForm = "a prefix of 1 to 32 letters, digits, _ and -, ending in _ or -, that begins no other one"

/** Of no prefix another one is the beginning, so that a key's beginning names its scope. */
const isPrefixOfItsOwn = (prefix: string, prefixes: ReadonlyArray<string>): boolean =>
  /^[\w-]{0,31}[_-]$/.test(prefix) &&
  prefixes.filter((other) => other.startsWith(prefix) || prefix.startsWith(other)).length === 1

const isCount = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= 2_147_483_647

const checkScopes = Effect.fnUntraced(function*(scopes: KeyScopes) {
  const prefixes = [keyPrefix, ...Object.values(scopes).map(({ prefix }) => prefix)]
  for (const [name, { expiresAfterDays, permissions, prefix, rateLimit }] of Object.entries(scopes)) {
    const path = `auth.apiKeyScopes.${name}`
    if (!roleName.test(name) || name === noScope) {
      return yield* refuse("auth.apiKeyScopes", name, `names as of roles, other than ${noScope}`)
    }
    if (!isPrefixOfItsOwn(prefix, prefixes)) return yield* refuse(`${path}.prefix`, prefix, scopeForm)
    yield* checkPermissions(`${path}.permissions`, permissions)
    if (expiresAfterDays !== null && !(isCount(expiresAfterDays) && expiresAfterDays <= 3_650)) {
      return yield* refuse(`${path}.keyExpiration`, String(expiresAfterDays), "a whole number of days up to 3650")
    }
    if (rateLimit !== null && !(isCount(rateLimit.limit) && isCount(rateLimit.windowMs))) {
      return yield* refuse(`${path}.rateLimit`, JSON.stringify(rateLimit), "whole numbers above 0")
    }
  }
})

const strict = Effect.fnUntraced(function*(auth: AccessOptions, hasDefault: boolean) {
  const found = yield* text("STRICT_ORG_RESOLUTION")
  const value = Option.getOrElse(found, () => "")
  if (!["", "true", "false"].includes(value)) return yield* refuse("STRICT_ORG_RESOLUTION", value, "true or false")
  const asked = value === "" ? auth.strictOrgResolution ?? false : value === "true"
  return asked && auth.storeResolver === undefined && !hasDefault
    ? yield* refuse(
      "auth.strictOrgResolution",
      "true",
      "auth.storeResolver or auth.defaultOrganizationId beside it, or nobody's organization could be found"
    )
    : asked
})

const settingsOf = (auth: AccessOptions, organization: string): AccessSettings => {
  const roles = mergedRoles(auth.roles)
  return {
    defaultOrganizationId: organization,
    roles,
    customerPermissions: auth.customerPermissions ?? roles["customer"] ?? [],
    keyPermissions: auth.apiKeys?.defaultPermissions ?? [],
    keyScopes: mergedScopes(auth.apiKeyScopes),
    storeResolver: auth.storeResolver,
    strictOrgResolution: auth.strictOrgResolution ?? false,
    allowTestActor: auth.allowTestActor ?? true
  }
}

const checkOrganization = Effect.fnUntraced(function*(named: ReadonlyArray<string>) {
  const [id = defaultSettings.defaultOrganizationId] = named
  if (new Set(named).size > 1) {
    return yield* refuse("auth.defaultOrganizationId", id, "the same as store.defaultOrganizationId")
  }
  return /^[\w-]{1,64}$/.test(id)
    ? id
    : yield* refuse("auth.defaultOrganizationId", id, "1 to 64 letters, digits, _ and -")
})

/**
 * Reads what the deployment and the environment say of access; fails with one readable line. `store` is the organization
 * that `store.defaultOrganizationId` names.
 */
export const readAccess = Effect.fnUntraced(
  function*(auth: AccessOptions, store: string | undefined, environment: Environment) {
    const named = [auth.defaultOrganizationId, store].filter((id) => id !== undefined)
    const settings = settingsOf(auth, yield* checkOrganization(named))
    yield* checkRoles(settings.roles)
    yield* checkPermissions("auth.customerPermissions", settings.customerPermissions)
    yield* checkPermissions("auth.apiKeys.defaultPermissions", settings.keyPermissions)
    yield* checkScopes(settings.keyScopes)
    if (auth.allowTestActor === true && environment === "production") {
      return yield* refuse("auth.allowTestActor", "true", "false when NODE_ENV is production: anybody could be anybody")
    }
    return {
      ...settings,
      strictOrgResolution: yield* strict(auth, named.length > 0),
      allowTestActor: environment === "test" && settings.allowTestActor
    }
  }
)

/** What tests run with. */
export const testAccess = (auth: AccessOptions = {}, store?: string): AccessSettings =>
  settingsOf(auth, auth.defaultOrganizationId ?? store ?? defaultSettings.defaultOrganizationId)
