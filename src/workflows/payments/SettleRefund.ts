import { Context, Effect, Schema } from "effect"
import { DurableClock, Workflow } from "effect/workflow"
import { CurrentActor, systemActor } from "../../domain/access/Actor.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { type PaymentAdapter, PaymentAdapters, PaymentUnknown } from "../../domain/payments/PaymentAdapter.ts"
import type { Refund } from "../../domain/payments/Refund.ts"
import { RefundRepo } from "../../domain/payments/RefundRepo.ts"
import { brokenAdapter } from "./BrokenAdapter.ts"

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

/** A provider may be away for hours; after about a week an operator has to look at it. */
const tries = 200
const waitAfter = (attempt: number) => `${Math.min(3_600, 5 * 2 ** Math.min(attempt, 10))} seconds` as const

/** One try at the provider: its reference, or why it will never give the money back. */
const askProvider = (adapter: PaymentAdapter, intentId: string, refund: Refund) =>
  (refund.amount === 0
    ? Effect.as(adapter.cancel(intentId, refund.id), null)
    : adapter.refund(intentId, refund.amount, refund.reason, refund.id)).pipe(
      Effect.catchDefect(brokenAdapter),
      Effect.timeoutOrElse({
        duration: "20 seconds",
        orElse: () => Effect.fail(new PaymentUnknown({ message: "The payment provider did not answer in time." }))
      })
    )

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
  const adapter = (yield* PaymentAdapters).byProvider(refund.provider ?? "")
  if (adapter === undefined || refund.intentId === null) {
    return yield* giveUp(`The provider '${refund.provider ?? ""}' of the order is not configured.`)
  }
  for (let attempt = 0; attempt < tries; attempt++) {
    const answer = yield* askProvider(adapter, refund.intentId, refund).pipe(
      Effect.map((reference) => ({ _tag: "Given", reference }) as const),
      Effect.catchTag("PaymentDeclined", ({ message }) => Effect.succeed({ _tag: "Refused", message } as const)),
      Effect.catchTag("PaymentUnknown", () => Effect.succeed({ _tag: "Silent" } as const))
    )
    if (answer._tag === "Refused") return yield* giveUp(answer.message)
    if (answer._tag === "Given") {
      yield* refunds.complete(refundId, answer.reference)
      return "completed" as const
    }
    yield* DurableClock.sleep({ name: `silent-${attempt}`, duration: waitAfter(attempt) })
  }
  return yield* giveUp("The payment provider never answered.")
})

export const settleRefundLayer = SettleRefund.toLayer(({ organizationId, refundId }) =>
  Effect.provideService(settle(refundId), CurrentActor, systemActor(organizationId))
)
