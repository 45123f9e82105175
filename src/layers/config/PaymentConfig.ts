import { Effect, Option, Redacted } from "effect"
import type { PaymentAdapter } from "../../domain/payments/PaymentAdapter.ts"
import { InvalidSetting } from "./InvalidSetting.ts"
import { type Environment, text } from "./Variables.ts"

/** What a deployment decides about one Stripe account (docs/payments.md). */
export interface StripeOptions {
  /** Name of the account as a provider: `paymentMethodId` selects it, orders keep it. Default `stripe`. */
  readonly id?: string
  /** Secret or restricted key of the account (`STOA_STRIPE_SECRET_KEY`; `STOA_STRIPE_<ID>_SECRET_KEY` for another id). */
  readonly secretKey?: string
  /**
   * Secrets that sign its events; two while one replaces the other (`STOA_STRIPE_WEBHOOK_SECRET`, separated by commas;
   * `STOA_STRIPE_<ID>_WEBHOOK_SECRET` for another id). Absent: events are answered 503.
   */
  readonly webhookSecret?: string | ReadonlyArray<string>
  /** Seconds that an event's signature may be old. Default 300. */
  readonly toleranceSeconds?: number
  /** Longest wait for an answer, in milliseconds. Default 10000. */
  readonly timeoutMs?: number
  /** Where banks that confirm on a page of their own send the shopper back to. Absent: such methods are not offered. */
  readonly returnUrl?: string
  /** Another address than Stripe's, for tests: refused in production. */
  readonly apiUrl?: string
}

/** What a deployment decides about payments. */
export interface PaymentSettingsOptions {
  /** Providers of the deployment's own. */
  readonly adapters?: ReadonlyArray<PaymentAdapter>
  /** One Stripe account or several, each with an `id`. `STOA_STRIPE_SECRET_KEY` alone makes one as well. */
  readonly stripe?: StripeOptions | ReadonlyArray<StripeOptions>
  /**
   * Id of the provider that is asked where a checkout names none. Default: the first of `adapters`, then of `stripe`, then
   * the built-in test provider.
   */
  readonly default?: string
  /**
   * `manual`: checkouts only authorize, and an operator captures the whole or a part (docs/orders.md). Default
   * `automatic`.
   */
  readonly capture?: "automatic" | "manual"
  /** Secret that signs events of the built-in test provider; outside production only. Default `test`. */
  readonly test?: { readonly webhookSecret?: string }
}

/** A Stripe account with everything decided. */
export interface StripeAccount {
  readonly id: string
  readonly secretKey: Redacted.Redacted<string>
  readonly webhookSecrets: ReadonlyArray<Redacted.Redacted<string>>
  readonly toleranceSeconds: number
  readonly timeoutMs: number
  readonly returnUrl: string | undefined
  readonly apiUrl: string | undefined
}

/** What environment and deployment say of payments. */
export interface PaymentSettings {
  readonly stripe: ReadonlyArray<StripeAccount>
  readonly default: string | undefined
}

const refuse = (message: string) => Effect.fail(new InvalidSetting({ message }))

/** Where an account finds a secret of its own; the account `stripe` has the plain name. */
const variableOf = (id: string, name: "STOA_STRIPE_SECRET_KEY" | "STOA_STRIPE_WEBHOOK_SECRET"): string =>
  id === "stripe" ? name : name.replace(/^STOA_STRIPE_/, `STOA_STRIPE_${id.toUpperCase().replaceAll("-", "_")}_`)

const isAddress = (value: string): boolean => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)

const wholeNumber = Effect.fnUntraced(function*(name: string, value: number, least: number, most: number) {
  return Number.isInteger(value) && value >= least && value <= most
    ? value
    : yield* refuse(
      `payments.stripe.${name}="${value}" is not allowed: expected a whole number from ${least} to ${most}.`
    )
})

