import { Effect, Redacted, Schedule } from "effect"
import Stripe from "stripe"
import type { StripeAccount } from "../config/PaymentConfig.ts"
import { failureOf, isReplayed, type StripeFailure } from "./StripeFailure.ts"

/** The version of Stripe's API that this code was written against; check it when the library is updated. */
const apiVersion = "2026-10-28.endive"

/** Calls of Stripe's that this service needs, as effects that fail with a `StripeFailure`. */
export interface StripeClient {
  readonly create: (
    params: Stripe.PaymentIntentCreateParams,
    idempotencyKey: string
  ) => Effect.Effect<Answered<Stripe.PaymentIntent>, StripeFailure>
  readonly retrieve: (intentId: string) => Effect.Effect<Stripe.PaymentIntent, StripeFailure>
  /** The payment that was made for a checkout. What was made within the last minute may be missing. */
  readonly ofCheckout: (checkoutId: string) => Effect.Effect<Stripe.PaymentIntent | undefined, StripeFailure>
  readonly capture: (
    intentId: string,
    units: number,
    idempotencyKey: string
  ) => Effect.Effect<Stripe.PaymentIntent, StripeFailure>
  readonly cancel: (intentId: string, idempotencyKey: string) => Effect.Effect<Stripe.PaymentIntent, StripeFailure>
  readonly refund: (
    params: Stripe.RefundCreateParams,
    idempotencyKey: string
  ) => Effect.Effect<Stripe.Refund, StripeFailure>
  /** Refunds of a payment, newest first, at most 100. */
  readonly refundsOf: (intentId: string) => Effect.Effect<ReadonlyArray<Stripe.Refund>, StripeFailure>
}

/** `replayed`: Stripe repeated the answer to an earlier request with this key; the state may have changed since. */
export interface Answered<A> {
  readonly value: A
  readonly replayed: boolean
}

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
export const stripeClient = ({ apiUrl, secretKey, timeoutMs }: StripeAccount): StripeClient => {
  const stripe = new Stripe(Redacted.value(secretKey), {
    apiVersion,
    maxNetworkRetries: 0,
    timeout: timeoutMs,
    telemetry: false,
    ...address(apiUrl)
  })
  return {
    create: (params, idempotencyKey) =>
      Effect.map(asking(() => stripe.paymentIntents.create(params, { idempotencyKey })), (value) => ({
        value,
        replayed: isReplayed(value.lastResponse.headers)
      })),
    retrieve: (intentId) => asking(() => stripe.paymentIntents.retrieve(intentId)),
    ofCheckout: (checkoutId) =>
      Effect.map(
        asking(() => stripe.paymentIntents.search({ query: `metadata['checkoutId']:'${checkoutId}'`, limit: 1 })),
        ({ data }) => data[0]
      ),
    capture: (intentId, units, key) =>
      retryReplayed(
        (idempotencyKey) => stripe.paymentIntents.capture(intentId, { amount_to_capture: units }, { idempotencyKey }),
        key
      ),
    cancel: (intentId, key) =>
      retryReplayed((idempotencyKey) => stripe.paymentIntents.cancel(intentId, {}, { idempotencyKey }), key),
    refund: (params, idempotencyKey) => asking(() => stripe.refunds.create(params, { idempotencyKey })),
    refundsOf: (intentId) =>
      Effect.map(asking(() => stripe.refunds.list({ payment_intent: intentId, limit: 100 })), ({ data }) => data)
  }
}
