import { Option, Record } from "effect"
import {
  keyPrefix,
  type KeyScopeOption,
  type KeyScopes,
  mergedScopes,
  noScope
} from "../../domain/platform/access/ApiKey.ts"
import { defaultRoles, isPermission, type Permission, type Roles } from "../../domain/platform/access/Permission.ts"
import type { PermissionScope } from "../../domain/platform/modules/Module.ts"
import { defaultSettings } from "../../domain/platform/settings/StoreSettings.ts"
import * as is from "./Rules.ts"
import { type Environment, group, option, type Options, type Problems, setting } from "./Settings.ts"

/** Finds the organization of a request, which has no body, by its headers or address; null for none (spec §5). */
export type StoreResolver = (request: Request) => string | null | undefined | Promise<string | null | undefined>

/** Credentials of the deployment at a provider of social sign-in. */
export interface SocialProvider {
  readonly clientId: string
  readonly clientSecret: string
}

/** A role: its permissions, as a list or by name. It also holds what plugins give it, unless `fromPlugins` is false. */
type RoleOption =
  | ReadonlyArray<Permission>
  | { readonly permissions: ReadonlyArray<Permission>; readonly fromPlugins?: boolean }

/** The origin of a web address; undefined for other texts and for an address with a path. */
export const originOf = (value: string): string | undefined => {
  const url = URL.parse(value)
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "" &&
    url.username === "" && url.hash === ""
  return isPlain ? url.origin : undefined
}

export const organizationId = is.textThat((id) => /^[\w-]{1,64}$/.test(id), "1 to 64 letters, digits, _ and -")

const permissionForm = "module:action, module:action:scope, module:* or *:*"
const permissions = is.listOf(is.textThat(isPermission, permissionForm), permissionForm)

const secretForm = "at least 32 random characters (openssl rand -base64 32)"
const origin = "an origin, for example https://shop.example"

/** Users, sessions, keys, roles and organizations (spec §5; contract, platform §16). */
export const authSettings = group({
  /** Roles and their permissions, merged over the defaults by name. */
  roles: setting(is.code<Readonly<Record<string, RoleOption>>>(), {}),
  /** Permissions of visitors and signed-in shoppers. Default: those of the role customer. */
  customerPermissions: option(permissions),
  /** Organization of requests that name none; a start creates it if needed. Default `org_default`. */
  defaultOrganizationId: option(organizationId),
  /** Finds the organization of a caller without one. Default: the default organization. */
  storeResolver: option(is.code<StoreResolver>()),
  /** Whether 503 is answered if `storeResolver` finds none. Default false (`STRICT_ORG_RESOLUTION`). */
  strictOrgResolution: setting(is.flag, false, "STRICT_ORG_RESOLUTION"),
  /** Scopes of API keys (docs/access.md), merged by name over the built-in `compensation_admin`. */
  apiKeyScopes: setting(is.code<Readonly<Record<string, KeyScopeOption>>>(), {}),
  /** Takes the actor of a request from `x-test-actor`. Default: if `NODE_ENV` is test; refused in production. */
  allowTestActor: option(is.flag),
  /**
   * Signs session cookies and verification links and encrypts second factors; the same in every process
   * (`STOA_AUTH_SECRET`). Required in production; elsewhere one is created in the data directory.
   */
  secret: option(is.secret(secretForm, (value) => value.length >= 32), "STOA_AUTH_SECRET"),
  /** Life of a session in seconds, at most 400 days, as of cookies. Its use renews it once a day. Default 604800. */
  sessionDuration: setting(is.whole(60, 34_560_000, " of seconds"), 604_800),
  /** Whether users must open the mailed link before they can sign in. Default true. */
  requireEmailVerification: setting(is.flag, true),
  /**
   * Page of the shop that mailed verification links lead to, with `token` and `callbackURL`; it sends them to
   * `POST /api/auth/verify-email`. Of a trusted origin. Default: a page of this service.
   */
  verificationPage: option(is.text),
  /** One-time codes of an authenticator app. */
  twoFactor: group({
    /** Whether users may set it up. Default true. */
    enabled: setting(is.flag, true),
    /** Roles whose members can only use `/api/auth/*` until they have set it up. Default: none. */
    requiredForRoles: setting(is.texts, [])
  }),
  /** Sign-in with an account of one of these. Default: none. */
  socialProviders: setting(is.code<{ readonly google?: SocialProvider; readonly github?: SocialProvider }>(), {}),
  /**
   * Origins (`https://shop.example`) whose pages may send cookies and read answers, and to which links may lead. Outside
   * production pages of this machine may as well.
   */
  trustedOrigins: setting(is.listOf(is.textThat((value) => originOf(value) !== undefined, origin), origin), []),
  /** Lets every user create organizations, whose owner they are. Default false. */
  allowOrganizationCreation: setting(is.flag, false),
  apiKeys: group({
    /** Whether stored keys are accepted and can be created. Default false (contract, platform §16). */
    enabled: setting(is.flag, false),
    /** Permissions of a key that has neither a role nor permissions. Default: none. */
    defaultPermissions: setting(permissions, [])
  })
})
export type AuthOptions = Options<typeof authSettings.fields>
type Auth = typeof authSettings.Type

/** Members may have several roles, joined by commas: a name must not contain one. */
const roleName = /^[A-Za-z][\w-]{0,63}$/

/** No prefix begins another one, so that the beginning of a key names its scope. */
const isPrefixOfItsOwn = (prefix: string, prefixes: ReadonlyArray<string>): boolean =>
  /^[\w-]{0,31}[_-]$/.test(prefix) &&
  prefixes.filter((other) => other.startsWith(prefix) || prefix.startsWith(other)).length === 1

