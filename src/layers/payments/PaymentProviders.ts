import { Effect, Layer } from "effect"
import {
  type PaymentAdapter,
  PaymentAdapters,
  PaymentDeclined,
  WebhookUnconfigured
} from "../../domain/payments/PaymentAdapter.ts"
import type { StripeAccount } from "../config/PaymentConfig.ts"
import { testMethods, testProvider } from "./TestProvider.ts"

export interface PaymentOptions {
  readonly production: boolean
  readonly adapters: ReadonlyArray<PaymentAdapter>
  readonly stripe?: ReadonlyArray<StripeAccount>
  readonly default?: string | undefined
  readonly testWebhookSecret?: string | undefined
}

const message = "No payment provider is configured."

const decline = (code: PaymentDeclined["code"]) => Effect.fail(new PaymentDeclined({ code, message }))

/** In production without a provider: every payment fails, with the reason. */
const unconfiguredProvider: PaymentAdapter = {
  providerId: "none",
  authorize: () => decline("PAYMENT_INTENT_CREATE_FAILED"),
  capture: () => decline("PAYMENT_CAPTURE_FAILED"),
  cancel: () => decline("PAYMENT_CANCEL_FAILED"),
  refund: () => decline("PAYMENT_REFUND_FAILED"),
  verifyWebhook: () => Effect.fail(new WebhookUnconfigured({ code: "WEBHOOK_VERIFICATION_FAILED", message }))
}

const stripeProviders = (accounts: ReadonlyArray<StripeAccount>) =>
  accounts.length === 0
    ? Effect.succeed([])
    : Effect.map(
      Effect.promise(() => import("./StripeProvider.ts")),
      ({ stripeProvider }) => accounts.map(stripeProvider)
    )

/**
 * Custom adapters, Stripe accounts and, outside production, the test provider. The default is the configured one, else
 * the first (contract §3.1).
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
