import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Option, Redacted } from "effect"
import { mkdtemp, readdir, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { definePlugin } from "stoa/plugin"
import { keyCommands } from "../../src/layers/access/ApiKeyCommand.ts"
import { AuthSecret } from "../../src/layers/auth/AuthSecret.ts"
import { AppConfig, readSettings } from "../../src/layers/config/AppConfig.ts"
import type { AuthOptions } from "../../src/layers/config/AuthConfig.ts"

const long = "0123456789012345678901234567890123456789"
const withoutMail = { requireEmailVerification: false }

const read = (env: Record<string, string>, auth: AuthOptions = withoutMail) =>
  readSettings({ auth }).pipe(Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))))

const refusal = (env: Record<string, string>, auth?: AuthOptions) =>
  Effect.map(Effect.flip(read(env, auth)), (error) => error.message)

const production = { NODE_ENV: "production", STOA_AUTH_SECRET: long }

describe("the settings of authentication", () => {
  it.effect("the settings of authentication require a strong secret in production and do not show a wrong one", () =>
    Effect.gen(function*() {
      assert.match(
        yield* refusal({ NODE_ENV: "production" }),
        /^STOA_AUTH_SECRET is missing: expected at least 32 .*openssl/
      )
      const short = yield* refusal({ NODE_ENV: "production", STOA_AUTH_SECRET: "too-short" })
      assert.match(short, /^STOA_AUTH_SECRET="…"/)
      assert.match(yield* refusal({ STOA_AUTH_SECRET: "too-short" }), /^STOA_AUTH_SECRET="…"/)
      const { auth } = yield* read(production)
      assert.deepStrictEqual([auth.secureCookies, auth.sessionCookie], [true, "__Secure-uc.session_token"])
    }))

  it.effect("the settings of authentication disable API keys by default, and creating one says how to enable them", () =>
    Effect.gen(function*() {
      const settings = yield* read({})
      assert.isFalse(settings.auth.apiKeys.enabled)
      assert.isTrue((yield* read({}, { ...withoutMail, apiKeys: { enabled: true } })).auth.apiKeys.enabled)
      const asked = {
        name: "Warehouse",
        role: Option.some("staff"),
        scope: Option.none(),
        org: Option.none(),
        expires: Option.none()
      }
      const refused = yield* Effect.flip(keyCommands(settings).create(asked))
      assert.strictEqual(
        refused.message,
        "Stored keys open nothing: switch them on with auth.apiKeys.enabled in commerce.config.ts."
      )
    }))

  it.effect("the settings of authentication require API keys of plugins that give them", () =>
    Effect.gen(function*() {
      const kiosk = { kiosk: { prefix: "kiosk_", permissions: { orders: ["read"] } } }
      const plugins = [definePlugin({ id: "kiosks", version: "1.0.0", keyScopes: kiosk })]
      const settings = (enabled: boolean) =>
        readSettings({ auth: { ...withoutMail, apiKeys: { enabled } }, plugins }).pipe(
          Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: {} })))
        )
      assert.isTrue((yield* settings(true)).auth.apiKeys.enabled)
      assert.strictEqual(
        (yield* Effect.flip(settings(false))).message,
        "auth.apiKeys.enabled=\"false\" is not allowed: expected true, because the plugin \"kiosks\" gives API keys."
      )
    }))

  it.effect("the settings of authentication restrict cookies to https where clients use https", () =>
    Effect.gen(function*() {
      const cookie = (env: Record<string, string>) => Effect.map(read(env), ({ auth }) => auth.sessionCookie)
      assert.strictEqual(yield* cookie({}), "uc.session_token")
      assert.strictEqual(yield* cookie({ STOA_PUBLIC_URL: "http://localhost:4000" }), "uc.session_token")
      assert.strictEqual(yield* cookie({ STOA_PUBLIC_URL: "https://shop.example" }), "__Secure-uc.session_token")
    }))

  it.effect("the settings of authentication end the start when they are invalid", () =>
    Effect.gen(function*() {
      for (
        const url of ["shop.example", "https://shop.example/path", "ftp://shop.example", "https://u:p@shop.example"]
      ) {
        assert.match(yield* refusal({ STOA_PUBLIC_URL: url }), /^STOA_PUBLIC_URL=/, url)
      }
      const wrong: ReadonlyArray<readonly [AuthOptions, RegExp]> = [
        [{ trustedOrigins: ["*"] }, /^auth\.trustedOrigins=/],
        [{ trustedOrigins: ["https://shop.example/page"] }, /^auth\.trustedOrigins=/],
        [{ sessionDuration: 1 }, /^auth\.sessionDuration=/],
        [{ sessionDuration: 1.5e9 }, /^auth\.sessionDuration=/]
      ]
      for (const [auth, message] of wrong) assert.match(yield* refusal({}, { ...withoutMail, ...auth }), message)
      assert.match(yield* refusal(production, {}), /requireEmailVerification/)
      for (const name of ["BETTER_AUTH_SECRETS", "BETTER_AUTH_TRUSTED_ORIGINS", "BETTER_AUTH_TELEMETRY"]) {
        assert.match(yield* refusal({ [name]: "1:x" }), new RegExp(`^${name}="…"`))
      }
    }))

  it.effect("the settings of authentication create a secret once outside of production, in a file that no other user can read", () =>
    Effect.gen(function*() {
      const dataDir = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "stoa-auth-"))),
        (dir) => Effect.promise(() => rm(dir, { recursive: true }))
      )
      const settings = { ...yield* read({}), dataDir }
      const secret = Effect.map(AuthSecret, Redacted.value).pipe(
        Effect.provide(Layer.fresh(AuthSecret.layer).pipe(Layer.provide(Layer.succeed(AppConfig, settings))))
      )
      const found = yield* Effect.all(Array.from({ length: 5 }, () => secret), { concurrency: "unbounded" })
      assert.strictEqual(new Set(found).size, 1)
      assert.isAtLeast(found[0]?.length ?? 0, 32)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(dataDir)), ["auth-secret"])
      assert.strictEqual((yield* Effect.promise(() => stat(join(dataDir, "auth-secret")))).mode & 0o777, 0o600)
      assert.isTrue(Option.isNone(settings.auth.secret))
    }))
})