/** Nothing of a key is shown: the message may be read by more people than the key is for. */
const secretKeyOf = Effect.fnUntraced(function*(id: string, key: string | undefined) {
  if (key !== undefined && /^(sk|rk)_(test|live)_\w+$/.test(key)) return Redacted.make(key, { label: "stripe key" })
  const wrong = key === undefined ? "is missing" : "is not allowed"
  return yield* refuse(
    `The secret key of the Stripe account '${id}' ${wrong}: expected sk_… or rk_… in payments.stripe.secretKey or ` +
      `${variableOf(id, "STOA_STRIPE_SECRET_KEY")}.`
  )
})

const addressesOf = Effect.fnUntraced(function*({ apiUrl, returnUrl }: StripeOptions, environment: Environment) {
  if (apiUrl !== undefined && environment === "production") {
    return yield* refuse("payments.stripe.apiUrl is not allowed: expected none when NODE_ENV is production.")
  }
  for (const [name, value] of [["apiUrl", apiUrl], ["returnUrl", returnUrl]] as const) {
    if (value !== undefined && !isAddress(value)) {
      return yield* refuse(`payments.stripe.${name}="${value}" is not allowed: expected an address, https://….`)
    }
  }
  return { apiUrl, returnUrl }
})

const accountOf = Effect.fnUntraced(function*(options: StripeOptions, environment: Environment) {
  const { id = "stripe" } = options
  if (!/^[a-z][a-z0-9_-]{0,31}$/.test(id)) {
    return yield* refuse(`payments.stripe.id="${id}" is not allowed: expected up to 32 small letters, digits, - and _.`)
  }
  const key = Option.getOrElse(yield* text(variableOf(id, "STOA_STRIPE_SECRET_KEY")), () => options.secretKey)
  const secrets = Option.match(yield* text(variableOf(id, "STOA_STRIPE_WEBHOOK_SECRET")), {
    onNone: () => [options.webhookSecret ?? []].flat(),
    onSome: (found) => found.split(",").map((secret) => secret.trim())
  })
  const account: StripeAccount = {
    id,
    secretKey: yield* secretKeyOf(id, key),
    webhookSecrets: secrets.filter((secret) => secret !== "").map((secret) => Redacted.make(secret)),
    toleranceSeconds: yield* wholeNumber("toleranceSeconds", options.toleranceSeconds ?? 300, 1, 86_400),
    timeoutMs: yield* wholeNumber("timeoutMs", options.timeoutMs ?? 10_000, 1, 80_000),
    ...yield* addressesOf(options, environment)
  }
  return account
})

/** Every provider has a name of its own, and the default is one of them. */
const checkNames = Effect.fnUntraced(
  function*(options: PaymentSettingsOptions, stripe: ReadonlyArray<StripeAccount>, environment: Environment) {
    const ids = [
      ...(options.adapters ?? []).map(({ providerId }) => providerId),
      ...stripe.map(({ id }) => id),
      ...environment === "production" ? [] : ["test"]
    ]
    const twice = ids.find((id, n) => ids.indexOf(id) !== n)
    if (twice !== undefined) return yield* refuse(`payments: two providers are named '${twice}'.`)
    if (options.default !== undefined && !ids.includes(options.default)) {
      return yield* refuse(
        `payments.default="${options.default}" is not allowed: expected one of ${
          ids.join(", ") || "no provider at all"
        }.`
      )
    }
  }
)

/** Reads what the deployment and the environment say of payments; fails with one readable line. */
export const readPayments = Effect.fnUntraced(
  function*(options: PaymentSettingsOptions, environment: Environment) {
    const idempotent = Option.isSome(yield* text("STOA_STRIPE_SECRET_KEY"))
    const configured = [options.stripe ?? (idempotent ? {} : [])].flat()
    const stripe = yield* Effect.forEach(configured, (one) => accountOf(one, environment))
    yield* checkNames(options, stripe, environment)
    const settings: PaymentSettings = { stripe, default: options.default }
    return settings
  }
)
