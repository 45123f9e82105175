import { Clock, Context, Effect, Layer, Metric } from "effect"
import { type EventNotice, EventSubscribers } from "./EventSubscribers.ts"
import { RelayRepo } from "./RelayRepo.ts"

/** Most entries of one transaction. */
const batchSize = 500

/**
 * Bytes of their records, as they are stored, after which a transaction takes no further entry: it has to be over long
 * before the database's time limit, whatever people write into their metadata.
 */
const batchBytes = 8_000_000

/**
 * How long the relay rests before it looks again, unless more is waiting than one batch takes: the time that a change
 * waits for its place, at most. Without it a busy store would have a transaction for every two or three entries.
 */
const rest = 25

/**
 * The same once nothing was written for a second: the looks of a store at rest are most of what its process does, and the
 * first change after a pause waits for a tenth of a second at most.
 */
const quietRest = 100
const quietAfter = 1_000

/** Pause after the n-th failure in a row, milliseconds: doubled up to half a minute. */
const backOff = (failures: number): number => Math.min(30_000, 50 * 2 ** failures)

const encrypted = Metric.counter("stoa_outbox_relayed_total", {
  description: "Entries of the change log that this process gave their place",
  incremental: true
})
const failures = Metric.counter("stoa_outbox_relay_failures_total", {
  description: "Batches of the relay that failed and were tried again",
  incremental: true
})

/**
 * Gives every committed entry of the change log its place and tells the subscribers of the events among them. One process
 * of the deployment runs it. Two at once do no harm, and what one leaves half done, when it dies, was never done.
 */
export class Relay extends Context.Service<Relay, {
  /** One batch; gives how many entries it was. */
  readonly once: Effect.Effect<number>
  /** Batch after batch, for ever; a batch that fails is logged and tried again. */
  readonly run: Effect.Effect<never>
}>()("stoa/domain/events/Relay") {
  static readonly layer = Layer.effect(
    Relay,
    Effect.gen(function*() {
      const repo = yield* RelayRepo
      const subscribers = yield* EventSubscribers

      const tell = (events: ReadonlyArray<EventNotice>) =>
        Effect.forEach(subscribers.all(), (subscriber) => subscriber(events), { discard: true })

      const once = repo.assignPositions({ entries: batchSize, bytes: batchBytes }, tell).pipe(
        Effect.tap((count) => Metric.update(encrypted, count))
      )

      // Looked for outside of a transaction: at rest the relay costs one short statement and no commit. In a busy store
      // the next entries are nearly always there, and the look is spared.
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

      return Relay.of({ once, run: Effect.forever(safely) })
    })
  )
}
