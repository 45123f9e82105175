import { Effect, Option, Redacted } from "effect"
import type { MailTemplate } from "../../domain/mail/Mail.ts"
import { isMailAddress } from "../../domain/mail/MailAddress.ts"
import { developmentKeyring, type Keyring } from "../../domain/webhooks/SecretEncryption.ts"
import type { MailAdapter } from "../mail/AdapterTransport.ts"
import type { MailLocales } from "../mail/MailContent.ts"
import { canonicalLocale } from "../mail/MailTexts.ts"
import { InvalidSetting } from "./InvalidSetting.ts"
import { type Environment, text } from "./Variables.ts"

/** A mail server; times in milliseconds. */
export interface SmtpOptions {
  /** `smtp://user:password@host:587` or `smtps://…:465` (`STOA_SMTP_URL`); what is said beside it wins. */
  readonly url?: string
  readonly host?: string
  /** Default 587, or 465 when `secure`. */
  readonly port?: number
  readonly user?: string
  readonly pass?: string
  /** TLS from the first byte. Default: when the port is 465. */
  readonly secure?: boolean
  /**
   * What happens on a connection that begins without TLS. `required`: none that cannot be encrypted is used.
   * `opportunistic`: encrypted where the server can. `never`: not even then. Default: `required` in production and
   * wherever there is a password, unless the server is this machine; else `opportunistic`.
   */
  readonly starttls?: "required" | "opportunistic" | "never"
  /** Certificate in PEM that vouches for the server, when no public authority does. */
  readonly ca?: string
  /** Connections of each process, which are mails that it sends at the same time. Default 5. */
  readonly connections?: number
  /** Longest wait for a connection and its greeting. Default 10000. */
  readonly connectTimeoutMs?: number
  /** Longest silence of the server, and how long a connection stays that has nothing to do. Default 20000. */
  readonly answerTimeoutMs?: number
  /** Longest time for a whole mail, however the server dribbles. Default 60000. */
  readonly sendTimeoutMs?: number
}

/** What a deployment decides about its mails (docs/mail.md). */
export interface EmailOptions {
  /** Address of the sender; needed with `smtp` (`STOA_MAIL_FROM`). */
  readonly from?: string
  readonly smtp?: SmtpOptions
  /** Sends mails in another way (contract, platform §3). */
  readonly send?: MailAdapter
  /** Templates that are not sent. */
  readonly switchedOff?: ReadonlyArray<MailTemplate>
  /** Language tag of mails that ask for none. Default `en`, which is built in. */
  readonly locale?: string
  /** Texts by language tag and template, in the place of those that are built in (docs/mail.md). */
  readonly templates?: MailLocales
}

/** A mail server with everything decided. */
export interface SmtpSettings {
  readonly host: string
  readonly port: number
  readonly secure: boolean
  readonly starttls: "required" | "opportunistic" | "never"
  readonly ca: string | undefined
  readonly login: { readonly user: string; readonly pass: Redacted.Redacted<string> } | undefined
  readonly from: string
  readonly connections: number
  readonly connectTimeoutMs: number
  readonly answerTimeoutMs: number
  readonly sendTimeoutMs: number
}

/** How mails leave this deployment; `files` in development only. */
export type MailWay =
  | { readonly kind: "smtp"; readonly smtp: SmtpSettings }
  | { readonly kind: "adapter"; readonly send: MailAdapter }
  | { readonly kind: "files" }
  | { readonly kind: "off" }

/** What environment and deployment say of mails. */
export interface MailEnvironment {
  readonly way: MailWay
  /** Seals mails while they wait. */
  readonly keyring: Keyring
  /** Canonical, like the keys of `locales`. */
  readonly locale: string
  readonly locales: MailLocales
  /** Domain of the sender. */
  readonly domain: string
}

const refuse = (message: string) => Effect.fail(new InvalidSetting({ message }))

const variable = (name: string) => Effect.map(text(name), Option.getOrUndefined)

const ofUrl = (value: string): SmtpOptions | undefined => {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || !/^smtps?:$/.test(url.protocol) || url.hostname === "") return undefined
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    secure: url.protocol === "smtps:",
    ...url.port === "" ? {} : { port: Number(url.port) },
    ...url.username === "" ? {} : { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) }
  }
}

const isThisMachine = (host: string) => /^(localhost|127(\.\d+){3}|::1)$/.test(host)

const limits = {
  connections: [5, 1, 100],
  connectTimeoutMs: [10_000, 1, 600_000],
  answerTimeoutMs: [20_000, 1, 600_000],
  sendTimeoutMs: [60_000, 1, 240_000]
} as const

const limit = Effect.fnUntraced(function*(options: SmtpOptions, name: keyof typeof limits) {
  const [byDefault, least, most] = limits[name]
  const value = options[name] ?? byDefault
  return Number.isInteger(value) && value >= least && value <= most
    ? value
    : yield* refuse(`email.smtp.${name}="${value}" is not allowed: expected a whole number from ${least} to ${most}.`)
})

