import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { EventRepo } from "../../src/domain/platform/events/EventRepo.ts"
import { EventTailer } from "../../src/domain/platform/events/Events.ts"
import { RelayStatements } from "../../src/domain/platform/events/RelayStatements.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { upTo, writeEntries } from "./ChangeLog.ts"

/** A process that serves two readers and keeps two events for each of them. */
const Tailer = EventTailer.layerOf({ readers: 2, buffer: 2 }).pipe(
  Layer.provideMerge(Layer.merge(EventRepo.layer, RelayStatements.layer)),
  Layer.provideMerge(TestDatabase)
)

const of = (organization: string) => Effect.provideService(CurrentActor, systemActor(organization))

/** So many more events of an organization, with their places. */
const happen = (organization: string, count: number) =>
  Effect.andThen(
    writeEntries(count, organization),
    Effect.flatMap(RelayStatements, ({ assignPositions }) =>
      assignPositions({ entries: 500, bytes: 1_000_000 }, () => Effect.void))
  )

it.layer(Tailer, { excludeTestServices: true })("following events", (it) => {
  it.effect("a slow reader receives every event, although its queue holds only two", () =>
    Effect.gen(function*() {
      const tailer = yield* EventTailer
      const stream = yield* of("org_slow")(tailer.follow(0))
      yield* happen("org_slow", 1)
      const read: Array<number> = []
      const slow = Stream.runForEach(Stream.take(stream, 30), ({ sequence }) =>
        Effect.gen(function*() {
          read.push(sequence)
          // More events happen meanwhile than the queue holds.
          if (sequence % 7 === 1) yield* happen("org_slow", 7)
        }))
      yield* slow
      assert.deepStrictEqual(read, [...upTo(30)])
    }))

  it.effect("a reader beyond the limit is refused until another one ends", () =>
    Effect.gen(function*() {
      const { follow } = yield* EventTailer
      yield* happen("org_full", 1)
      const reader = Effect.gen(function*() {
        const stream = yield* of("org_full")(follow(0))
        const reading = yield* Effect.forkChild(Stream.runDrain(stream))
        yield* Effect.repeat(Effect.yieldNow, { times: 200 })
        return reading
      })
      const first = yield* reader
      yield* reader
      const refused = yield* Effect.flip(of("org_full")(follow(0)))
      assert.strictEqual(refused._tag, "Unavailable")
      yield* Fiber.interrupt(first)
      yield* reader
    }))

  it.effect("the end of the tailer ends its streams and refuses new readers", () =>
    Effect.gen(function*() {
      const tailer = yield* EventTailer
      yield* happen("org_end", 1)
      const stream = yield* of("org_end")(tailer.follow(0))
      const reading = yield* Effect.forkChild(Stream.runCollect(stream))
      yield* Effect.repeat(Effect.yieldNow, { times: 200 })
      yield* tailer.end
      yield* Fiber.join(reading)
      assert.strictEqual((yield* Effect.flip(of("org_end")(tailer.follow(0))))._tag, "Unavailable")
    }))
})
