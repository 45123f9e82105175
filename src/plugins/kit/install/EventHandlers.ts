import { Cause, Data, DateTime, Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { createHash } from "node:crypto"
import { type CurrentActor, currentOrganization } from "../../../domain/platform/access/Actor.ts"
import { EventDispatch, EventDispatchRepo } from "../../../domain/platform/events/EventDispatchRepo.ts"
import type { EventNotice, EventSubscriber, SequencedEvent } from "../../../domain/platform/events/EventSubscribers.ts"
import { Jobs, type NewJob } from "../../../domain/platform/jobs/Jobs.ts"
import { JobSettings } from "../../../domain/platform/tasks/JobSettings.ts"
import { defineTask, GiveUp, type Retries, RetryIn, type Task } from "../../../domain/platform/tasks/Task.ts"
import { errorText } from "../../../layers/jobs/TaskRuns.ts"
import type { Failure } from "../events/EventHandler.ts"

/** A subscription of an installed plugin. */
export interface Subscription {
  /** Also the slug of its task (`subscriptionOf`). */
  readonly slug: string
  /** Names of its events. */
  readonly names: ReadonlySet<string>
  readonly retries: Retries | undefined
  readonly timeLimitMs: number | undefined
  /** Which events it is about; undefined: all of them. */
  readonly concerns: Statement.Fragment | undefined
  readonly handle: (event: SequencedEvent, attemptNumber: number) => Effect.Effect<unknown, Failure, CurrentActor>
}

const hourMs = 3_600_000

/** Waits of 1 s, 2 s and so on up to an hour: eight hours in all. */
const usual: Retries = { attempts: 20, backoff: { type: "exponential", delay: 1_000, jitter: 0.2 } }

/** No wait exceeds an hour, so a dispatch that nothing touched for longer has lost its job. */
const withCeiling = ({ attempts, backoff = { type: "fixed", delay: 1_000 } }: Retries): Retries => ({
  // A process may be killed in the last try: another one says then that it was the last.
  attempts: attempts + 5,
  backoff: { ...backoff, ceiling: Math.min(hourMs, backoff.ceiling ?? hourMs) }
})

const lostAfterHours = 6

const decode = Schema.decodeUnknownEffect(EventDispatch)

/** The job of a dispatch holds ids only: the event is read from the change log when it runs. */
const jobOf = (dispatch: EventDispatch): NewJob => ({
  task: dispatch.subscription,
  input: dispatch,
  options: { organizationId: dispatch.organizationId }
})

/** One handler of a record at a time, also when an operator retries an event that was given up. */
const keyOf = ({ entityId, entityType, subscription }: Partial<EventDispatch>): string =>
  `on/${createHash("sha256").update(JSON.stringify([subscription, entityType, entityId])).digest("hex")}`

class NotHandled extends Data.TaggedError("NotHandled")<{ readonly message: string }> {}

const handling = Effect.gen(function*() {
  const repo = yield* EventDispatchRepo
  const jobs = yield* Jobs
  const wake = (dispatches: ReadonlyArray<EventDispatch>) =>
    Effect.asVoid(Effect.catch(jobs.enqueueAll(dispatches.map(jobOf)), Effect.die))

  /** One try. An event of a record waits for the earlier ones, until they are handled or given up. */
  const run = Effect.fnUntraced(function*(subscription: Subscription, input: unknown, attemptNumber: number) {
    const sent = yield* Effect.mapError(decode(input), ({ message }) => new GiveUp(message))
    const dispatch = { ...sent, subscription: subscription.slug, organizationId: yield* currentOrganization }
    const giveUp = (why: string) => Effect.andThen(repo.end(dispatch, "givenUp", wake), Effect.fail(new GiveUp(why)))
    const found = yield* repo.begin(dispatch, yield* DateTime.nowAsDate)
    if (found === undefined) return { skipped: "it was handled before" }
    const { attempts } = subscription.retries ?? usual
    if (attemptNumber > attempts) return yield* giveUp("The process of the last try ended, or took too long.")
    if (found.event === null) {
      yield* repo.end(dispatch, "handled", wake)
      return { skipped: "the event is no longer kept" }
    }
    yield* subscription.handle(found.event, attemptNumber).pipe(
      Effect.catchCause((cause): Effect.Effect<never, GiveUp | NotHandled | RetryIn> => {
        if (Cause.hasInterrupts(cause)) return Effect.interrupt
        const error = Cause.squash(cause)
        if (error instanceof RetryIn) return Effect.fail(error)
        return error instanceof GiveUp || attemptNumber >= attempts
          ? giveUp(errorText(error))
          : Effect.fail(new NotHandled({ message: errorText(error) }))
      })
    )
    yield* repo.end(dispatch, "handled", wake)
    return {}
  })
  return { run, wake }
})

const taskOf = (run: Effect.Success<typeof handling>["run"], subscription: Subscription): Task => {
  const { slug, timeLimitMs } = subscription
  return defineTask({
    slug,
    retries: withCeiling(subscription.retries ?? usual),
    concurrency: { key: (input) => keyOf({ ...input, subscription: slug }) },
    ...(timeLimitMs === undefined ? {} : { timeLimitMs }),
    handler: Effect.fn("onEvents")(function*({ input, job: { attemptNumber } }) {
      return { output: yield* run(subscription, input, attemptNumber) }
    })
  })
}

/** What keeps dispatches: those that lost their job get another, and old ones of which nothing will come are deleted. */
const keeping = Effect.fnUntraced(
  function*(wake: Effect.Success<typeof handling>["wake"], slugs: ReadonlyArray<string>) {
    const repo = yield* EventDispatchRepo
    const { keepFailedDays } = yield* JobSettings
    return defineTask({
      slug: "events/dispatches",
      schedule: "*/10 * * * *",
      handler: Effect.fnUntraced(function*() {
        const now = yield* DateTime.nowAsDate
        const revived = yield* repo.revive(slugs, lostAfterHours, now, wake)
        return { output: { revived, removed: yield* repo.purge(slugs, keepFailedDays, now) } }
      })
    })
  }
)

/**
 * The tasks of all subscriptions, and what enqueues them in the relay's transaction: three statements for a batch in which
 * there are events of theirs, one if these concern none, none otherwise, and none in the request that makes an event.
 */
export const eventHandlers = Effect.fnUntraced(function*(subscriptions: ReadonlyArray<Subscription>) {
  const repo = yield* EventDispatchRepo
  const { run, wake } = yield* handling
  const slugsOf = (type: string) => subscriptions.filter(({ names }) => names.has(type)).map(({ slug }) => slug)

  const conditions = subscriptions.flatMap(({ concerns, slug }) =>
    concerns === undefined ? [] : [{ subscription: slug, concerns }]
  )

  const subscriber: EventSubscriber = Effect.fn("onEvents")(function*(events: ReadonlyArray<EventNotice>) {
    const wanted = events.map(({ id, type }) => ({ eventId: id, subscriptions: slugsOf(type) }))
      .filter(({ subscriptions }) => subscriptions.length > 0)
    if (wanted.length === 0) return
    const first = yield* repo.open(wanted, yield* DateTime.nowAsDate, conditions)
    if (first.length > 0) yield* wake(first)
  })
  const keep = yield* keeping(wake, subscriptions.map(({ slug }) => slug))
  return { subscriber, tasks: [...subscriptions.map((subscription) => taskOf(run, subscription)), keep] }
})