const smtpOf = Effect.fnUntraced(
  function*(configured: SmtpOptions, url: string | undefined, from: string | undefined, environment: Environment) {
    const address = url ?? configured.url
    const parsed = address === undefined ? {} : ofUrl(address)
    // The address holds a password, so the message shows nothing of it.
    if (parsed === undefined) {
      return yield* refuse("STOA_SMTP_URL=\"…\" is not allowed: expected smtp://user:password@host:587 or smtps://….")
    }
    // The environment wins over the configuration; in the configuration what is said alone wins over the address.
    const options = url === undefined ? { ...parsed, ...configured } : { ...configured, ...parsed }
    const { host, pass, user } = options
    if (host === undefined || host === "") return yield* refuse("email.smtp.host is missing: expected a host name.")
    if (from === undefined || !isMailAddress(from)) {
      return yield* refuse(`email.from="${from ?? ""}" is not allowed: expected the address of the sender.`)
    }
    const secure = options.secure ?? options.port === 465
    const port = options.port ?? (secure ? 465 : 587)
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      return yield* refuse(`email.smtp.port="${port}" is not allowed: expected a port number from 1 to 65535.`)
    }
    const guarded = (environment === "production" || user !== undefined) && !isThisMachine(host)
    const settings: SmtpSettings = {
      host,
      port,
      secure,
      ca: options.ca,
      starttls: options.starttls ?? (guarded ? "required" : "opportunistic"),
      login: user === undefined ? undefined : { user, pass: Redacted.make(pass ?? "", { label: "mail password" }) },
      from,
      connections: yield* limit(options, "connections"),
      connectTimeoutMs: yield* limit(options, "connectTimeoutMs"),
      answerTimeoutMs: yield* limit(options, "answerTimeoutMs"),
      sendTimeoutMs: yield* limit(options, "sendTimeoutMs")
    }
    return settings
  }
)

const wayOf = Effect.fnUntraced(function*(email: EmailOptions | undefined, environment: Environment) {
  const url = yield* variable("STOA_SMTP_URL")
  const from = (yield* variable("STOA_MAIL_FROM")) ?? email?.from
  if (url !== undefined || email?.smtp !== undefined) {
    const way: MailWay = { kind: "smtp", smtp: yield* smtpOf(email?.smtp ?? {}, url, from, environment) }
    return way
  }
  return mailWayWithoutServer(email, environment)
})

/** The way of a deployment that names no server. */
export const mailWayWithoutServer = (email: EmailOptions | undefined, environment: Environment): MailWay => {
  if (email?.send !== undefined) return { kind: "adapter", send: email.send }
  return { kind: environment === "development" ? "files" : "off" }
}

/** Every language under its canonical name; a name that is none is given back instead. */
const localesOf = (email: EmailOptions | undefined): MailLocales | string => {
  const found: Record<string, MailLocales[string]> = {}
  for (const [tag, writers] of Object.entries(email?.templates ?? {})) {
    const canonical = canonicalLocale(tag)
    if (canonical === undefined) return tag
    found[canonical] = writers
  }
  return found
}

const badTag = (name: string, tag: string) =>
  refuse(`${name}="${tag}" is not allowed: expected a language tag, for example de or de-AT.`)

/** What mails of a deployment are like that has no server; for tests as well, which read no environment. */
export const mailSettingsOf = Effect.fnUntraced(
  function*(email: EmailOptions | undefined, way: MailWay, keyring: Keyring) {
    const locale = canonicalLocale(email?.locale ?? "en")
    if (locale === undefined) return yield* badTag("email.locale", email?.locale ?? "")
    const locales = localesOf(email)
    if (typeof locales === "string") return yield* badTag("email.templates", locales)
    const from = way.kind === "smtp" ? way.smtp.from : email?.from ?? ""
    const settings: MailEnvironment = {
      way,
      keyring,
      locale,
      locales,
      domain: /@([\w.-]+)$/.exec(from)?.[1] ?? "localhost"
    }
    return settings
  }
)

/** Reads what the deployment and the environment say of mails; fails with one readable line. */
export const readMail = Effect.fnUntraced(
  function*(email: EmailOptions | undefined, environment: Environment, keyring: Keyring | undefined) {
    const way = yield* wayOf(email, environment)
    if (environment === "production" && keyring === undefined && way.kind !== "off") {
      return yield* refuse(
        "STOA_SECRETS_KEY=\"\" is not allowed: expected a key (openssl rand -base64 32), which seals mails while they wait."
      )
    }
    return yield* mailSettingsOf(email, way, keyring ?? developmentKeyring)
  }
)

/**
 * Ends the start of a deployment where nobody could ever sign in: addresses have to be verified, and no mail leaves. For
 * whoever reads `auth.requireEmailVerification`.
 */
export const verificationNeedsMail = (
  requireEmailVerification: boolean,
  environment: Environment,
  { way }: MailEnvironment
): Effect.Effect<void, InvalidSetting> =>
  requireEmailVerification && environment === "production" && way.kind === "off"
    ? refuse(
      "auth.requireEmailVerification=\"true\" is not allowed: expected false in production without mail (email.smtp or " +
        "STOA_SMTP_URL), as nobody could verify an address."
    )
    : Effect.void
