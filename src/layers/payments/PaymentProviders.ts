import { Effect, Layer } from "effect"
import { type PaymentAdapter, PaymentAdapters } from "../../domain/payments/PaymentAdapter.ts"
import type { StripeAccount } from "../config/PaymentConfig.ts"
import { testMethods, testProvider } from "./TestProvider.ts"
import { unconfiguredProvider } from "./UnconfiguredProvider.ts"

/** What a deployment says about payments. */
export interface PaymentOptions {
  readonly production: boolean
  /** Providers of the deployment's own. */
  readonly adapters: ReadonlyArray<PaymentAdapter>
  readonly stripe?: ReadonlyArray<StripeAccount>
  /** Id of the default one; absent: the first. */
  readonly default?: string | undefined
  /** Signs events of the built-in test provider; default `test`. */
  readonly testWebhookSecret?: string | undefined
}

/** Stripe's library is large, and read only by a process that has an account. */
const stripeProviders = (accounts: ReadonlyArray<StripeAccount>) =>
  accounts.length === 0
    ? Effect.succeed([])
    : Effect.map(
      Effect.promise(() => import("./StripeProvider.ts")),
      ({ stripeProvider }) => accounts.map(stripeProvider)
    )

/**
 * The providers of this deployment: its own adapters, its Stripe accounts and, outside production, the test provider. The
 * default is the one that it names, else the first (contract §3.1).
 */
export const paymentProviders = (options: PaymentOptions): Layer.Layer<PaymentAdapters> =>
  Layer.unwrap(Effect.map(stripeProviders(options.stripe ?? []), (stripe) => {
    const builtIn = options.production
      ? []
      : [testProvider({ webhookSecret: options.testWebhookSecret ?? "test" })]
    const all = [...options.adapters, ...stripe, ...builtIn]
    const byDefault = all.find(({ providerId }) => providerId === options.default) ?? all[0]
    const methods = options.production ? new Map<string, string>() : testMethods
    return byDefault === undefined
      ? PaymentAdapters.layerOf([unconfiguredProvider], methods)
      : PaymentAdapters.layerOf([byDefault, ...all.filter((one) => one !== byDefault)], methods)
  }))