const isCount = (value: number, most = 2_147_483_647) => Number.isInteger(value) && value >= 1 && value <= most

const prefixForm = "a prefix of 1 to 32 letters, digits, _ and -, ending in _ or -, that begins no other one"

const checkScopes = (scopes: KeyScopes, { refuse }: Problems) => {
  const prefixes = [keyPrefix, ...Object.values(scopes).map(({ prefix }) => prefix)]
  for (const [name, { expiresAfterDays, permissions, prefix, rateLimit }] of Object.entries(scopes)) {
    const path = `auth.apiKeyScopes.${name}`
    if (!roleName.test(name) || name === noScope) {
      refuse("auth.apiKeyScopes", name, `names as of roles, other than ${noScope}`)
    }
    if (!isPrefixOfItsOwn(prefix, prefixes)) refuse(`${path}.prefix`, prefix, prefixForm)
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

const rolesOf = (configured: Auth["roles"], { refuse }: Problems) =>
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

/** The roles with the permissions that plugins give them (contract, plugins §17.2). */
const withGiven = (roles: Roles, { roles: configured }: Auth, given: ReadonlyArray<PermissionScope>): Roles =>
  Record.map(roles, (permissions, role) => {
    const own = configured[role]
    if (own !== undefined && "permissions" in own && own.fromPlugins === false) return permissions
    return [...permissions, ...given.filter(({ roles }) => roles?.includes(role)).map(({ scope }) => scope)]
  })

/** What plugins bring for roles and keys. */
interface Granting {
  readonly id: string
  readonly permissions: ReadonlyArray<PermissionScope>
  readonly keyScopes: Readonly<Record<string, KeyScopeOption>>
}

/** Roles, permissions, scopes of keys and the organization of requests. */
export const accessOf = (
  auth: Auth,
  ofStore: string | undefined,
  environment: Environment,
  plugins: ReadonlyArray<Granting>,
  problems: Problems
) => {
  const named = [auth.defaultOrganizationId, ofStore].filter((id) => id !== undefined)
  const [defaultOrganizationId = defaultSettings.defaultOrganizationId] = named
  const roles = withGiven(
    { ...defaultRoles, ...rolesOf(auth.roles, problems) },
    auth,
    plugins.flatMap(({ permissions }) => permissions)
  )
  const keyScopes = mergedScopes(Object.assign({}, ...plugins.map(({ keyScopes }) => keyScopes), auth.apiKeyScopes))
  checkScopes(keyScopes, problems)
  const giver = plugins.find((plugin) => Object.keys(plugin.keyScopes).length > 0)
  if (giver !== undefined && !auth.apiKeys.enabled) {
    problems.refuse("auth.apiKeys.enabled", false, `true, because the plugin "${giver.id}" gives API keys`)
  }
  if (new Set(named).size > 1) {
    problems.refuse("auth.defaultOrganizationId", defaultOrganizationId, "the same as store.defaultOrganizationId")
  }
  if (auth.strictOrgResolution && auth.storeResolver === undefined && named.length === 0) {
    const needed = "auth.storeResolver or auth.defaultOrganizationId besides it: else no organization could be found"
    problems.refuse("auth.strictOrgResolution", true, needed)
  }
  if (auth.allowTestActor === true && environment === "production") {
    const reason = "false when NODE_ENV is production: every caller could choose an actor"
    problems.refuse("auth.allowTestActor", true, reason)
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

/** A session in use is renewed after this many seconds (contract, platform §3). */
export const sessionUpdateAge = 86_400

/** Every cookie's name begins with it. */
export const cookiePrefix = "uc"

/** Settings of authentication. */
export type AuthSettings = ReturnType<typeof authOf>

/** Roles whose members can do nothing without a second factor. */
export const guardedRoles = ({ twoFactor }: Pick<AuthSettings, "twoFactor">): ReadonlySet<string> =>
  new Set(twoFactor.enabled ? twoFactor.requiredForRoles : [])

/** Users, sessions and keys. */
export const authOf = (
  auth: Auth,
  url: string | undefined,
  hasMail: boolean,
  environment: Environment,
  problems: Problems
) => {
  const isProduction = environment === "production"
  const publicUrl = Option.map(Option.fromUndefinedOr(url), (address) => new URL(address).origin)
  const secureCookies = isProduction || Option.exists(publicUrl, (address) => address.startsWith("https:"))
  const { verificationPage: page } = auth
  if (isProduction && auth.secret === undefined) problems.missing("STOA_AUTH_SECRET", secretForm)
  if (auth.requireEmailVerification && isProduction && !hasMail) {
    const remedy = "false in production without mail (email.smtp or STOA_SMTP_URL): no user could verify an address"
    problems.refuse("auth.requireEmailVerification", true, remedy)
  }
  if (page !== undefined && !auth.trustedOrigins.includes(URL.parse(page)?.origin ?? "")) {
    const trusted = "an address of one of `auth.trustedOrigins`, https://shop.example/verify"
    problems.refuse("auth.verificationPage", page, trusted)
  }
  return {
    ...auth,
    /** None outside of production: the one of the data directory (`AuthSecret`). */
    secret: Option.fromUndefinedOr(auth.secret),
    /** Links in mails and redirects begin with it. */
    publicUrl,
    trustedOrigins: auth.trustedOrigins.map((origin) => new URL(origin).origin),
    verificationPage: Option.fromUndefinedOr(page),
    /** Whether cookies are for https alone. */
    secureCookies,
    sessionCookie: `${secureCookies ? "__Secure-" : ""}${cookiePrefix}.session_token`
  }
}
