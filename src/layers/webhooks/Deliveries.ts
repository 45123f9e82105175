import { Context, Data, DateTime, Effect, Layer, Option, Random, RcMap, Schema, Semaphore } from "effect"
import { currentOrganization } from "../../domain/access/Actor.ts"
import { Jobs } from "../../domain/jobs/Jobs.ts"
import { defineTask, GiveUp, type Retries, type Task } from "../../domain/jobs/Task.ts"
import { deliverTaskSlug, deliveryJob, type Dispatch, webhookQueue } from "../../domain/webhooks/DeliveryJob.ts"
import { deliveryOf, webhookIdOf } from "../../domain/webhooks/WebhookDelivery.ts"
import { WebhookDeliveryRepo } from "../../domain/webhooks/WebhookDeliveryRepo.ts"
import { WebhookSender } from "../../domain/webhooks/WebhookSender.ts"
import { type WebhookBackoff, WebhookSettings } from "../../domain/webhooks/WebhookSettings.ts"
import { backoffAfter } from "../jobs/TaskRuns.ts"
import { countAttempt, endpointHealth, outcomeOf } from "./EndpointHealth.ts"
import { type Due, WebhookDispatchRepo } from "./WebhookDispatchRepo.ts"

/** Input of a delivery: ids of records without content. Additions must be optional, because jobs outlive versions. */
const DeliveryInput = Schema.Struct({
  endpointId: Schema.String,
  eventId: Schema.String,
  entityType: Schema.String,
  entityId: Schema.String,
  /** Sent again by hand: ignores earlier results and the order of events. */
  redelivery: Schema.optional(Schema.Boolean),
  /** How often this run was postponed because all slots of its endpoint were occupied. */
  postponed: Schema.optional(Schema.Int)
})

/** One run of the task `webhooks/deliver`. */
type DeliveryRun = typeof DeliveryInput.Type & { readonly attemptNumber: number; readonly maxAttempts: number }

/** An attempt failed and must be retried. */
class DeliveryFailed extends Data.TaggedError("DeliveryFailed")<{ readonly message: string }> {}

/** Retries of a delivery: ten attempts. */
const deliveryRetries = ({ baseSeconds, factor, jitter, maxSeconds }: WebhookBackoff) =>
  ({
    attempts: 10,
    backoff: { type: "exponential", delay: baseSeconds * 1_000, factor, jitter, ceiling: maxSeconds * 1_000 }
  }) as const satisfies Retries

/**
 * Hours without a touch after which a dispatch has lost its job: longer than any retry waits, and longer than a queue
 * for the slots of an endpoint can take.
 */
const lostAfterHours = ({ maxSeconds }: WebhookBackoff): number => Math.max(18, Math.ceil((maxSeconds * 1.5) / 3_600))

/**
 * Concurrent attempts of one process at one endpoint, so that one that does not answer cannot take all workers of the
 * queue. An endpoint that fails gets one: if it hangs, the others would hang too.
 */
const maxConcurrent = 8

/**
 * Milliseconds until a job without a slot tries again: 1 s, doubled up to a minute, or up to a quarter of an hour while
 * its endpoint fails, because a long queue then waits for days. `random` from 0 to 1 adds jitter.
 */
const postponedBy = (times: number, isFailing: boolean, random: number): number =>
  Math.ceil(Math.min(isFailing ? 900_000 : 60_000, 1_000 * 2 ** times) * (0.8 + random * 0.4))

/** Why a delivery is skipped; undefined if it is sent. */
const skipReason = ({ endpoint, message }: Due, arrived: boolean): string | undefined => {
  if (endpoint === undefined) return "the endpoint is gone"
  if (!endpoint.isActive) return "the endpoint is switched off"
  if (message === undefined) return "the event is no longer kept"
  return arrived ? "it was delivered before" : undefined
}

type Complete = { readonly [K in keyof Due]: K extends "open" ? Due[K] : NonNullable<Due[K]> }

const isComplete = (due: Due): due is Complete => due.endpoint !== undefined && due.message !== undefined

const clock = Effect.map(DateTime.now, DateTime.toDateUtc)

/**
 * Delivers events, one attempt per run (contract, platform §9.2 and §9.3). An endpoint gets the events of one record in
 * order: a later event waits until the earlier one is delivered or given up, and that run then enqueues it. Different
 * records and endpoints are independent.
 */
