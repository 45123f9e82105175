import { Context, Effect, Schema } from "effect"
import { Workflow } from "effect/workflow"
import { CompensationFailureRepo } from "../../domain/payments/CompensationFailureRepo.ts"
import { PaymentUnknown } from "../../domain/payments/PaymentAdapter.ts"
import { CurrentActor, systemActor } from "../../domain/platform/access/Actor.ts"
import { CustomerId, OrderId } from "../../domain/platform/ids/Id.ts"
import { adapterOf, untilAnswered } from "./ProviderCalls.ts"

/**
 * Undoes a payment with unknown result: repeats the authorization by its key until the provider answers, then cancels
 * the payment. Durable, because the provider can be unavailable for longer than a process lives. One execution per
 * payment.
 */
export const VoidPayment = Workflow.make("VoidPayment", {
  payload: {
    providerId: Schema.String,
    request: Schema.Struct({
      amount: Schema.Int,
      currency: Schema.String,
      orderId: OrderId,
      customerId: Schema.NullOr(CustomerId),
      paymentMethodToken: Schema.NullOr(Schema.String),
      metadata: Schema.Record(Schema.String, Schema.String),
      idempotencyKey: Schema.String
    }),
    intentId: Schema.NullOr(Schema.String)
  },
  success: Schema.Literals(["voided", "nothing-to-void", "given-up"]),
  idempotencyKey: ({ request }) => request.idempotencyKey,
  // A defect here means a failure of the database or the process. Captured as a result, it would leave the
  // authorization open forever.
  annotations: Context.make(Workflow.CaptureDefects, false)
})

const Outcome = Schema.Struct({ outcome: Schema.Literals(["voided", "nothing-to-void"]) })

export const voidPaymentLayer = VoidPayment.toLayer(
  Effect.fn("VoidPayment")(function*({ intentId, providerId, request }) {
    const adapter = yield* adapterOf(providerId)
    const { organizationId = "" } = request.metadata
    const answer = yield* untilAnswered(
      Outcome,
      Effect.gen(function*() {
        const known = intentId ?? (yield* adapter.authorize(request)).id
        yield* adapter.cancel(known, `${request.idempotencyKey}:cancel`)
        return { outcome: "voided" as const }
      }).pipe(
        Effect.catchTag("PaymentDeclined", (declined) =>
          // A provider that declines the repeated authorization never captured anything.
          declined.code === "PAYMENT_INTENT_CREATE_FAILED"
            ? Effect.succeed({ outcome: "nothing-to-void" as const })
            : Effect.fail(new PaymentUnknown(declined))),
        Effect.provideService(CurrentActor, systemActor(organizationId))
      )
    )
    if (answer !== undefined) return answer.outcome
    yield* (yield* CompensationFailureRepo).recordVoid({
      organizationId,
      checkoutId: request.orderId,
      provider: providerId,
      intentId,
      amount: request.amount,
      message: "The payment provider never answered."
    })
    yield* Effect.logError(`payment ${request.idempotencyKey} of ${providerId} could not be voided`)
    return "given-up" as const
  })
)
