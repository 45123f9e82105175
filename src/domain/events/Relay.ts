import { Clock, Context, Effect, Layer, Metric } from "effect"
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
 * The pause once nothing was written for a second. These reads are most of the work of an idle process, so the first
 * change after a pause waits up to a tenth of a second.
 */
const quietRest = 100
const quietAfter = 1_000

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

/**
 * Assigns positions to committed entries of the change log and passes the events among them to the subscribers. One
 * process of the deployment runs it. Two at once are safe, and a batch is lost in full when its process dies.
 */
export class Relay extends Context.Service<Relay>()("stoa/domain/events/Relay", {
  make: Effect.gen(function*() {
    const repo = yield* RelayStatements
    const subscribers = yield* EventSubscribers

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
      Effect.flatMap((waits) => waits ? once : Effect.succeed(0)),
      Effect.tap((count) => Effect.sync(() => (busy = count > 1)))
    )

    let written = -Infinity
    const restAfter = (count: number) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        if (count > 0) written = now
        return now - written < quietAfter ? rest : quietRest
      })

    let failed = 0
    const safely = turn.pipe(
      Effect.flatMap((count) => {
        failed = 0
        return count < batchSize ? Effect.flatMap(restAfter(count), Effect.sleep) : Effect.void
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
      run: Effect.forever(safely)
    }
  })
}) {
  static readonly layer = Layer.effect(Relay, Relay.make)
}
