import { Context, Data, DateTime, Effect, Layer, Metric, Option, Random, RcMap, Schema, Semaphore } from "effect"
import { currentOrganization } from "../../domain/platform/access/Actor.ts"
import {
  announcedNames,
  type EventNotice,
  type EventSubscriber
} from "../../domain/platform/events/EventSubscribers.ts"
import { WebhookEndpointId } from "../../domain/platform/ids/Id.ts"
import { Jobs } from "../../domain/platform/jobs/Jobs.ts"
import { defineTask, GiveUp, type Retries, type Task } from "../../domain/platform/tasks/Task.ts"
import {
  type AttemptResult,
  deliverTaskSlug,
  deliveryJob,
  deliveryOf,
  type Dispatch,
  webhookIdOf,
  webhookQueue
} from "../../domain/webhooks/WebhookDelivery.ts"
import { anyEvent, type WebhookEndpoint } from "../../domain/webhooks/WebhookEndpoint.ts"
import { WebhookDeliveryRepo } from "../../domain/webhooks/WebhookRepo.ts"
import { type WebhookBackoff, WebhookSender, WebhookSettings } from "../../domain/webhooks/WebhookSender.ts"
import { backoffAfter } from "../jobs/TaskRuns.ts"
import { type Due, WebhookDispatchRepo } from "./WebhookDispatchRepo.ts"

/** `refused` by the guard before any connection, `gone` with 410. */
type DeliveryOutcome = "delivered" | "failed" | "refused" | "gone"

const outcomeOf = ({ error, isRefused, statusCode }: AttemptResult): DeliveryOutcome =>
  error === null ? "delivered" : isRefused ? "refused" : statusCode === 410 ? "gone" : "failed"

const attempts = Metric.counter("stoa_webhook_attempts_total", {
  description: "Attempts to deliver an event to a webhook endpoint, by outcome",
  incremental: true
})

