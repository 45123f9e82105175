import { Data, Effect } from "effect"
import Stripe from "stripe"
import { PaymentDeclined, PaymentUnknown } from "../../domain/payments/PaymentAdapter.ts"

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
export const isReplayed = (headers: Readonly<Record<string, string>> | undefined): boolean =>
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
