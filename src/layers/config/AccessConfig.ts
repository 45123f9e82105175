import { Schema } from "effect"
import { keyPrefix } from "../../domain/access/ApiKey.ts"
import { type KeyScopeOption, type KeyScopes, mergedScopes, noScope } from "../../domain/access/KeyScope.ts"
import { isPermission, type Permission } from "../../domain/access/Permission.ts"
import { defaultRoles } from "../../domain/access/Role.ts"
import { defaultSettings } from "../../domain/settings/StoreSettings.ts"
import * as Setting from "./Settings.ts"

/** Finds the organization of a request, which has no body, by its headers or address; null for none (spec §5). */
export type StoreResolver = (request: Request) => string | null | undefined | Promise<string | null | undefined>

export const organizationId = Setting.textThat((id) => /^[\w-]{1,64}$/.test(id), "1 to 64 letters, digits, _ and -")

const permissionForm = "module:action, module:action:scope, module:* or *:*"
export const permissions = Schema.Array(Setting.textThat(isPermission, permissionForm)).annotate({
  description: permissionForm
})

/** The part of `auth` that decides about roles, permissions and organizations (contract, platform §16). */
export const accessFields = {
  /** Roles and their permissions, merged over the defaults by name. */
  roles: Setting.withDefault(
    Setting.code<
      Readonly<Record<string, ReadonlyArray<Permission> | { readonly permissions: ReadonlyArray<Permission> }>>
    >(),
    {}
  ),
  /** Permissions of visitors and signed-in shoppers. Default: those of the role customer. */
  customerPermissions: Setting.optional(permissions),
  /** Organization of requests that name none; a start creates it if needed. Default `org_default`. */
  defaultOrganizationId: Setting.optional(organizationId),
  /** Finds the organization of a caller without one. Default: the default organization. */
  storeResolver: Setting.optional(Setting.code<StoreResolver>()),
  /** Whether 503 is answered if `storeResolver` finds none. Default false (`STRICT_ORG_RESOLUTION`). */
  strictOrgResolution: Setting.withDefault(Setting.flag, false, "STRICT_ORG_RESOLUTION"),
  /** Scopes of API keys (docs/access.md), merged by name over the built-in `compensation_admin`. */
  apiKeyScopes: Setting.withDefault(Setting.code<Readonly<Record<string, KeyScopeOption>>>(), {}),
  /** Takes the actor of a request from `x-test-actor`. Default: if `NODE_ENV` is test; refused in production. */
  allowTestActor: Setting.optional(Setting.flag)
}
const accessSettings = Setting.group({
  ...accessFields,
  apiKeys: Setting.group({ defaultPermissions: Setting.withDefault(permissions, []) })
})
type Access = typeof accessSettings.Type

/** Members may have several roles, joined by commas: a name must not contain one. */
const roleName = /^[A-Za-z][\w-]{0,63}$/

/** No prefix begins another one, so that the beginning of a key names its scope. */
const isPrefixOfItsOwn = (prefix: string, prefixes: ReadonlyArray<string>): boolean =>
  /^[\w-]{0,31}[_-]$/.test(prefix) &&
  prefixes.filter((other) => other.startsWith(prefix) || prefix.startsWith(other)).length === 1

const isCount = (value: number, most = 2_147_483_647) => Number.isInteger(value) && value >= 1 && value <= most

const checkScopes = (scopes: KeyScopes, { refuse }: Setting.Problems) => {
  const prefixes = [keyPrefix, ...Object.values(scopes).map(({ prefix }) => prefix)]
  for (const [name, { expiresAfterDays, permissions, prefix, rateLimit }] of Object.entries(scopes)) {
    const path = `auth.apiKeyScopes.${name}`
    if (!roleName.test(name) || name === noScope) {
      refuse("auth.apiKeyScopes", name, `names as of roles, other than ${noScope}`)
    }
    if (!isPrefixOfItsOwn(prefix, prefixes)) {
      refuse(
        `${path}.prefix`,
        prefix,
        "a prefix of 1 to 32 letters, digits, _ and -, ending in _ or -, that begins no other one"
      )
    }
    const wrong = permissions.find((permission) => !isPermission(permission))
    if (wrong !== undefined) refuse(`${path}.permissions`, wrong, permissionForm)
    if (expiresAfterDays !== null && !isCount(expiresAfterDays, 3_650)) {
      refuse(`${path}.keyExpiration`, expiresAfterDays, "a whole number of days up to 3650")
    }
    if (rateLimit !== null && !(isCount(rateLimit.limit) && isCount(rateLimit.windowMs))) {
      refuse(`${path}.rateLimit`, JSON.stringify(rateLimit), "whole numbers above 0")
    }
  }
}

const rolesOf = (configured: Access["roles"], { refuse }: Setting.Problems) =>
  Object.fromEntries(
    Object.entries(configured).map(([name, role]) => {
      const granted = "permissions" in role ? role.permissions : role
      if (!roleName.test(name)) refuse("auth.roles", name, "names of up to 64 letters, digits, _ and -, a letter first")
      for (const wrong of granted.filter((permission) => !isPermission(permission))) {
        refuse(`auth.roles.${name}`, wrong, permissionForm)
      }
      return [name, granted]
    })
  )

/** Roles, permissions and the organization of requests. */
export const accessOf = (
  auth: Access,
  ofStore: string | undefined,
  environment: Setting.Environment,
  problems: Setting.Problems
) => {
  const named = [auth.defaultOrganizationId, ofStore].filter((id) => id !== undefined)
  const [defaultOrganizationId = defaultSettings.defaultOrganizationId] = named
  const roles = { ...defaultRoles, ...rolesOf(auth.roles, problems) }
  const keyScopes = mergedScopes(auth.apiKeyScopes)
  checkScopes(keyScopes, problems)
  if (new Set(named).size > 1) {
    problems.refuse("auth.defaultOrganizationId", defaultOrganizationId, "the same as store.defaultOrganizationId")
  }
  if (auth.strictOrgResolution && auth.storeResolver === undefined && named.length === 0) {
    problems.refuse(
      "auth.strictOrgResolution",
      true,
      "auth.storeResolver or auth.defaultOrganizationId besides it: else no organization could be found"
    )
  }
  if (auth.allowTestActor === true && environment === "production") {
    problems.refuse(
      "auth.allowTestActor",
      true,
      "false when NODE_ENV is production: every caller could choose an actor"
    )
  }
  return {
    defaultOrganizationId,
    roles,
    keyScopes,
    customerPermissions: auth.customerPermissions ?? roles["customer"] ?? [],
    keyPermissions: auth.apiKeys.defaultPermissions,
    storeResolver: auth.storeResolver,
    strictOrgResolution: auth.strictOrgResolution,
    allowTestActor: environment === "test" && (auth.allowTestActor ?? true)
  }
}
