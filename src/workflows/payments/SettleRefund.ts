import { Context, Effect, Schema } from "effect"
import { Workflow } from "effect/workflow"
import { CurrentActor, systemActor } from "../../domain/access/Actor.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import {
  type PaymentAdapter,
  PaymentAdapters,
  type PaymentDeclined,
  type PaymentUnknown
} from "../../domain/payments/PaymentAdapter.ts"
import type { Refund } from "../../domain/payments/Refund.ts"
import { RefundRepo } from "../../domain/payments/RefundRepo.ts"
import { absentAdapter } from "./AbsentAdapter.ts"
import { untilAnswered } from "./UntilAnswered.ts"

/** How a refund ended. `unknown`: no such refund. */
const Outcome = Schema.Literals(["completed", "failed", "unknown"])
type Outcome = typeof Outcome.Type

/**
 * Gives money back at the provider that took it, then writes it down (contract §4.2): one execution per refund, and
 * every call carries the refund's id as key, so that a crash between the two halves asks again and moves nothing
 * twice. A refund of 0 voids an authorization that was never captured.
 */
export const SettleRefund = Workflow.make("SettleRefund", {
  payload: { refundId: Uuid, organizationId: Schema.String },
  success: Outcome,
  idempotencyKey: ({ refundId }) => refundId,
  // What dies here is the database or the process, not the refund: the execution runs again.
  annotations: Context.make(Workflow.CaptureDefects, false)
})

/** The provider's reference of what it gave back, null for a void; or why it never will. */
const Answer = Schema.Union([
  Schema.TaggedStruct("Given", { reference: Schema.NullOr(Schema.String) }),
  Schema.TaggedStruct("Refused", { message: Schema.String })
])

/** One try at the provider. */
const askProvider = (adapter: PaymentAdapter, intentId: string, refund: Refund) => {
  const asked: Effect.Effect<string | null, PaymentDeclined | PaymentUnknown> = refund.amount === 0
    ? Effect.as(adapter.cancel(intentId, refund.id), null)
    : adapter.refund(intentId, refund.amount, refund.reason, refund.id)
  return asked.pipe(
    Effect.map((reference) => ({ _tag: "Given" as const, reference })),
    Effect.catchTag("PaymentDeclined", ({ message }) => Effect.succeed({ _tag: "Refused" as const, message }))
  )
}

const settle = Effect.fnUntraced(function*(refundId: string) {
  const refunds = yield* RefundRepo
  const refund = yield* refunds.find(refundId)
  if (refund === undefined) return "unknown" as const
  if (refund.status !== "pending") return refund.status
  const giveUp = (failure: string) =>
    Effect.logError(`refund ${refundId} failed: ${failure}`).pipe(
      Effect.andThen(refunds.fail(refundId, failure)),
      Effect.as<Outcome>("failed")
    )
  if (refund.provider === null || refund.intentId === null) {
    return yield* giveUp("The order was not paid through a payment provider.")
  }
  const adapter = (yield* PaymentAdapters).byProvider(refund.provider) ?? absentAdapter(refund.provider)
  const answer = yield* untilAnswered(Answer, askProvider(adapter, refund.intentId, refund))
  if (answer === undefined) return yield* giveUp("The payment provider never answered.")
  if (answer._tag === "Refused") return yield* giveUp(answer.message)
  yield* refunds.complete(refundId, answer.reference)
  return "completed" as const
})

export const settleRefundLayer = SettleRefund.toLayer(({ organizationId, refundId }) =>
  Effect.provideService(settle(refundId), CurrentActor, systemActor(organizationId))
)
