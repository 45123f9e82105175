import { Effect, Redacted } from "effect"
import { type MailTemplate } from "../../domain/mail/Mail.ts"
import type { MailLocales } from "../../domain/mail/MailContent.ts"
import { type Mailing, withPluginMails } from "../../domain/mail/PluginMails.ts"
import { normalizedMailbox } from "../../domain/platform/text/Email.ts"
import { developmentKeyring, type Keyring } from "../../domain/webhooks/SecretEncryption.ts"
import { canonicalLocale } from "../mail/MailTexts.ts"
import type { MailAdapter } from "../mail/MailTransport.ts"
import { isLoopback } from "./NetworkConfig.ts"
import * as is from "./Rules.ts"
import { type Environment, group, option, type Options, type Problems, setting, variable } from "./Settings.ts"

/** The parts of `smtp://user:password@host:port`; undefined for other texts. */
const partsOf = (address: string) => {
  const url = URL.parse(address)
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === "") return undefined
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    secure: url.protocol === "smtps:",
    ...url.port !== "" && { port: Number(url.port) },
    ...url.username !== "" && {
      user: decodeURIComponent(url.username),
      pass: Redacted.make(decodeURIComponent(url.password), { label: "mail password" })
    }
  }
}

const smtpForm = "smtp://user:password@host:587 or smtps://…"
const tagForm = "a language tag, for example de or de-AT"

export const mailSettings = group({
  /** Address of the sender; needed with `smtp` (`STOA_MAIL_FROM`). */
  from: option(is.text, "STOA_MAIL_FROM"),
  /** A mail server; times in milliseconds. */
  smtp: group({
    /** `smtp://user:password@host:587` or `smtps://…:465` (`STOA_SMTP_URL`); the settings below win over it. */
    url: option(is.secret(smtpForm, (address) => partsOf(address) !== undefined), "STOA_SMTP_URL"),
    host: option(is.text),
    /** Default 587, or 465 with `secure`. */
    port: option(is.whole(1, 65_535).annotate({ description: "a port number from 1 to 65535" })),
    user: option(is.text),
    pass: option(is.secret("a password")),
    /** TLS from the first byte. Default: if the port is 465. */
    secure: option(is.flag),
    /**
     * Encryption of a connection that begins without TLS. `opportunistic`: if the server can. Default: `required` in
     * production and with a password, unless the server is this machine; else `opportunistic`.
     */
    starttls: option(is.oneOf("required", "opportunistic", "never")),
    /** Certificate in PEM of the server's authority, if it is no public one. */
    ca: option(is.text),
    /** Connections of each process: mails that it sends at the same time. Default 5. */
    connections: setting(is.whole(1, 100), 5),
    /** Maximum wait for a connection and its greeting. Default 10000. */
    connectTimeoutMs: setting(is.ms(1, 600_000), 10_000),
    /** Maximum silence of the server, and how long an idle connection is kept. Default 20000. */
    answerTimeoutMs: setting(is.ms(1, 600_000), 20_000),
    /** Maximum time for a whole mail. Default 60000. */
    sendTimeoutMs: setting(is.ms(1, 240_000), 60_000)
  }),
  /** Sends mails in another way (contract, platform §3). */
  send: option(is.code<MailAdapter>()),
  /** Templates that are not sent. */
  switchedOff: setting(is.code<ReadonlyArray<MailTemplate>>(), []),
  /** Language tag of mails whose recipient has none. Default `en`, which is built in. */
  locale: setting(is.textThat((tag) => canonicalLocale(tag) !== undefined, tagForm), "en"),
  /** Texts by language tag and template, in place of the built-in ones (docs/mail.md). */
  templates: setting(is.code<MailLocales>(), {})
})
export type EmailOptions = Options<typeof mailSettings.fields>
type Email = typeof mailSettings.Type

/** A mail server. */
export type SmtpSettings = ReturnType<typeof smtpOf>

/** How mails leave this deployment; `files` in development only. */
export type MailWay =
  | { readonly kind: "smtp"; readonly smtp: SmtpSettings }
  | { readonly kind: "adapter"; readonly send: MailAdapter }
  | { readonly kind: "files" | "off" }

const smtpOf = (
  { from = "", smtp }: Email,
  isFromEnvironment: boolean,
  environment: Environment,
  problems: Problems
) => {
  const { pass: _, url, user: __, ...same } = smtp
  const inUrl: Partial<Email["smtp"]> = (url && partsOf(Redacted.value(url))) ?? {}
  // The environment wins over the configuration, in which single settings win over the address.
  const pick = <K extends "host" | "port" | "user" | "pass" | "secure">(name: K) =>
    isFromEnvironment ? inUrl[name] ?? smtp[name] : smtp[name] ?? inUrl[name]
  const [host = "", user, pass = Redacted.make("")] = [pick("host"), pick("user"), pick("pass")]
  const secure = pick("secure") ?? pick("port") === 465
  if (host === "") problems.missing("email.smtp.host", "a host name")
  if (normalizedMailbox(from) === undefined) problems.refuse("email.from", from, "the address of the sender")
  const mustEncrypt = (environment === "production" || user !== undefined) && !isLoopback(host)
  return {
    ...same,
    host,
    port: pick("port") ?? (secure ? 465 : 587),
    secure,
    starttls: smtp.starttls ?? (mustEncrypt ? "required" as const : "opportunistic" as const),
    login: user === undefined ? undefined : { user, pass },
    from
  }
}

/** Languages by their canonical tags. */
const localesOf = ({ templates }: Email, problems: Problems): MailLocales =>
  Object.fromEntries(
    Object.entries(templates).map(([tag, writers]) => {
      const canonical = canonicalLocale(tag)
      if (canonical === undefined) problems.refuse("email.templates", tag, tagForm)
      return [canonical ?? tag, writers]
    })
  )

/** How mails leave the deployment, and the key that encrypts them while they wait. */
export const mailOf = Effect.fnUntraced(function*(
  email: Email,
  hasServer: boolean,
  keyring: Keyring | undefined,
  plugins: ReadonlyArray<Mailing>,
  environment: Environment,
  problems: Problems
) {
  const isFromEnvironment = (yield* variable("STOA_SMTP_URL")) !== undefined
  const withoutServer: MailWay = email.send === undefined
    ? { kind: environment === "development" ? "files" : "off" }
    : { kind: "adapter", send: email.send }
  const way: MailWay = hasServer || isFromEnvironment
    ? { kind: "smtp", smtp: smtpOf(email, isFromEnvironment, environment, problems) }
    : withoutServer
  if (environment === "production" && keyring === undefined && way.kind !== "off") {
    problems.refuse("STOA_SECRETS_KEY", "", "a key (openssl rand -base64 32), which encrypts mails while they wait")
  }
  return {
    way,
    keyring: keyring ?? developmentKeyring,
    locale: canonicalLocale(email.locale) ?? email.locale,
    locales: withPluginMails(plugins, localesOf(email, problems)),
    /** Domain of the sender. */
    domain: /@([\w.-]+)$/.exec(email.from ?? "")?.[1] ?? "localhost"
  }
})
