import { Effect, Redacted } from "effect"
import type { PaymentAdapter } from "../../domain/payments/PaymentAdapter.ts"
import { defaultSettings } from "../../domain/platform/settings/StoreSettings.ts"
import * as is from "./Rules.ts"
import {
  type Environment,
  group,
  option,
  type Options,
  type Problems,
  setting,
  valuesOf,
  variable
} from "./Settings.ts"

/** The account `stripe` has the plain names of variables; those of another account contain its id. */
const variableOf = (
  id: string,
  name: "STOA_STRIPE_PUBLISHABLE_KEY" | "STOA_STRIPE_SECRET_KEY" | "STOA_STRIPE_WEBHOOK_SECRET"
): string =>
  id === "stripe" ? name : name.replace(/^STOA_STRIPE/, `STOA_STRIPE_${id.toUpperCase().replaceAll("-", "_")}`)

const keyForm = "sk_… or rk_…"
const accountName = is.textThat(
  (name) => /^[a-z][a-z0-9_-]{0,31}$/.test(name),
  "up to 32 small letters, digits, - and _"
)
const stripeKey = is.secret(keyForm, (key) => /^(sk|rk)_(test|live)_\w+$/.test(key))

const publishableKey = is.textThat((key) => /^pk_(test|live)_\w+$/.test(key), "pk_…")

const accountSettings = (id: string) =>
  group({
    /** Name of the account as a provider: `paymentMethodId` selects it, orders keep it. Default `stripe`. */
    id: setting(accountName, "stripe"),
    /** Secret or restricted key (`STOA_STRIPE_SECRET_KEY`; `STOA_STRIPE_<ID>_SECRET_KEY` for another id). */
    secretKey: option(stripeKey, variableOf(id, "STOA_STRIPE_SECRET_KEY")),
    /** Key that pages may show, for wallets before the checkout (`STOA_STRIPE_PUBLISHABLE_KEY`; `STOA_STRIPE_<ID>_PUBLISHABLE_KEY`). */
    publishableKey: option(publishableKey, variableOf(id, "STOA_STRIPE_PUBLISHABLE_KEY")),
    /**
     * Secrets that sign its events; two while one replaces the other (`STOA_STRIPE_WEBHOOK_SECRET`, separated by commas;
     * `STOA_STRIPE_<ID>_WEBHOOK_SECRET` for another id). Absent: events are answered 503.
     */
    webhookSecret: option(is.code<string | ReadonlyArray<string>>(), variableOf(id, "STOA_STRIPE_WEBHOOK_SECRET")),
    /** Maximum age of an event's signature in seconds. Default 300. */
    toleranceSeconds: setting(is.whole(1, 86_400), 300),
    /** How long a request waits for Stripe, in milliseconds. Default 10000. */
    timeoutMs: setting(is.ms(1, 80_000), 10_000),
    /** Where banks send the shopper back to after a confirmation on their page. Absent: such methods are not offered. */
    returnUrl: option(is.webAddress("https://…")),
    /** Another address than Stripe's, for tests: refused in production. */
    apiUrl: option(is.webAddress("https://…"))
  })

/** One Stripe account (docs/payments.md). */
export type StripeOptions = Options<ReturnType<typeof accountSettings>["fields"]>

export const paymentSettings = group({
  /** Providers of the deployment. */
  adapters: setting(is.code<ReadonlyArray<PaymentAdapter>>(), []),
  /** One Stripe account or several, each with an `id`. `STOA_STRIPE_SECRET_KEY` alone makes one as well. */
  stripe: option(is.code<StripeOptions | ReadonlyArray<StripeOptions>>()),
  /** Provider of checkouts that name none. Default: the first of `adapters`, of `stripe`, or the built-in test provider. */
  default: option(is.text),
  /** `manual`: checkouts only authorize, and an operator captures (docs/orders.md). Default `automatic`. */
  capture: setting(is.oneOf("automatic", "manual"), defaultSettings.capture),
  test: group({
    /** Signs events of the built-in test provider; outside production only. Default `test`. */
    webhookSecret: setting(is.text, "test")
  })
})
export type PaymentSettingsOptions = Options<typeof paymentSettings.fields>

const accountOf = Effect.fnUntraced(function*(options: StripeOptions, environment: Environment, problems: Problems) {
  const name = variableOf(options.id ?? "stripe", "STOA_STRIPE_SECRET_KEY")
  const path = "payments.stripe"
  const account = yield* valuesOf(accountSettings(options.id ?? "stripe"), options, problems, path)
  const { secretKey, webhookSecret = [], ...same } = account
  if (secretKey === undefined) {
    const called = `The secret key of the Stripe account '${same.id}'`
    problems.missing(name, `${keyForm} in ${path}.secretKey or ${name}`, called)
  }
  if (same.apiUrl !== undefined && environment === "production") {
    problems.add(`${path}.apiUrl is not allowed: expected none when NODE_ENV is production.`)
  }
  const secrets = [webhookSecret].flat().flatMap((list) => list.split(",")).map((one) => one.trim())
  return {
    ...same,
    apiUrl: same.apiUrl,
    secretKey: secretKey ?? Redacted.make(""),
    webhookSecrets: secrets.filter((one) => one !== "").map((one) => Redacted.make(one))
  }
})

/** A Stripe account. */
export type StripeAccount = Effect.Success<ReturnType<typeof accountOf>>

/** The Stripe accounts and the default provider: names of providers are unique, and the default is one of them. */
export const paymentsOf = Effect.fnUntraced(function*(
  payments: typeof paymentSettings.Type,
  environment: Environment,
  problems: Problems
) {
  const isSet = (yield* variable("STOA_STRIPE_SECRET_KEY")) !== undefined
  const configured = [payments.stripe ?? (isSet ? {} : [])].flat()
  const stripe = yield* Effect.forEach(configured, (one) => accountOf(one, environment, problems))
  const own = environment === "production" ? [] : ["test"]
  const ids = [...payments.adapters.map(({ providerId }) => providerId), ...stripe.map(({ id }) => id), ...own]
  const twice = ids.find((id, n) => ids.indexOf(id) !== n)
  if (twice !== undefined) problems.add(`payments: two providers are named '${twice}'.`)
  if (payments.default !== undefined && !ids.includes(payments.default)) {
    problems.refuse("payments.default", payments.default, `one of ${ids.join(", ") || "no provider at all"}`)
  }
  return { stripe, default: payments.default }
})