export class Deliveries extends Context.Service<Deliveries>()("stoa/layers/webhooks/Deliveries", {
  make: Effect.gen(function*() {
    const [dispatches, jobs, log] = [yield* WebhookDispatchRepo, yield* Jobs, yield* WebhookDeliveryRepo]
    const [{ backoff }, sender, updateHealth] = [yield* WebhookSettings, yield* WebhookSender, yield* endpointHealth]
    const slots = yield* RcMap.make({ lookup: (_endpoint: string) => Semaphore.make(maxConcurrent) })

    const wake = (all: ReadonlyArray<Dispatch>) =>
      jobs.enqueueAll(all.map(deliveryJob)).pipe(Effect.catch(Effect.die), Effect.asVoid)

    const settle = Effect.fnUntraced(function*({ endpointId, eventId }: DeliveryRun) {
      yield* dispatches.settle(endpointId, eventId, yield* clock, (next) => wake([next]))
    })

    /** Enqueues the same run for later, with its remaining attempts. */
    const postpone = Effect.fnUntraced(
      function*({ attemptNumber, maxAttempts, postponed = 0, ...input }: DeliveryRun, isFailing: boolean) {
        // Rarely, because it is a statement, but often enough that the scheduled job for lost deliveries leaves this
        // one alone: it would otherwise enqueue duplicates of the same event.
        if (postponed % 30 === 29) yield* dispatches.touch(input.endpointId, input.eventId, yield* clock)
        yield* jobs.enqueue(deliverTaskSlug, { ...input, postponed: postponed + 1 }, {
          organizationId: yield* currentOrganization,
          queue: webhookQueue,
          delayMs: postponedBy(postponed, isFailing, yield* Random.next),
          maxAttempts: maxAttempts - attemptNumber + 1
        }).pipe(Effect.catch(Effect.die))
        return { waiting: "all places at this endpoint are taken" }
      }
    )

    const attempt = Effect.fnUntraced(function*(run: DeliveryRun, { endpoint, message, open }: Complete) {
      const { body, eventAt, type } = message
      const started = yield* clock
      const result = yield* sender.send(endpoint, { id: webhookIdOf(run.eventId), type, body })
      const outcome = outcomeOf(result)
      const first = run.attemptNumber === 1 && (open?.attempts ?? 1) === 0
      yield* countAttempt(outcome, result.durationMs, first ? started.getTime() - eventAt.getTime() : undefined)
      const off = yield* updateHealth(endpoint, outcome)
      const last = off || run.attemptNumber >= run.maxAttempts
      const at = yield* clock
      const wait = backoffAfter(deliveryRetries({ ...backoff, jitter: 0 }), run.attemptNumber, 0)
      yield* log.record(deliveryOf(
        endpoint,
        { id: run.eventId, type },
        result,
        at,
        (open?.attempts ?? run.attemptNumber - 1) + 1,
        outcome === "delivered" || last ? null : new Date(at.getTime() + wait)
      ))
      // A failed redelivery does not use up the regular attempts.
      if (outcome === "delivered" || off || (last && run.redelivery !== true)) yield* settle(run)
      if (result.error === null) return { delivered: true, statusCode: result.statusCode } as const
      return yield* off ? Effect.fail(new GiveUp(result.error)) : new DeliveryFailed({ message: result.error })
    })

    /** One run; what it returns is stored as the job's output. */
    const run = Effect.fn("Deliveries.run")(function*(run: DeliveryRun) {
      const { endpointId, eventId, redelivery = false } = run
      const due = yield* dispatches.due(endpointId, eventId)
      // Nothing open means that it arrived or was given up: a job that failed and is retried tries what did not arrive.
      const arrived = due.open === undefined && due.message !== undefined && !redelivery &&
        (yield* log.hasArrived(endpointId, eventId, due.message.eventAt))
      const skipped = skipReason(due, arrived)
      if (skipped !== undefined || !isComplete(due)) {
        if (!redelivery) yield* settle(run)
        return { skipped: skipped ?? "it is gone" }
      }
      if (
        !redelivery && due.open?.behind === true && (yield* dispatches.waitBehind(endpointId, eventId, yield* clock))
      ) {
        return { waiting: "an earlier event of the same record has to be settled first" }
      }
      const isFailing = due.endpoint.failingSince !== null
      const slot = yield* RcMap.get(slots, endpointId)
      const note = yield* slot.withPermitsIfAvailable(isFailing ? maxConcurrent : 1)(attempt(run, due))
      return Option.isSome(note) ? note.value : yield* postpone(run, isFailing)
    }, Effect.scoped)

    /** Enqueues deliveries that lost their job again, for all organizations; returns the count. */
    const revive = Effect.flatMap(clock, (now) => dispatches.revive(lostAfterHours(backoff), now, wake))

    return { run, revive }
  })
}) {
  static readonly layer = Layer.effect(Deliveries, Deliveries.make)
}

const decode = Schema.decodeUnknownEffect(DeliveryInput)

/**
 * The task `webhooks/deliver` (spec §2, contract, platform §9.3): one attempt a run. Jobs of one endpoint and record
 * never run at the same time, so that its events keep their order.
 */
export const deliverWebhook: Effect.Effect<Task, never, Deliveries | WebhookSettings> = Effect.gen(function*() {
  const deliveries = yield* Deliveries
  const { backoff } = yield* WebhookSettings
  return defineTask({
    slug: deliverTaskSlug,
    queue: webhookQueue,
    retries: deliveryRetries(backoff),
    concurrency: { key: ({ endpointId, entityId, entityType }) => `webhook:${endpointId}:${entityType}:${entityId}` },
    handler: Effect.fn("webhooks/deliver")(function*({ input, job: { attemptNumber, maxAttempts } }) {
      const decoded = yield* Effect.mapError(decode(input), ({ message }) => new GiveUp(message))
      return { output: yield* deliveries.run({ ...decoded, attemptNumber, maxAttempts }) }
    })
  })
})
