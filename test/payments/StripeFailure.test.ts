import { assert, describe, it } from "@effect/vitest"
import Stripe from "stripe"
import { type FailureKind, failureOf } from "../../src/layers/payments/StripeClient.ts"

const { StripeCardError, StripeError, StripeIdempotencyError, StripeInvalidRequestError } = Stripe.errors

/** What each answer means for the money: one that is still worked on is no refusal. */
const meanings: ReadonlyArray<readonly [kind: FailureKind, error: unknown]> = [
  ["busy", new StripeIdempotencyError({ type: "idempotency_error", code: "idempotency_key_in_use" })],
  ["reused", new StripeIdempotencyError({ type: "idempotency_error" })],
  ["busy", new StripeInvalidRequestError({ type: "invalid_request_error", code: "idempotency_key_in_use" })],
  ["busy", new StripeInvalidRequestError({ type: "invalid_request_error", code: "lock_timeout", statusCode: 429 })],
  ["busy", new StripeInvalidRequestError({ type: "invalid_request_error", statusCode: 409 })],
  ["invalid", new StripeInvalidRequestError({ type: "invalid_request_error", statusCode: 400 })],
  ["card", new StripeCardError({ type: "card_error", code: "card_declined", statusCode: 402 })],
  ["silent", StripeError.generate({ type: "api_error", statusCode: 500 })],
  ["silent", new Error("The library broke.")]
]

describe("a refusal by Stripe", () => {
  for (const [kind, error] of meanings) {
    it(`is ${kind}: ${JSON.stringify(error)}`, () => {
      assert.strictEqual(failureOf(error).kind, kind)
    })
  }
})
