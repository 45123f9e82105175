import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { EventSubscribers } from "../../src/domain/events/EventSubscribers.ts"
import { Relay } from "../../src/domain/events/Relay.ts"
import { RelayRepo } from "../../src/domain/events/RelayRepo.ts"

/** A journal with so many entries that wait, which counts how often it is looked at. */
const journalOf = (waiting: number) => {
  const journal = { waiting, looks: 0 }
  const repo = Layer.succeed(RelayRepo, {
    waits: Effect.sync(() => {
      journal.looks += 1
      return journal.waiting > 0
    }),
    seal: () =>
      Effect.sync(() => {
        const { waiting } = journal
        journal.waiting = 0
        return waiting
      })
  })
  return { journal, relay: Layer.provide(Relay.layer, Layer.merge(repo, EventSubscribers.layer)) }
}

/** How often it is looked at in so many milliseconds. */
const looksIn = (journal: { readonly looks: number }, ms: number) =>
  Effect.gen(function*() {
    const before = journal.looks
    yield* Effect.repeat(TestClock.adjust(5), { times: ms / 5 - 1 })
    return journal.looks - before
  })

it.effect("a relay looks forty times a second while changes come, and ten times after a second without any", () => {
  const { journal, relay } = journalOf(0)
  return Effect.gen(function*() {
    yield* Effect.forkChild((yield* Relay).run, { startImmediately: true })
    assert.strictEqual(yield* looksIn(journal, 1_000), 10)
    journal.waiting = 1
    yield* TestClock.adjust(100)
    assert.strictEqual(journal.waiting, 0, "the first change after a pause waits for a tenth of a second at most")
    assert.isAtLeast(yield* looksIn(journal, 900), 35)
    yield* looksIn(journal, 200)
    assert.strictEqual(yield* looksIn(journal, 1_000), 10)
  }).pipe(Effect.provide(relay))
})
