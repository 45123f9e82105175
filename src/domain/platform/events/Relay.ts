import { Clock, Context, Effect, Latch, Layer, Metric } from "effect"
import { type EventNotice, EventSubscribers } from "./EventSubscribers.ts"
import { RelayStatements } from "./RelayStatements.ts"

const batchSize = 500

/**
 * Stored bytes of the records after which a transaction takes no further entry. Metadata can be large, and the
 * transaction must end long before the database's time limit.
 */
const batchBytes = 8_000_000

/**
 * Pause between reads unless a full batch is waiting, and so the longest time a change waits for its position. Without
 * it a busy store would need a transaction for every two or three entries.
 */
const rest = 25

/**
 * The pause once nothing was written for a second. After another second the relay rests until it is notified: by then no
 * transaction is open that began to write before writers knew that it rests, or only a slow one.
 */
const quietRest = 100
const quietAfter = 1_000

/** How long the change of a slow transaction, or one whose notification was lost, waits at most. */
const longestRest = 5_000

/** Pause after the n-th failure in a row, in milliseconds: doubled up to half a minute. */
const backOff = (failures: number): number => Math.min(30_000, 50 * 2 ** failures)

const relayed = Metric.counter("stoa_outbox_relayed_total", {
  description: "Entries of the change log that this process gave their place",
  incremental: true
})
const failures = Metric.counter("stoa_outbox_relay_failures_total", {
  description: "Batches of the relay that failed and were tried again",
  incremental: true
})

/** Tells the relay that entries were written while it rested. Without a listener (`hears`) it never rests. */
export class RelayWake extends Context.Service<RelayWake>()("stoa/domain/platform/events/RelayWake", {
  make: Effect.sync(() => {
    const latch = Latch.makeUnsafe(false)
    let hears = false
    return {
      wake: Effect.asVoid(latch.open),
      /** Whether notifications arrive from now on; one may have been lost before. */
      listening: (on: boolean) =>
        Effect.suspend(() => {
          hears = on
          return Effect.asVoid(latch.open)
        }),
      hears: () => hears,
      latch
    }
  })
}) {
  static readonly layer = Layer.effect(RelayWake, RelayWake.make)
}

/** The pauses between looks at the change log. */
const makePauses = Effect.map(Effect.all([RelayStatements, RelayWake]), ([repo, { hears, latch }]) => {
  let written = -Infinity
  let restingSince: number | undefined
  let writersNotify = true

  const tellWriters = (resting: boolean, since: number | undefined) =>
    Effect.map(repo.rest(resting), () => {
      writersNotify = resting
      restingSince = since
    })

  const untilNotified = (now: number) => {
    if (!hears()) return Effect.sleep(quietRest)
    if (restingSince === undefined) return tellWriters(true, now)
    return now - restingSince < quietAfter
      ? Effect.sleep(quietRest)
      : Effect.asVoid(Effect.timeoutOption(latch.await, longestRest))
  }

  return {
    /** Another process may have left it with the writers that they notify. */
    start: Effect.sync(() => {
      writersNotify = true
      restingSince = undefined
    }),
    /** Before a look: what is written from now on ends the next pause. */
    begin: Effect.sync(() => latch.closeUnsafe()),
    /** Entries wait: the relay looks often now, so writers need not notify it. */
    awake: Effect.suspend(() => writersNotify ? tellWriters(false, undefined) : Effect.void),
    after: (count: number) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (count > 0) written = now
        return now - written < quietAfter ? Effect.sleep(rest) : untilNotified(now)
      })
  }
})

/**
 * Assigns positions to committed entries of the change log and passes the events among them to the subscribers. One
 * process of the deployment runs it. Two at once are safe, and a batch is lost in full when its process dies.
 */
export class Relay extends Context.Service<Relay>()("stoa/domain/platform/events/Relay", {
  make: Effect.gen(function*() {
    const repo = yield* RelayStatements
    const subscribers = yield* EventSubscribers
    const pauses = yield* makePauses

    const emit = (events: ReadonlyArray<EventNotice>) =>
      Effect.forEach(subscribers.all(), (subscriber) => subscriber(events), { discard: true })

    /** Processes one batch and returns how many entries it had. */
    const once = repo.assignPositions({ entries: batchSize, bytes: batchBytes }, emit).pipe(
      Effect.tap((count) => Metric.update(relayed, count))
    )

    // Check outside of a transaction: an idle relay costs one short statement and no commit. In a busy store the next
    // entries are nearly always there, and the check is skipped.
    let busy = false
    const turn = Effect.suspend(() => busy ? Effect.succeed(true) : repo.waits).pipe(
      Effect.flatMap((waits) => waits ? Effect.andThen(pauses.awake, once) : Effect.succeed(0)),
      Effect.tap((count) => Effect.sync(() => (busy = count > 1)))
    )

    let failed = 0
    const safely = Effect.andThen(pauses.begin, turn).pipe(
      Effect.flatMap((count) => {
        failed = 0
        return count < batchSize ? pauses.after(count) : Effect.void
      }),
      Effect.catchCause((cause) => {
        failed += 1
        return Metric.update(failures, 1).pipe(
          Effect.andThen(Effect.logWarning("a batch of the change log failed", cause)),
          Effect.andThen(Effect.sleep(backOff(failed)))
        )
      })
    )

    return {
      once,
      /** Processes batches forever; logs and retries a batch that fails. */
      run: Effect.andThen(pauses.start, Effect.forever(safely))
    }
  })
}) {
  static readonly layer = Layer.effect(Relay, Relay.make)
}
