import { Effect, Redacted, Schedule } from "effect"
import Stripe from "stripe"
import type { StripeAccount } from "../config/PaymentConfig.ts"
import { failureOf, isReplayed, type StripeFailure } from "./StripeFailure.ts"

/** The version of Stripe's API that this code was written against; check it when the library is updated. */
const apiVersion = "2026-10-28.endive"

/** Waits for the answer under the same key while an earlier request with it is still running, as after our time-out. */
const asking = <A>(ask: () => Promise<A>): Effect.Effect<A, StripeFailure> =>
  Effect.tryPromise({ try: ask, catch: failureOf }).pipe(
    Effect.retry({ times: 20, schedule: Schedule.spaced("500 millis"), while: ({ kind }) => kind === "busy" })
  )

/**
 * The answer to a call that Stripe's own order of states keeps from happening twice. For a day Stripe also replays, under
 * the same key, its breakdowns and refusals because of a state, so a replayed failure is asked again under another key.
 * A bank's answer is final.
 */
const retryReplayed = <A>(ask: (key: string) => Promise<A>, key: string): Effect.Effect<A, StripeFailure> =>
  Effect.catchIf(
    asking(() => ask(key)),
    ({ kind, replayed }) => replayed && kind !== "card",
    () => asking(() => ask(`${key}:again`))
  )

const address = (apiUrl: string | undefined): Stripe.StripeConfig => {
  if (apiUrl === undefined) return {}
  const { hostname, port, protocol } = new URL(apiUrl)
  return {
    host: hostname,
    protocol: protocol === "http:" ? "http" : "https",
    port: port || (protocol === "http:" ? 80 : 443)
  }
}

/**
 * Stripe's own library, for one account. It does not retry, except once on a connection that had been closed; every
 * unsafe call carries a key, so that is harmless. Durable processes retry.
 */
export const stripeClient = ({ apiUrl, secretKey, timeoutMs }: StripeAccount) => {
  const stripe = new Stripe(Redacted.value(secretKey), {
    apiVersion,
    maxNetworkRetries: 0,
    timeout: timeoutMs,
    telemetry: false,
    ...address(apiUrl)
  })
  return {
    /** `replayed`: Stripe repeated the answer to an earlier request with this key; the state may have changed since. */
    create: (params: Stripe.PaymentIntentCreateParams, idempotencyKey: string) =>
      Effect.map(asking(() => stripe.paymentIntents.create(params, { idempotencyKey })), (value) => ({
        value,
        replayed: isReplayed(value.lastResponse.headers)
      })),
    retrieve: (intentId: string) => asking(() => stripe.paymentIntents.retrieve(intentId)),
    /** The payment that was made for a checkout, if any. What was made within the last minute may be missing. */
    ofCheckout: (checkoutId: string) =>
      Effect.map(
        asking(() => stripe.paymentIntents.search({ query: `metadata['checkoutId']:'${checkoutId}'`, limit: 1 })),
        ({ data }) => data[0]
      ),
    capture: (intentId: string, units: number, key: string) =>
      retryReplayed(
        (idempotencyKey) => stripe.paymentIntents.capture(intentId, { amount_to_capture: units }, { idempotencyKey }),
        key
      ),
    cancel: (intentId: string, key: string) =>
      retryReplayed((idempotencyKey) => stripe.paymentIntents.cancel(intentId, {}, { idempotencyKey }), key),
    refund: (params: Stripe.RefundCreateParams, idempotencyKey: string) =>
      asking(() => stripe.refunds.create(params, { idempotencyKey })),
    /** Refunds of a payment, newest first, at most 100. */
    refundsOf: (intentId: string) =>
      Effect.map(asking(() => stripe.refunds.list({ payment_intent: intentId, limit: 100 })), ({ data }) => data)
  }
}

/** The calls of Stripe that this service needs, as effects that fail with a `StripeFailure`. */
export type StripeClient = ReturnType<typeof stripeClient>
