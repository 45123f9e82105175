import { Context, Data, DateTime, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { newId } from "../ids/Id.ts"
import { GiveUp } from "../jobs/Task.ts"
import { deliveryQueue } from "./DeliveryQueue.ts"
import type { DeliveryRun } from "./DeliveryRun.ts"
import { places, placesAt } from "./DeliverySlots.ts"
import { endpointHealth } from "./EndpointHealth.ts"
import { type AttemptResult, WebhookAttempts } from "./WebhookAttempts.ts"
import { WebhookDeliveryRepo } from "./WebhookDeliveryRepo.ts"
import type { Due, WebhookMessage } from "./WebhookDispatch.ts"
import { WebhookDispatchRepo } from "./WebhookDispatchRepo.ts"
import { countAttempt, type DeliveryOutcome } from "./WebhookMetrics.ts"
import { lostAfterHours, waitAfter } from "./WebhookRetries.ts"
import { type StoredEndpoint, webhookIdOf } from "./WebhookRows.ts"
import { WebhookSettings } from "./WebhookSettings.ts"

/** An attempt failed and must be retried. */
export class DeliveryFailed extends Data.TaggedError("DeliveryFailed")<{ readonly message: string }> {}

/** The result of a run, stored as the job's output. */
export type DeliveryNote =
  | { readonly delivered: true; readonly statusCode: number | null }
  | { readonly skipped: string }
  | { readonly waiting: string }

interface Found extends Due {
  readonly stored: StoredEndpoint
  readonly message: WebhookMessage
}

const outcomeOf = ({ error, refused, statusCode }: AttemptResult): DeliveryOutcome =>
  error === null ? "delivered" : refused ? "refused" : statusCode === 410 ? "gone" : "failed"

/** Why a delivery is skipped; undefined if it is sent. */
const skipReason = ({ message, stored }: Due, arrived: boolean): string | undefined => {
  if (stored === undefined) return "the endpoint is gone"
  if (!stored.endpoint.isActive) return "the endpoint is switched off"
  if (message === undefined) return "the event is no longer kept"
  return arrived ? "it was delivered before" : undefined
}

const isWhole = (due: Due): due is Found => due.stored !== undefined && due.message !== undefined

/**
 * Delivers events, one attempt per run (contract, platform §9.2 and §9.3). An endpoint gets the events of one record in
 * order: a later event waits until the earlier one is delivered or given up, and that run then enqueues it. Different
 * records and endpoints are independent.
 */
export class Deliveries extends Context.Service<Deliveries, {
  readonly run: (run: DeliveryRun) => Effect.Effect<DeliveryNote, DeliveryFailed | GiveUp, CurrentActor>
  /**
   * Enqueues deliveries that lost their job again, for all organizations; returns the count. Used by a scheduled job.
   */
  readonly revive: Effect.Effect<number>
}>()("stoa/domain/webhooks/Deliveries") {
  static readonly layer = Layer.effect(
    Deliveries,
    Effect.gen(function*() {
      const attempts = yield* WebhookAttempts
      const deliveries = yield* WebhookDeliveryRepo
      const dispatches = yield* WebhookDispatchRepo
      const health = yield* endpointHealth
      const { postpone, settle, wake } = yield* deliveryQueue
      const slots = places()
      const { backoff } = yield* WebhookSettings
      const clock = Effect.map(DateTime.now, DateTime.toDateUtc)

      const attempt = Effect.fnUntraced(function*(run: DeliveryRun, { message, open, stored }: Found) {
        const { endpoint } = stored
        const id = webhookIdOf(message.eventId)
        const started = yield* clock
        const result = yield* attempts.send(stored, { id, type: message.type, body: message.body })
        const outcome = outcomeOf(result)
        const first = run.attemptNumber === 1 && (open?.attempts ?? 1) === 0
        yield* countAttempt(
          outcome,
          result.durationMs,
          first ? started.getTime() - message.eventAt.getTime() : undefined
        )
        const off = outcome !== "delivered" && (yield* health.failing(endpoint, outcome))
        if (outcome === "delivered") yield* health.succeeding(endpoint)
        const last = off || run.attemptNumber >= run.maxAttempts
        const at = yield* clock
        yield* deliveries.record({
          ...result,
          id: newId(),
          endpointId: endpoint.id,
          eventId: message.eventId,
          eventName: message.type,
          attemptCount: (open?.attempts ?? run.attemptNumber - 1) + 1,
          delivered: outcome === "delivered",
          nextRetryAt: outcome === "delivered" || last
            ? null
            : new Date(at.getTime() + waitAfter(backoff, run.attemptNumber)),
          at
        })
        // A failed redelivery does not use up the regular attempts.
        if (outcome === "delivered" || off || (last && !run.redelivery)) yield* settle(run)
        if (result.error === null) return { delivered: true, statusCode: result.statusCode } as const
        return yield* off ? Effect.fail(new GiveUp(result.error)) : new DeliveryFailed({ message: result.error })
      })

      const run = Effect.fn("Deliveries.run")(function*(run: DeliveryRun) {
        const due = yield* dispatches.due(run.endpointId, run.eventId)
        // Nothing open means that it arrived or was given up: a job that failed and is retried tries what did not arrive.
        const arrived = due.open === undefined && due.message !== undefined && !run.redelivery &&
          (yield* deliveries.hasArrived(run.endpointId, due.message))
        const skipped = skipReason(due, arrived)
        if (skipped !== undefined || !isWhole(due)) {
          if (!run.redelivery) yield* settle(run)
          return { skipped: skipped ?? "it is gone" }
        }
        if (!run.redelivery && due.open?.behind === true) {
          const waits = yield* dispatches.waitBehind(run.endpointId, run.eventId, yield* clock)
          if (waits) return { waiting: "an earlier event of the same record has to be settled first" }
        }
        const isFailing = due.stored.endpoint.failingSince !== null
        // Acquire and release as one unit: an interruption in between would occupy the slot forever.
        return yield* Effect.acquireUseRelease(
          Effect.sync(() => slots.enter(run.endpointId, placesAt(isFailing))),
          (entered): Effect.Effect<DeliveryNote, DeliveryFailed | GiveUp, CurrentActor> =>
            entered ? attempt(run, due) : postpone(run, due.message, isFailing),
          (entered) => Effect.sync(() => entered && slots.leave(run.endpointId))
        )
      })

      const revive = Effect.flatMap(clock, (now) => dispatches.revive(lostAfterHours(backoff), now, wake))

      return { run, revive }
    })
  )
}
