import type { Layer } from "effect"
import { type PaymentAdapter, PaymentAdapters } from "../../domain/payments/PaymentAdapter.ts"
import { testMethods, testProvider } from "./TestProvider.ts"
import { unconfiguredProvider } from "./UnconfiguredProvider.ts"

/** What a deployment says about payments. */
export interface PaymentOptions {
  readonly production: boolean
  /** Providers of the deployment, the default first. */
  readonly adapters: ReadonlyArray<PaymentAdapter>
  /** Signs events of the built-in test provider; default `test`. */
  readonly testWebhookSecret?: string | undefined
}

/**
 * The providers of this deployment. Its own come first, so its first is the default everywhere; the test provider
 * stands behind them outside production and is the default where there is none (contract §3.1).
 */
export const paymentProviders = (options: PaymentOptions): Layer.Layer<PaymentAdapters> => {
  const builtIn = options.production
    ? unconfiguredProvider
    : testProvider({ webhookSecret: options.testWebhookSecret ?? "test" })
  const [first, ...others] = options.adapters
  const methods = options.production ? new Map<string, string>() : testMethods
  return first === undefined
    ? PaymentAdapters.layerOf([builtIn], methods)
    : PaymentAdapters.layerOf([first, ...others, ...(options.production ? [] : [builtIn])], methods)
}
