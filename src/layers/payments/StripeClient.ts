import { Effect, Redacted, Schedule } from "effect"
import Stripe from "stripe"
import type { StripeAccount } from "../config/PaymentConfig.ts"
import { failureOf, isReplayed, type StripeFailure } from "./StripeFailure.ts"

/** The version of Stripe's interface that this code was written against; an update of the library asks for a look. */
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

/** `replayed`: Stripe gave the answer of an earlier request with this key, and things may be different since. */
export interface Answered<A> {
  readonly value: A
  readonly replayed: boolean
}

/** While the same request is at work already, as after a time-out of ours, its answer is waited for under the same key. */
const asking = <A>(ask: () => Promise<A>): Effect.Effect<A, StripeFailure> =>
  Effect.tryPromise({ try: ask, catch: failureOf }).pipe(
    Effect.retry({ times: 20, schedule: Schedule.spaced("500 millis"), while: ({ kind }) => kind === "busy" })
  )

/**
 * The answer to a call that Stripe's own order of states keeps from happening twice. Stripe remembers breakdowns of its
 * own and refusals because of a state under a key as well, for a day; what it only remembered is asked for anew, under
 * another key. What a bank said stands.
 */
const anew = <A>(ask: (key: string) => Promise<A>, key: string): Effect.Effect<A, StripeFailure> =>
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
 * Stripe's own library, for one account. It repeats nothing by itself, except once what met a connection that had been
 * closed; every unsafe call carries a key, so that is harmless. Durable processes do the repeating.
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
      anew(
        (idempotencyKey) => stripe.paymentIntents.capture(intentId, { amount_to_capture: units }, { idempotencyKey }),
        key
      ),
    cancel: (intentId, key) =>
      anew((idempotencyKey) => stripe.paymentIntents.cancel(intentId, {}, { idempotencyKey }), key),
    refund: (params, idempotencyKey) => asking(() => stripe.refunds.create(params, { idempotencyKey })),
    refundsOf: (intentId) =>
      Effect.map(asking(() => stripe.refunds.list({ payment_intent: intentId, limit: 100 })), ({ data }) => data)
  }
}
