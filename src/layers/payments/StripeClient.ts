import { Data, Effect, Redacted, Schedule } from "effect"
import Stripe from "stripe"
import { PaymentDeclined, PaymentUnknown } from "../../domain/payments/PaymentAdapter.ts"
import type { StripeAccount } from "../config/PaymentConfig.ts"

/**
 * What a failure at Stripe means. `busy`: another request with the same key is running. `card`: the bank declined, and
 * the message is for the shopper. `invalid`: Stripe refused. `reused`: the key was used with other parameters. `silent`:
 * no answer, or one that says nothing about the money.
 */
export type FailureKind = "busy" | "card" | "invalid" | "reused" | "silent"

/** A call that Stripe did not answer with success. */
export class StripeFailure extends Data.TaggedError("StripeFailure")<{
  readonly kind: FailureKind
  readonly message: string
  /** Stripe's error code and request id, for the log. */
  readonly code: string
  readonly requestId: string
  /** Stripe repeated its answer to an earlier request with the same key. */
  readonly replayed: boolean
}> {}

const kindOf = (error: InstanceType<typeof Stripe.errors.StripeError>): FailureKind => {
  if (error instanceof Stripe.errors.StripeIdempotencyError) {
    return error.code === "idempotency_key_in_use" ? "busy" : "reused"
  }
  if (error.code === "idempotency_key_in_use" || error.code === "lock_timeout" || error.statusCode === 409) {
    return "busy"
  }
  if (error instanceof Stripe.errors.StripeCardError) return "card"
  return error instanceof Stripe.errors.StripeInvalidRequestError ? "invalid" : "silent"
}

/** Header of an answer that Stripe gives a second time. */
const isReplayed = (headers: Readonly<Record<string, string>> | undefined): boolean =>
  headers?.["idempotent-replayed"] === "true"

/** Reads what the library threw. */
export const failureOf = (error: unknown): StripeFailure =>
  error instanceof Stripe.errors.StripeError
    ? new StripeFailure({
      kind: kindOf(error),
      message: error.message,
      code: error.code ?? error.type,
      requestId: error.requestId ?? "",
      replayed: isReplayed(error.headers)
    })
    : new StripeFailure({
      kind: "silent",
      message: "The library failed.",
      code: "library",
      requestId: "",
      replayed: false
    })

/**
 * Translates a failure. Only a bank's message reaches the shopper; others may name accounts, keys or parameters and are
 * only logged.
 */
export const refusalOf = (code: PaymentDeclined["code"]) =>
  Effect.fnUntraced(function*(failure: StripeFailure) {
    const { kind, requestId } = failure
    if (kind === "card") return yield* new PaymentDeclined({ code, message: failure.message })
    yield* Effect.logWarning("stripe refused a request", { kind, code: failure.code, requestId })
    if (kind === "invalid") {
      return yield* new PaymentDeclined({ code, message: "The payment provider refused the request." })
    }
    return yield* new PaymentUnknown({ message: "The payment provider gave no answer that can be used." })
  })

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
