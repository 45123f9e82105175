import { Option, Schema } from "effect"
import { accessFields, permissions } from "./AccessConfig.ts"
import * as Setting from "./Settings.ts"

/** Credentials of the deployment at a provider of social sign-in. */
export interface SocialProvider {
  readonly clientId: string
  readonly clientSecret: string
}

/** The origin of a web address; undefined for other texts and for an address with a path. */
export const originOf = (value: string): string | undefined => {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const plain = url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "" &&
    url.username === "" && url.hash === ""
  return plain ? url.origin : undefined
}

const authSecret = "at least 32 random characters (openssl rand -base64 32)"
const origin = "an origin, for example https://shop.example"

/** Users, sessions and keys: the other part of `auth` (spec §5). */
export const authSettings = Setting.group({
  ...accessFields,
  /**
   * Signs session cookies and verification links and encrypts second factors; the same in every process
   * (`STOA_AUTH_SECRET`). Required in production; elsewhere one is created in the data directory.
   */
  secret: Setting.optional(Setting.secret(authSecret, (value) => value.length >= 32), "STOA_AUTH_SECRET"),
  /** Life of a session in seconds, at most 400 days, as of cookies. Its use renews it once a day. Default 604800. */
  sessionDuration: Setting.withDefault(Setting.whole(60, 34_560_000, " of seconds"), 604_800),
  /** Whether users must open the mailed link before they can sign in. Default true. */
  requireEmailVerification: Setting.withDefault(Setting.flag, true),
  /**
   * Page of the shop that mailed verification links lead to, with `token` and `callbackURL`; it sends them to
   * `POST /api/auth/verify-email`. Of a trusted origin. Default: a page of this service.
   */
  verificationPage: Setting.optional(Setting.text),
  /** One-time codes of an authenticator app. */
  twoFactor: Setting.group({
    /** Whether users may set it up. Default true. */
    enabled: Setting.withDefault(Setting.flag, true),
    /** Roles whose members can only use `/api/auth/*` until they have set it up. Default: none. */
    requiredForRoles: Setting.withDefault(Setting.texts, [])
  }),
  /** Sign-in with an account of one of these. Default: none. */
  socialProviders: Setting.withDefault(
    Setting.code<{ readonly google?: SocialProvider; readonly github?: SocialProvider }>(),
    {}
  ),
  /**
   * Origins (`https://shop.example`) whose pages may send cookies and read answers, and to which links may lead. Outside
   * production pages of this machine may as well.
   */
  trustedOrigins: Setting.withDefault(
    Schema.Array(Setting.textThat((value) => originOf(value) !== undefined, origin)).annotate({ description: origin }),
    []
  ),
  /** Lets every user create organizations, whose owner they are. Default false. */
  allowOrganizationCreation: Setting.withDefault(Setting.flag, false),
  apiKeys: Setting.group({
    /** Whether stored keys are accepted and can be created. Default false (contract, platform §16). */
    enabled: Setting.withDefault(Setting.flag, false),
    /** Permissions of a key that has neither a role nor permissions. Default: none. */
    defaultPermissions: Setting.withDefault(permissions, [])
  })
})
export type AuthOptions = Setting.Options<typeof authSettings.fields>

/** A session in use is renewed after this many seconds (contract, platform §3). */
export const sessionUpdateAge = 86_400

/** Every cookie's name begins with it. */
export const cookiePrefix = "uc"

/** Settings of authentication. */
export type AuthSettings = ReturnType<typeof authOf>

/** Roles whose members can do nothing without a second factor. */
export const guardedRoles = ({ twoFactor }: Pick<AuthSettings, "twoFactor">): ReadonlySet<string> =>
  new Set(twoFactor.enabled ? twoFactor.requiredForRoles : [])

/** Variables that better-auth reads by itself and that would win over these settings unseen. */
export const variablesOfBetterAuth = ["secrets", "trusted_origins", "telemetry"]
  .map((name) => `BETTER_AUTH_${name.toUpperCase()}`)

export const authOf = (
  auth: typeof authSettings.Type,
  url: string | undefined,
  hasMail: boolean,
  environment: Setting.Environment,
  problems: Setting.Problems
) => {
  const publicUrl = Option.map(Option.fromUndefinedOr(url), (address) => new URL(address).origin)
  const secureCookies = environment === "production" ||
    Option.exists(publicUrl, (address) => address.startsWith("https:"))
  const { verificationPage: page } = auth
  if (environment === "production" && auth.secret === undefined) problems.missing("STOA_AUTH_SECRET", authSecret)
  if (auth.requireEmailVerification && environment === "production" && !hasMail) {
    const remedy = "false in production without mail (email.smtp or STOA_SMTP_URL): no user could verify an address"
    problems.refuse("auth.requireEmailVerification", true, remedy)
  }
  if (page !== undefined && !(URL.canParse(page) && auth.trustedOrigins.includes(new URL(page).origin))) {
    problems.refuse(
      "auth.verificationPage",
      page,
      "an address of one of `auth.trustedOrigins`, https://shop.example/verify"
    )
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
