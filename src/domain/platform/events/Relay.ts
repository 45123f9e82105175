import { Clock, Context, Effect, Latch, Layer, Metric } from "effect"
import { type EventNotice, EventSubscribers } from "./EventSubscribers.ts"
import { RelayStatements } from "./RelayStatements.ts"

const batchSize = 500

/** Bytes of records after which a batch ends: the transaction must finish long before the database's time limit. */
const batchBytes = 8_000_000

/** Milliseconds between reads. Without it a busy store needs a transaction per two or three entries. */
const rest = 25

/**
 * Pause after a quiet second. After another the relay rests until notified: by then hardly a transaction is open that
 * began while writers did not notify.
 */
const quietRest = 100
const quietAfter = 1_000

/** Longest wait of a change whose notification is lost or whose transaction is slow. */
const longestRest = 5_000

/** Milliseconds. */
const backOff = (failures: number): number => Math.min(30_000, 50 * 2 ** failures)

const relayed = Metric.counter("stoa_outbox_relayed_total", {
  description: "Entries of the change log that this process gave their place",
  incremental: true
})
const failures = Metric.counter("stoa_outbox_relay_failures_total", {
  description: "Batches of the relay that failed and were tried again",
  incremental: true
})

/** Wakes the resting relay. Without a listener (`hears`) it never rests. */
export class RelayWake extends Context.Service<RelayWake>()("stoa/domain/platform/events/RelayWake", {
  make: Effect.sync(() => {
    const latch = Latch.makeUnsafe(false)
    let hears = false
    return {
      wake: Effect.asVoid(latch.open),
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
    start: Effect.sync(() => {
      writersNotify = true
      restingSince = undefined
    }),
    begin: Effect.sync(() => latch.closeUnsafe()),
    awake: Effect.suspend(() => writersNotify ? tellWriters(false, undefined) : Effect.void),
    after: (count: number) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (count > 0) written = now
        return now - written < quietAfter ? Effect.sleep(rest) : untilNotified(now)
      })
  }
})

/**
 * Assigns positions to committed entries and passes events to the subscribers. One process runs it; two at once are
 * safe.
 */
export class Relay extends Context.Service<Relay>()("stoa/domain/platform/events/Relay", {
  make: Effect.gen(function*() {
    const repo = yield* RelayStatements
    const subscribers = yield* EventSubscribers
    const pauses = yield* makePauses

    const emit = (events: ReadonlyArray<EventNotice>) =>
      Effect.forEach(subscribers.all(), (subscriber) => subscriber(events), { discard: true })

    const once = repo.assignPositions({ entries: batchSize, bytes: batchBytes }, emit).pipe(
      Effect.tap((count) => Metric.update(relayed, count))
    )

    // Outside a transaction: an idle relay costs one short statement. In a busy store the check is skipped.
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
      run: Effect.andThen(pauses.start, Effect.forever(safely))
    }
  })
}) {
  static readonly layer = Layer.effect(Relay, Relay.make)
}
