import { DateTime, Effect, Random } from "effect"
import { Jobs } from "../jobs/Jobs.ts"
import type { DeliveryRun } from "./DeliveryRun.ts"
import { postponedBy } from "./DeliverySlots.ts"
import type { Dispatch, WebhookMessage } from "./WebhookDispatch.ts"
import { WebhookDispatchRepo } from "./WebhookDispatchRepo.ts"
import { deliveryJob } from "./WebhookSubscriber.ts"

/** How a run of the task hands on: to the event that waits for it, to itself at a later time. */
export const deliveryQueue = Effect.gen(function*() {
  const jobs = yield* Jobs
  const dispatches = yield* WebhookDispatchRepo
  const clock = Effect.map(DateTime.now, DateTime.toDateUtc)

  const wake = (all: ReadonlyArray<Dispatch>) =>
    jobs.enqueueAll(all.map(deliveryJob)).pipe(Effect.catch(Effect.die), Effect.asVoid)

  const settle = Effect.fnUntraced(function*({ endpointId, eventId }: DeliveryRun) {
    yield* dispatches.settle(endpointId, eventId, yield* clock, (next) => wake([next]))
  })

  /** The same run later, with the tries that it has left. */
  const postpone = Effect.fnUntraced(function*(
    run: DeliveryRun,
    message: WebhookMessage,
    isFailing: boolean
  ) {
    const { input, options, task } = deliveryJob({ ...message, endpointId: run.endpointId })
    // Rarely, because it is a statement, but often enough that the scheduled job for lost deliveries leaves this one
    // alone: it would otherwise enqueue duplicates of the same event.
    if (run.postponed % 30 === 29) yield* dispatches.touch(run.endpointId, run.eventId, yield* clock)
    const again = { ...input, postponed: run.postponed + 1, ...(run.redelivery ? { redelivery: true } : {}) }
    yield* jobs.enqueue(task, again, {
      ...options,
      delayMs: postponedBy(run.postponed, isFailing, yield* Random.next),
      maxAttempts: run.maxAttempts - run.attemptNumber + 1
    }).pipe(Effect.catch(Effect.die))
    return { waiting: "all places at this endpoint are taken" }
  })

  return { wake, settle, postpone }
})
