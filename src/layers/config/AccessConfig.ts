import { Config, Effect, Option } from "effect"
import { isPermission, type Permission } from "../../domain/access/Permission.ts"
import { defaultRoles, type Roles } from "../../domain/access/Role.ts"
import { defaultSettings } from "../../domain/settings/StoreSettings.ts"
import { InvalidSetting } from "./InvalidSetting.ts"

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
  /** Takes the actor of a request from `x-test-actor`. Default: when `NODE_ENV` is test; refused in production. */
  readonly allowTestActor?: boolean
}

/** What a process knows of access. */
export interface AccessSettings {
  readonly defaultOrganizationId: string
  readonly roles: Roles
  readonly customerPermissions: ReadonlyArray<Permission>
  readonly keyPermissions: ReadonlyArray<Permission>
  readonly storeResolver: StoreResolver | undefined
  readonly strictOrgResolution: boolean
  readonly allowTestActor: boolean
}

type Environment = "development" | "production" | "test"

const refuse = (name: string, value: string, allowed: string) =>
  Effect.fail(new InvalidSetting({ message: `${name}="${value}" is not allowed: expected ${allowed}.` }))

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

const strict = Effect.fnUntraced(function*(auth: AccessOptions, hasDefault: boolean) {
  const found = yield* Config.option(Config.String("STRICT_ORG_RESOLUTION"))
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
