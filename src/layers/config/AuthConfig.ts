import { Effect, Option, Redacted } from "effect"
import { allReadable, type Environment, missing, refuse, text } from "./Variables.ts"

/** Credentials of the deployment at a provider of social sign-in. */
export interface SocialProvider {
  readonly clientId: string
  readonly clientSecret: string
}

/** What a deployment decides of users, sessions and keys: `auth` of `commerce.config.ts` (spec §5). */
export interface AuthOptions {
  /**
   * Signs session cookies and verification links and encrypts second factors; at least 32 characters, the same in every
   * process (`STOA_AUTH_SECRET`). Required in production; elsewhere one is made and kept in the data directory.
   */
  readonly secret?: string
  /** Life of a session in seconds; its use renews it once a day. Default 604800, seven days. */
  readonly sessionDuration?: number
  /** Nobody signs in before he has opened the link that was mailed to him. Default true. */
  readonly requireEmailVerification?: boolean
  /**
   * A page of the shop's own that mailed links of verification lead to, with `token` and `callbackURL`; it sends them to
   * `POST /api/auth/verify-email`. Of a trusted origin. Default: a page of this service.
   */
  readonly verificationPage?: string
  /** One-time codes of an authenticator app. Default: everybody may use them, nobody has to. */
  readonly twoFactor?: {
    readonly enabled?: boolean
    /** Roles whose members are refused everything but `/api/auth/*` until they have set it up. */
    readonly requiredForRoles?: ReadonlyArray<string>
  }
  /** Sign-in with an account of one of these. Default: none. */
  readonly socialProviders?: {
    readonly google?: SocialProvider
    readonly github?: SocialProvider
  }
  /**
   * Origins (`https://shop.example`) whose pages may send cookies and read answers, and to which links may lead. Outside
   * production pages of this machine may too.
   */
  readonly trustedOrigins?: ReadonlyArray<string>
  /** Lets every user make organizations of his own, whose owner he is. Default false. */
  readonly allowOrganizationCreation?: boolean
  readonly apiKeys?: {
    /** Whether stored keys are accepted and can be made. Default false (contract, platform §16). */
    readonly enabled?: boolean
  }
}

/** The settings of authentication in this process. */
export interface AuthSettings {
  /** None outside of production: the one of the data directory (`AuthSecret`). */
  readonly secret: Option.Option<Redacted.Redacted<string>>
  /** Where clients reach this deployment: links in mails and redirects begin with it. */
  readonly publicUrl: Option.Option<string>
  /** Cookies are for https alone, and their names say so. */
  readonly secureCookies: boolean
  /** Name of the session cookie. */
  readonly sessionCookie: string
  /** Seconds. */
  readonly sessionDuration: number
  readonly requireEmailVerification: boolean
  /** Where links of verification lead; none: to the page of this service. */
  readonly verificationPage: Option.Option<string>
  readonly twoFactor: { readonly enabled: boolean; readonly requiredForRoles: ReadonlyArray<string> }
  readonly socialProviders: NonNullable<AuthOptions["socialProviders"]>
  readonly trustedOrigins: ReadonlyArray<string>
  readonly allowOrganizationCreation: boolean
  readonly apiKeys: { readonly enabled: boolean }
}

/** Roles whose members do nothing without a second factor. */
export const guardedRoles = ({ twoFactor }: Pick<AuthSettings, "twoFactor">): ReadonlySet<string> =>
  new Set(twoFactor.enabled ? twoFactor.requiredForRoles : [])

/** A session in use is renewed after this many seconds (contract, platform §3). */
export const sessionUpdateAge = 86_400

/** Every cookie's name begins with it. */
export const cookiePrefix = "uc"

const shortestSecret = 32

const secret = Effect.fnUntraced(function*(configured: string | undefined, environment: Environment) {
  const found = Option.orElse(yield* text("STOA_AUTH_SECRET"), () => Option.fromUndefinedOr(configured))
  if (Option.isNone(found)) {
    return environment === "production"
      ? yield* missing("STOA_AUTH_SECRET", `at least ${shortestSecret} random characters (openssl rand -base64 32)`)
      : Option.none<Redacted.Redacted<string>>()
  }
  return found.value.length >= shortestSecret
    ? Option.some(Redacted.make(found.value))
    : yield* refuse("STOA_AUTH_SECRET", "…", `at least ${shortestSecret} characters (openssl rand -base64 32)`)
})

/** The origin of a web address; undefined for anything else, and for an address with a path. */
const originOf = (value: string): string | undefined => {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const plain = url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "" &&
    url.username === "" && url.hash === ""
  return plain ? url.origin : undefined
}

