import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
import type { EmailOptions } from "../../src/layers/config/MailConfig.ts"

const key = Buffer.alloc(32, 1).toString("base64")
const withoutKey = { NODE_ENV: "production", STOA_AUTH_SECRET: key, STOA_PUBLIC_URL: "https://shop.example" }
const production = { ...withoutKey, STOA_SECRETS_KEY: key }

const read = (env: Record<string, string>, email?: EmailOptions) => {
  const auth = { requireEmailVerification: false }
  const deployment: DeploymentConfig = email === undefined ? { auth } : { auth, email }
  return Effect.provide(
    Effect.map(readSettings(deployment), ({ mail }) => mail),
    ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
  )
}

const wayOf = (env: Record<string, string>, email?: EmailOptions) => Effect.map(read(env, email), ({ way }) => way)

const smtpOf = Effect.fnUntraced(function*(env: Record<string, string>, email?: EmailOptions) {
  const way = yield* wayOf(env, email)
  return way.kind === "smtp" ? way.smtp : assert.fail(`the way is ${way.kind}`)
})

const from = "orders@shop.example"

describe("how mails leave a deployment", () => {
  it.effect("a deployment without mail settings writes files in development and sends no mail elsewhere", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* wayOf({}), { kind: "files" })
      assert.deepStrictEqual(yield* wayOf({ NODE_ENV: "test" }), { kind: "off" })
      assert.deepStrictEqual(yield* wayOf(withoutKey), { kind: "off" })
    }))

  it.effect("a configured adapter sends the mails", () =>
    Effect.gen(function*() {
      const send = () => Effect.void
      assert.deepStrictEqual(yield* wayOf(production, { send }), { kind: "adapter", send })
    }))

  it.effect("a mail server is configured by its URL or by its parts", () =>
    Effect.gen(function*() {
      const url = "smtp://shop%40a:p%2Fw@mail.example"
      const named = yield* smtpOf({ STOA_SMTP_URL: url, STOA_MAIL_FROM: from })
      assert.deepInclude(named, { host: "mail.example", port: 587, secure: false, starttls: "required", from })
      assert.strictEqual(named.login?.user, "shop@a")
      assert.strictEqual(named.login && Redacted.value(named.login.pass), "p/w")
      const secure = yield* smtpOf({}, { from, smtp: { url: "smtps://mail.example" } })
      assert.deepInclude(secure, { port: 465, secure: true, login: undefined, starttls: "opportunistic" })
      const parts = yield* smtpOf({}, { from, smtp: { host: "::1", port: 465, user: "u", pass: "p" } })
      assert.deepInclude(parts, { host: "::1", port: 465, secure: true, starttls: "opportunistic" })
      assert.deepInclude(yield* smtpOf(production, { from, smtp: { host: "m.example" } }), { starttls: "required" })
    }))

  it.effect("the environment takes precedence over the configuration, which fills the rest", () =>
    Effect.gen(function*() {
      const email = { from: "a@a.example", smtp: { url: "smtp://a.example", port: 25, connections: 2 } }
      const smtp = yield* smtpOf({ STOA_SMTP_URL: "smtp://b.example:2525", STOA_MAIL_FROM: from }, email)
      assert.deepInclude(smtp, { host: "b.example", port: 2525, from, connections: 2 })
      assert.deepInclude(yield* smtpOf({}, email), { host: "a.example", port: 25, from: "a@a.example" })
    }))

  it.effect("the settings print no password", () =>
    Effect.gen(function*() {
      const mail = yield* read({ STOA_SMTP_URL: "smtp://u:hidden-word@mail.example", STOA_MAIL_FROM: from })
      assert.notInclude(JSON.stringify(mail.way), "hidden-word")
      assert.deepStrictEqual([mail.domain, mail.locale], ["shop.example", "en"])
    }))
})

describe("mail settings that cannot be used", () => {
  const wrong: ReadonlyArray<readonly [name: string, env: Record<string, string>, email: EmailOptions | undefined]> = [
    ["STOA_SMTP_URL=\"…\"", { STOA_SMTP_URL: "http://u:secret-word@h" }, { from }],
    ["email.smtp.host", {}, { from, smtp: {} }],
    ["email.from=\"\"", {}, { smtp: { host: "h" } }],
    ["email.from=\"a@b\nBcc: c@d\"", {}, { from: "a@b\nBcc: c@d", smtp: { host: "h" } }],
    ["email.smtp.port=\"70000\"", {}, { from, smtp: { host: "h", port: 70_000 } }],
    ["email.smtp.connections=\"0\"", {}, { from, smtp: { host: "h", connections: 0 } }],
    ["email.smtp.sendTimeoutMs=\"0.5\"", {}, { from, smtp: { host: "h", sendTimeoutMs: 0.5 } }],
    ["email.locale=\"e n\"", {}, { locale: "e n" }],
    ["email.templates=\"deutsch!\"", {}, { templates: { "deutsch!": {} } }],
    ["STOA_SECRETS_KEY=\"\"", withoutKey, { from, smtp: { host: "h" } }]
  ]
  for (const [name, env, email] of wrong) {
    it.effect(`a start with the invalid setting ${JSON.stringify(name)} fails with a line that names it`, () =>
      Effect.gen(function*() {
        const { message } = yield* Effect.flip(read(env, email))
        assert.include(message, name)
        assert.notInclude(message, "secret-word")
      }))
  }

  it.effect("a production that requires verified addresses without mail does not start", () =>
    Effect.gen(function*() {
      const starting = (env: Record<string, string>, email: EmailOptions = {}) =>
        readSettings({ auth: { requireEmailVerification: true }, email }).pipe(
          Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
        )
      assert.match(
        (yield* Effect.flip(starting(withoutKey))).message,
        /^auth\.requireEmailVerification="true" is not allowed: expected false/
      )
      yield* starting({ NODE_ENV: "development" })
      yield* starting(production, { send: () => Effect.void })
    }))
})
