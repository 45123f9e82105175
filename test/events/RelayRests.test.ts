import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { EventSubscribers } from "../../src/domain/events/EventSubscribers.ts"
import { Relay } from "../../src/domain/events/Relay.ts"
import { RelayStatements } from "../../src/domain/events/RelayStatements.ts"

/** A change log with so many entries that wait, which counts how often it is looked at. */
const changeLogOf = (waiting: number) => {
  const changeLog = { waiting, looks: 0 }
  const repo = Layer.succeed(RelayStatements, {
    waits: Effect.sync(() => {
      changeLog.looks += 1
      return changeLog.waiting > 0
    }),
    assignPositions: () =>
      Effect.sync(() => {
        const { waiting } = changeLog
        changeLog.waiting = 0
        return waiting
      })
  })
  return { changeLog, relay: Layer.provide(Relay.layer, Layer.merge(repo, EventSubscribers.layer)) }
}

/** How often it is looked at in so many milliseconds. */
const looksIn = (changeLog: { readonly looks: number }, ms: number) =>
  Effect.gen(function*() {
    const before = changeLog.looks
    yield* Effect.repeat(TestClock.adjust(5), { times: ms / 5 - 1 })
    return changeLog.looks - before
  })

it.effect("a relay looks forty times a second while changes come, and ten times after a second without any", () => {
  const { changeLog, relay } = changeLogOf(0)
  return Effect.gen(function*() {
    yield* Effect.forkChild((yield* Relay).run, { startImmediately: true })
    assert.strictEqual(yield* looksIn(changeLog, 1_000), 10)
    changeLog.waiting = 1
    yield* TestClock.adjust(100)
    assert.strictEqual(changeLog.waiting, 0, "the first change after a pause waits for a tenth of a second at most")
    assert.isAtLeast(yield* looksIn(changeLog, 900), 35)
    yield* looksIn(changeLog, 200)
    assert.strictEqual(yield* looksIn(changeLog, 1_000), 10)
  }).pipe(Effect.provide(relay))
})