const durations = Metric.histogram("stoa_webhook_attempt_duration_seconds", {
  description: "Seconds that an attempt took, the look-up of the host included",
  boundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

const lag = Metric.histogram("stoa_webhook_lag_seconds", {
  description: "Seconds from an event to the first attempt to deliver it",
  boundaries: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600]
})

const countAttempt = Effect.fnUntraced(
  function*(outcome: DeliveryOutcome, durationMs: number, lagMs: number | undefined) {
    yield* Metric.update(Metric.withAttributes(attempts, { outcome }), 1)
    yield* Metric.update(durations, durationMs / 1000)
    if (lagMs !== undefined) yield* Metric.update(lag, Math.max(0, lagMs) / 1000)
  }
)

const dayMs = 24 * 3_600_000

const endpointHealth = Effect.gen(function*() {
  const deliveries = yield* WebhookDeliveryRepo
  const { disableAfterDays } = yield* WebhookSettings

  return Effect.fnUntraced(function*(endpoint: WebhookEndpoint, outcome: DeliveryOutcome) {
    if (outcome === "delivered") {
      if (endpoint.failingSince !== null) yield* deliveries.recovered(endpoint.id)
      return false
    }
    const at = yield* DateTime.nowAsDate
    const since = yield* deliveries.failed(endpoint.id, at)
    const forDays = since !== undefined && at.getTime() - since.getTime() >= disableAfterDays * dayMs
    if (outcome !== "gone" && !forDays) return false
    if (!(yield* deliveries.disable(endpoint, outcome === "gone" ? "gone" : "failing", at))) return false
    const why = outcome === "gone" ? "answered 410" : `has failed for ${disableAfterDays} days`
    yield* Effect.logWarning(`webhook endpoint ${endpoint.id} ${why} and is switched off`)
    return true
  })
})

/** Ids without content. Additions must be optional: jobs outlive versions. */
const DeliveryInput = Schema.Struct({
  endpointId: WebhookEndpointId,
  eventId: Schema.String,
  entityType: Schema.String,
  entityId: Schema.String,
  /** Sent again by hand: ignores earlier results and the order of events. */
  redelivery: Schema.optional(Schema.Boolean),
  postponed: Schema.optional(Schema.Int)
})

type DeliveryRun = typeof DeliveryInput.Type & { readonly attemptNumber: number; readonly maxAttempts: number }

class DeliveryFailed extends Data.TaggedError("DeliveryFailed")<{ readonly message: string }> {}

const deliveryRetries = ({ baseSeconds, factor, jitter, maxSeconds }: WebhookBackoff) =>
  ({
    attempts: 10,
    backoff: { type: "exponential", delay: baseSeconds * 1_000, factor, jitter, ceiling: maxSeconds * 1_000 }
  }) as const satisfies Retries

/**
 * Hours without a touch until a dispatch's job counts as lost: longer than any retry, and any queue for an endpoint's
 * slots.
 */
const lostAfterHours = ({ maxSeconds }: WebhookBackoff): number => Math.max(18, Math.ceil((maxSeconds * 1.5) / 3_600))

/** Attempts of one process at one endpoint: a hanging one must not take all workers. A failing endpoint gets one. */
const maxConcurrent = 8

/**
 * Milliseconds: 1 s, doubled up to a minute, or a quarter of an hour while the endpoint fails. `random` from 0 to 1
 * adds jitter.
 */
const postponedBy = (times: number, isFailing: boolean, random: number): number =>
  Math.ceil(Math.min(isFailing ? 900_000 : 60_000, 1_000 * 2 ** times) * (0.8 + random * 0.4))

const sendable = ({ endpoint, message, open }: Due, arrived: boolean) => {
  if (endpoint === null) return "the endpoint is gone"
  if (!endpoint.isActive) return "the endpoint is switched off"
  if (message === null) return "the event is no longer kept"
  return arrived ? "it was delivered before" : { endpoint, message, open }
}
type Sendable = Exclude<ReturnType<typeof sendable>, string>

/**
 * Delivers events, one attempt per run (contract, platform §9.2 and §9.3). An endpoint gets a record's events in order:
 * a later one waits until the earlier is delivered or given up, and that run enqueues it.
 */
export class Deliveries extends Context.Service<Deliveries>()("stoa/layers/webhooks/Deliveries", {
  make: Effect.gen(function*() {
    const [dispatches, jobs, log] = [yield* WebhookDispatchRepo, yield* Jobs, yield* WebhookDeliveryRepo]
    const [{ backoff }, sender, updateHealth] = [yield* WebhookSettings, yield* WebhookSender, yield* endpointHealth]
    const slots = yield* RcMap.make({ lookup: (_endpoint: string) => Semaphore.make(maxConcurrent) })

    const wake = (all: ReadonlyArray<Dispatch>) =>
      jobs.enqueueAll(all.map(deliveryJob)).pipe(Effect.catch(Effect.die), Effect.asVoid)

    const settle = Effect.fnUntraced(function*({ endpointId, eventId }: DeliveryRun) {
      yield* dispatches.settle(endpointId, eventId, yield* DateTime.nowAsDate, (next) => wake([next]))
    })

    const postpone = Effect.fnUntraced(
      function*({ attemptNumber, maxAttempts, postponed = 0, ...input }: DeliveryRun, isFailing: boolean) {
        // Often enough that `revive` does not enqueue duplicates; rarely, because it is a statement.
        if (postponed % 30 === 29) yield* dispatches.touch(input.endpointId, input.eventId, yield* DateTime.nowAsDate)
        yield* jobs.enqueue(deliverTaskSlug, { ...input, postponed: postponed + 1 }, {
          organizationId: yield* currentOrganization,
          queue: webhookQueue,
          delayMs: postponedBy(postponed, isFailing, yield* Random.next),
          maxAttempts: maxAttempts - attemptNumber + 1
        }).pipe(Effect.catch(Effect.die))
        return { waiting: "all places at this endpoint are taken" }
      }
    )

    const attempt = Effect.fnUntraced(function*(run: DeliveryRun, { endpoint, message, open }: Sendable) {
      const { body, eventAt, type } = message
      const started = yield* DateTime.nowAsDate
      const result = yield* sender.send(endpoint, { id: webhookIdOf(run.eventId), type, body })
      const outcome = outcomeOf(result)
      const first = run.attemptNumber === 1 && (open?.attempts ?? 1) === 0
      yield* countAttempt(outcome, result.durationMs, first ? started.getTime() - eventAt.getTime() : undefined)
      const off = yield* updateHealth(endpoint, outcome)
      const last = off || run.attemptNumber >= run.maxAttempts
      const at = yield* DateTime.nowAsDate
      const wait = backoffAfter(deliveryRetries({ ...backoff, jitter: 0 }), run.attemptNumber, 0)
      yield* log.record(deliveryOf(
        endpoint,
        { id: run.eventId, type },
        result,
        at,
        (open?.attempts ?? run.attemptNumber - 1) + 1,
        outcome === "delivered" || last ? null : new Date(at.getTime() + wait)
      ))
      if (outcome === "delivered" || off || (last && run.redelivery !== true)) yield* settle(run)
      if (result.error === null) return { delivered: true, statusCode: result.statusCode } as const
      return yield* off ? Effect.fail(new GiveUp(result.error)) : new DeliveryFailed({ message: result.error })
    })

    const run = Effect.fn("Deliveries.run")(function*(run: DeliveryRun) {
      const { endpointId, eventId, redelivery = false } = run
      const due = yield* dispatches.due(endpointId, eventId)
      // Nothing open: delivered or given up. A retried failed job tries what did not arrive.
      const arrived = due.open === null && due.message !== null && !redelivery &&
        (yield* log.hasArrived(endpointId, eventId, due.message.eventAt))
      const found = sendable(due, arrived)
      if (typeof found === "string") {
        if (!redelivery) yield* settle(run)
        return { skipped: found }
      }
      if (
        !redelivery && due.open?.behind === true &&
        (yield* dispatches.waitBehind(endpointId, eventId, yield* DateTime.nowAsDate))
      ) {
        return { waiting: "an earlier event of the same record has to be settled first" }
      }
      const isFailing = found.endpoint.failingSince !== null
      const slot = yield* RcMap.get(slots, endpointId)
      const note = yield* slot.withPermitsIfAvailable(isFailing ? maxConcurrent : 1)(attempt(run, found))
      return Option.isSome(note) ? note.value : yield* postpone(run, isFailing)
    }, Effect.scoped)

    const revive = Effect.flatMap(DateTime.nowAsDate, (now) => dispatches.revive(lostAfterHours(backoff), now, wake))

    return { run, revive }
  })
}) {
  static readonly layer = Layer.effect(Deliveries, Deliveries.make)
}

const decode = Schema.decodeUnknownEffect(DeliveryInput)

/**
 * The task `webhooks/deliver` (spec §2, contract, platform §9.3). Jobs of one endpoint and record never overlap: events
 * keep their order.
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

/**
 * Enqueues deliveries in the relay's transaction: two statements and one for the jobs per batch. Without interested
 * endpoints one statement, and no record is read.
 */
export const webhookSubscriber: Effect.Effect<EventSubscriber, never, WebhookDispatchRepo | Jobs> = Effect.gen(
  function*() {
    const repo = yield* WebhookDispatchRepo
    const names = yield* announcedNames
    const jobs = yield* Jobs

    return Effect.fn("webhookSubscriber")(function*(events: ReadonlyArray<EventNotice>) {
      const deliverable = events.filter(({ type }) => names.has(type))
      if (deliverable.length === 0) return
      const endpoints = yield* repo.subscriptions([...new Set(deliverable.map((event) => event.organizationId))])
      const subscribed = deliverable.map(({ id, organizationId, type }) => ({
        eventId: id,
        endpointIds: endpoints.filter((endpoint) =>
          endpoint.organizationId === organizationId &&
          (endpoint.events.includes(type) || endpoint.events.includes(anyEvent))
        ).map(({ endpointId }) => endpointId)
      })).filter(({ endpointIds }) => endpointIds.length > 0)
      if (subscribed.length === 0) return
      const opened = yield* repo.open(subscribed, yield* DateTime.nowAsDate)
      if (opened.length > 0) yield* Effect.catch(jobs.enqueueAll(opened.map(deliveryJob)), Effect.die)
    })
  }
)
