import { Context, Effect, Schema } from "effect"
import { DurableClock, Workflow } from "effect/workflow"
import { PaymentAdapters } from "../../domain/payments/PaymentAdapter.ts"
import { brokenAdapter } from "./BrokenAdapter.ts"

/**
 * Undoes a payment whose outcome was unknown when its checkout failed: asks the provider by the payment's key until it
 * answers, then cancels what it finds. Durable, since the provider may be silent for longer than a process lives.
 * One execution per payment.
 */
export const VoidPayment = Workflow.make("VoidPayment", {
  payload: {
    providerId: Schema.String,
    request: Schema.Struct({
      amount: Schema.Int,
      currency: Schema.String,
      orderId: Schema.String,
      customerId: Schema.NullOr(Schema.String),
      paymentMethodToken: Schema.NullOr(Schema.String),
      metadata: Schema.Record(Schema.String, Schema.String),
      idempotencyKey: Schema.String
    }),
    /** The provider's payment where it is known; null: it has to be asked for. */
    intentId: Schema.NullOr(Schema.String)
  },
  success: Schema.Literals(["voided", "nothing-to-void", "given-up"]),
  idempotencyKey: ({ request }) => request.idempotencyKey,
  // What dies here is the database or the process; as a result it would leave the authorization open for ever.
  annotations: Context.make(Workflow.CaptureDefects, false)
})

/** After the first minutes once every ten minutes, for about a week; then an operator has to look. */
const tries = 1_000
const waitBefore = (attempt: number) => `${Math.min(600, 2 ** Math.min(attempt, 10))} seconds` as const

export const voidPaymentLayer = VoidPayment.toLayer(
  Effect.fn("VoidPayment")(function*({ intentId, providerId, request }) {
    const adapter = (yield* PaymentAdapters).byProvider(providerId)
    if (adapter === undefined) {
      yield* Effect.logError(`a payment of ${providerId} cannot be voided: the provider is not configured`)
      return "given-up" as const
    }
    const attemptOnce = Effect.gen(function*() {
      const known = intentId ?? (yield* adapter.authorize(request)).id
      yield* adapter.cancel(known, `${request.idempotencyKey}:cancel`)
      return "voided" as const
    }).pipe(
      // As a result of this execution it would end it, and nobody would void the payment any more.
      Effect.catchDefect(brokenAdapter),
      Effect.timeout("20 seconds"),
      // A provider that declines the authorization when asked again never took anything.
      Effect.catchTag(
        "PaymentDeclined",
        (error) =>
          Effect.succeed(error.code === "PAYMENT_INTENT_CREATE_FAILED" ? "nothing-to-void" as const : undefined)
      ),
      Effect.catch(() => Effect.succeed(undefined))
    )
    for (let attempt = 1; attempt <= tries; attempt++) {
      const outcome = yield* attemptOnce
      if (outcome !== undefined) return outcome
      yield* DurableClock.sleep({ name: `attempt-${attempt}`, duration: waitBefore(attempt) })
    }
    yield* Effect.logError(`payment ${request.idempotencyKey} of ${providerId} could not be voided`)
    return "given-up" as const
  })
)
