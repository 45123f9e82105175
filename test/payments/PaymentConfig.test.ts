import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import type { PaymentSettingsOptions } from "../../src/layers/config/PaymentConfig.ts"
import { testProvider } from "../../src/layers/payments/TestProvider.ts"

const reading = (
  options: PaymentSettingsOptions,
  env: Record<string, string> = {},
  environment: "test" | "production" = "test"
) =>
  readSettings({ payments: options, auth: { requireEmailVerification: false, secret: "s".repeat(32) } }).pipe(
    Effect.map(({ payments }) => payments),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env: { ...env, NODE_ENV: environment } })
    )
  )

/** The one line that a start ends with. */
const refusal = (...asked: Parameters<typeof reading>) =>
  Effect.map(Effect.flip(reading(...asked)), (error) => "message" in error ? String(error.message) : "")

const key = "sk_test_configured"

describe("the settings of payments", () => {
  it.effect("has no Stripe account where none is configured", () =>
    Effect.map(reading({}), (settings) => assert.deepStrictEqual(settings, { stripe: [], default: undefined })))

  it.effect("makes an account of the environment alone, and prints no key", () =>
    Effect.gen(function*() {
      const { stripe } = yield* reading({}, {
        STOA_STRIPE_SECRET_KEY: key,
        STOA_STRIPE_WEBHOOK_SECRET: "whsec_a, whsec_b"
      })
      const [account] = stripe
      assert.deepStrictEqual([account?.id, account?.timeoutMs, account?.toleranceSeconds], ["stripe", 10_000, 300])
      assert.deepStrictEqual(account?.webhookSecrets.map(Redacted.value), ["whsec_a", "whsec_b"])
      assert.notInclude(JSON.stringify(stripe), "configured")
      assert.notInclude(JSON.stringify(stripe), "whsec")
    }))

  it.effect("prefers the environment's key, by the account's name", () =>
    Effect.gen(function*() {
      const accounts = [{ secretKey: key }, { id: "stripe-eu", secretKey: key, webhookSecret: "whsec_x" }]
      const { stripe } = yield* reading({ stripe: accounts }, {
        STOA_STRIPE_STRIPE_EU_SECRET_KEY: "rk_live_eu",
        STOA_STRIPE_STRIPE_EU_WEBHOOK_SECRET: "whsec_eu"
      })
      assert.deepStrictEqual(stripe.map(({ secretKey }) => Redacted.value(secretKey)), [key, "rk_live_eu"])
      assert.deepStrictEqual(stripe.map(({ webhookSecrets }) => webhookSecrets.map(Redacted.value)), [[], ["whsec_eu"]])
    }))

  it.effect("refuses a key that is missing or of another kind, and does not show it", () =>
    Effect.gen(function*() {
      assert.match(
        yield* refusal({ stripe: {} }),
        /secret key of the Stripe account 'stripe' is missing: expected sk_…/
      )
      for (const secretKey of ["pk_test_public", "whsec_x", "sk_test_", "hunter2"]) {
        const message = yield* refusal({ stripe: { secretKey } })
        assert.match(message, /is not allowed: expected sk_…/)
        assert.notInclude(message, secretKey === "sk_test_" ? "sk_test_\"" : secretKey)
      }
    }))

  it.effect("refuses invalid addresses, names and figures of an account", () =>
    Effect.gen(function*() {
      const account = { secretKey: key }
      const adapters = [{ ...testProvider({ webhookSecret: "x" }), providerId: "stripe" }]
      const wrong: ReadonlyArray<readonly [PaymentSettingsOptions, RegExp]> = [
        [{ stripe: { ...account, apiUrl: "ftp://x" } }, /apiUrl="ftp:\/\/x" is not allowed/],
        [{ stripe: { ...account, returnUrl: "shop" } }, /returnUrl="shop" is not allowed/],
        [{ stripe: [account, account] }, /two providers are named 'stripe'/],
        [{ stripe: { ...account, id: "test" } }, /two providers are named 'test'/],
        [{ adapters, stripe: account }, /two providers are named 'stripe'/],
        [{ stripe: account, default: "else" }, /default="else" is not allowed: expected one of stripe, test/],
        [{ stripe: { ...account, id: "A b" } }, /id="A b" is not allowed/],
        [{ stripe: { ...account, timeoutMs: 0 } }, /timeoutMs="0" is not allowed/],
        [{ stripe: { ...account, toleranceSeconds: 1.5 } }, /toleranceSeconds="1.5"/]
      ]
      for (const [options, message] of wrong) assert.match(yield* refusal(options), message)
      const elsewhere = { stripe: { ...account, apiUrl: "http://127.0.0.1:1" } }
      assert.match(yield* refusal(elsewhere, {}, "production"), /apiUrl is not allowed: expected none/)
    }))
})