/** Where clients reach the deployment. */
export const publicUrl = Effect.fnUntraced(function*(configured: string | undefined) {
  const value = Option.getOrUndefined(yield* text("STOA_PUBLIC_URL")) ?? configured
  if (value === undefined) return Option.none<string>()
  const origin = originOf(value)
  return origin === undefined
    ? yield* refuse("STOA_PUBLIC_URL", value, "the address of the deployment without a path, https://shop.example")
    : Option.some(origin)
})

const trustedOrigins = (configured: ReadonlyArray<string>) =>
  Effect.forEach(configured, (value) => {
    const origin = originOf(value)
    return origin === undefined
      ? refuse("auth.trustedOrigins", value, "an origin, for example https://shop.example")
      : Effect.succeed(origin)
  })

const verificationPage = (configured: string | undefined, trusted: ReadonlyArray<string>) =>
  configured === undefined
    ? Effect.succeedNone
    : URL.canParse(configured) && trusted.includes(new URL(configured).origin)
    ? Effect.succeedSome(configured)
    : refuse(
      "auth.verificationPage",
      configured,
      "an address of one of `auth.trustedOrigins`, https://shop.example/verify"
    )

const sessionDuration = (value: number) =>
  Number.isInteger(value) && value >= 60 && value <= 34_560_000
    ? Effect.succeed(value)
    // Browsers keep no cookie longer than 400 days.
    : refuse("auth.sessionDuration", String(value), "a whole number of seconds from 60 to 34560000")

/** Variables that better-auth reads by itself and that would win over these settings, unseen. */
const foreign = ["secrets", "trusted_origins", "telemetry"].map((name) => `BETTER_AUTH_${name.toUpperCase()}`)

const noneOfItsOwn = Effect.forEach(foreign, (name) =>
  Effect.flatMap(text(name), (found) =>
    Option.isSome(found)
      ? refuse(name, "…", "no value: this service takes its settings from `auth` and from variables of its own")
      : Effect.void), { discard: true })

/** Reads what the deployment and the environment say of authentication; fails with a readable line for each. */
export const readAuth = Effect.fnUntraced(
  function*(options: AuthOptions, configuredUrl: string | undefined, environment: Environment) {
    const readers = {
      secret: secret(options.secret, environment),
      url: publicUrl(configuredUrl),
      sessionDuration: sessionDuration(options.sessionDuration ?? 604_800),
      trustedOrigins: trustedOrigins(options.trustedOrigins ?? [])
    }
    yield* allReadable({ noneOfItsOwn, ...readers })
    const read = yield* Effect.all(readers)
    const { url } = read
    const secureCookies = environment === "production" || Option.exists(url, (value) => value.startsWith("https:"))
    const settings: AuthSettings = {
      secret: read.secret,
      publicUrl: url,
      ...cookies(secureCookies),
      sessionDuration: read.sessionDuration,
      requireEmailVerification: options.requireEmailVerification ?? true,
      verificationPage: yield* verificationPage(options.verificationPage, options.trustedOrigins ?? []),
      twoFactor: {
        enabled: options.twoFactor?.enabled ?? true,
        requiredForRoles: options.twoFactor?.requiredForRoles ?? []
      },
      socialProviders: options.socialProviders ?? {},
      trustedOrigins: read.trustedOrigins,
      allowOrganizationCreation: options.allowOrganizationCreation ?? false,
      apiKeys: { enabled: options.apiKeys?.enabled ?? false }
    }
    return settings
  }
)

const cookies = (secureCookies: boolean) => ({
  secureCookies,
  sessionCookie: `${secureCookies ? "__Secure-" : ""}${cookiePrefix}.session_token`
})

/** What tests run with, over a deployment's options: a secret that everybody knows, and keys that open something. */
export const testAuth = (options: AuthOptions = {}): AuthSettings => ({
  secret: Option.some(Redacted.make(options.secret ?? "a secret of the tests that everybody may know")),
  publicUrl: Option.none(),
  ...cookies(false),
  sessionDuration: options.sessionDuration ?? 604_800,
  requireEmailVerification: options.requireEmailVerification ?? true,
  verificationPage: Option.fromUndefinedOr(options.verificationPage),
  twoFactor: {
    enabled: options.twoFactor?.enabled ?? true,
    requiredForRoles: options.twoFactor?.requiredForRoles ?? []
  },
  socialProviders: options.socialProviders ?? {},
  trustedOrigins: options.trustedOrigins ?? [],
  allowOrganizationCreation: options.allowOrganizationCreation ?? false,
  apiKeys: { enabled: options.apiKeys?.enabled ?? true }
})
