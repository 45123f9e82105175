import { Data, Effect, Redacted, Schedule } from "effect"
import Stripe from "stripe"
import { PaymentDeclined, PaymentUnknown } from "../../domain/payments/PaymentAdapter.ts"
import type { StripeAccount } from "../config/PaymentConfig.ts"

/**
 * `busy`: another request with the key is running. `card`: the bank declined, with a message for the shopper.
 * `invalid`: Stripe refused. `reused`: the key had other parameters. `silent`: nothing about the money is known.
 */
export type FailureKind = "busy" | "card" | "invalid" | "reused" | "silent"

export class StripeFailure extends Data.TaggedError("StripeFailure")<{
  readonly kind: FailureKind
  readonly message: string
  readonly code: string
  readonly requestId: string
  /** Stripe repeated the answer to an earlier request with the key. */
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

const isReplayed = (headers: Readonly<Record<string, string>> | undefined): boolean =>
  headers?.["idempotent-replayed"] === "true"

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

/** Only a bank's message reaches the shopper; others may name accounts, keys or parameters and are logged. */
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

/** The API version of this code; check it when the library is updated. */
const apiVersion = "2026-10-28.endive"

const asking = <A>(ask: () => Promise<A>): Effect.Effect<A, StripeFailure> =>
  Effect.tryPromise({ try: ask, catch: failureOf }).pipe(
    Effect.retry({ times: 20, schedule: Schedule.spaced("500 millis"), while: ({ kind }) => kind === "busy" })
  )

/**
 * For calls that Stripe's states keep from happening twice. For a day Stripe also replays failures under the same key,
 * so a replayed one is asked again under another. A bank's answer is final.
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
 * Stripe's library for one account. It retries only once, on a closed connection; every unsafe call carries a key.
 * Durable processes retry.
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
    /** `replayed`: an earlier answer; the state may have changed since. */
    create: (params: Stripe.PaymentIntentCreateParams, idempotencyKey: string) =>
      Effect.map(asking(() => stripe.paymentIntents.create(params, { idempotencyKey })), (value) => ({
        value,
        replayed: isReplayed(value.lastResponse.headers)
      })),
    retrieve: (intentId: string) => asking(() => stripe.paymentIntents.retrieve(intentId)),
    ofCheckout: (checkoutId: string) =>
      Effect.map(
        asking(() => stripe.paymentIntents.search({ query: `metadata['checkoutId']:'${checkoutId}'`, limit: 1 })),
        ({ data }) => data[0]
      ),
    /** Notes the order that a payment session pays. */
    adopt: (intentId: string, metadata: Readonly<Record<string, string>>, idempotencyKey: string) =>
      asking(() => stripe.paymentIntents.update(intentId, { metadata: { ...metadata } }, { idempotencyKey })),
    capture: (intentId: string, units: number, key: string) =>
      retryReplayed(
        (idempotencyKey) => stripe.paymentIntents.capture(intentId, { amount_to_capture: units }, { idempotencyKey }),
        key
      ),
    cancel: (intentId: string, key: string) =>
      retryReplayed((idempotencyKey) => stripe.paymentIntents.cancel(intentId, {}, { idempotencyKey }), key),
    refund: (params: Stripe.RefundCreateParams, idempotencyKey: string) =>
      asking(() => stripe.refunds.create(params, { idempotencyKey })),
    refundsOf: (intentId: string) =>
      Effect.map(asking(() => stripe.refunds.list({ payment_intent: intentId, limit: 100 })), ({ data }) => data)
  }
}

export type StripeClient = ReturnType<typeof stripeClient>
