import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Queue, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { liveFeed, Unavailable } from "stoa/plugin"

interface Screen {
  readonly kitchen: string
  readonly organization: string
}

interface Tickets {
  readonly open: number
  readonly names: ReadonlyArray<string>
}

const soup: Screen = { kitchen: "soup", organization: "a" }
const grill: Screen = { kitchen: "grill", organization: "b" }

/** A feed of kitchens over values in memory, what it has read, and requests of readers. */
const kitchens = Effect.fnUntraced(function*(limits = { all: 3, ofKey: 2 }) {
  const values = new Map<string, Tickets>([["soup", { open: 1, names: ["A"] }], ["grill", { open: 0, names: [] }]])
  const asked: Array<ReadonlyArray<string>> = []
  const state = { isBroken: false, values, asked }
  const feed = yield* liveFeed({
    key: ({ kitchen }: Screen) => kitchen,
    read: (owners) =>
      Effect.suspend(() => {
        asked.push(owners.map(({ kitchen }) => kitchen))
        return state.isBroken
          ? Effect.die(new Error("the database is away"))
          : Effect.as(Effect.yieldNow, new Map(values))
      }),
    every: "2 seconds",
    limits
  })
  /** A reader with what it has received, until its scope is closed. */
  const reader = Effect.fnUntraced(function*(owner: Screen) {
    const scope = yield* Scope.make()
    const seen = yield* Queue.unbounded<Tickets>()
    const stream = yield* Scope.provide(feed.follow(owner), scope)
    yield* Effect.forkIn(Stream.runForEach(stream, (value) => Queue.offer(seen, value)), scope)
    return { received: Queue.clear(seen), next: Queue.take(seen), leave: Scope.close(scope, Exit.void) }
  })
  return { ...state, state, feed, reader, wait: TestClock.adjust("2 seconds") }
})

describe("a live feed", () => {
  it.effect("gives the value at first, and then when it is another one", () =>
    Effect.scoped(Effect.gen(function*() {
      const { reader, values, wait } = yield* kitchens()
      const one = yield* reader(soup)
      assert.deepStrictEqual(yield* one.next, { open: 1, names: ["A"] })
      yield* wait
      values.set("soup", { open: 1, names: ["A"] })
      yield* wait
      assert.deepStrictEqual(yield* one.received, [])
      values.set("soup", { open: 2, names: ["A", "B"] })
      yield* wait
      assert.deepStrictEqual(yield* one.next, { open: 2, names: ["A", "B"] })
    })))

  it.effect("reads all that is watched at once, each once, and nothing without readers", () =>
    Effect.scoped(Effect.gen(function*() {
      const { asked, reader, wait } = yield* kitchens()
      yield* wait
      assert.deepStrictEqual(asked, [])
      const readers = [yield* reader(soup), yield* reader(soup), yield* reader(grill)]
      yield* wait
      assert.deepStrictEqual(asked.at(-1), ["soup", "grill"])
      for (const one of readers) yield* one.leave
      const before = asked.length
      yield* wait
      yield* wait
      assert.strictEqual(asked.length, before)
    })))

  it.effect("refuses readers beyond the limits of a key and of the process, and frees their places", () =>
    Effect.scoped(Effect.gen(function*() {
      const { feed, reader } = yield* kitchens()
      const refused = (owner: Screen) => Effect.flip(Effect.scoped(feed.follow(owner)))
      const [first] = [yield* reader(soup), yield* reader(soup)]
      assert.instanceOf(yield* refused(soup), Unavailable)
      yield* reader(grill)
      assert.instanceOf(yield* refused(grill), Unavailable)
      yield* first.leave
      yield* reader(grill)
      assert.instanceOf(yield* refused(soup), Unavailable)
    })))

  it.effect("counts requests that arrive together, and reads nothing for those that it refuses", () =>
    Effect.scoped(Effect.gen(function*() {
      const { asked, feed } = yield* kitchens({ all: 100, ofKey: 2 })
      const all = Array.from({ length: 6 }, () => Effect.exit(feed.follow(soup)))
      const exits = yield* Effect.all(all, { concurrency: "unbounded" })
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 2)
      assert.strictEqual(asked.length, 2)
    })))

  it.effect("frees the place of a reader whose first look-up fails, and goes on after one that failed", () =>
    Effect.scoped(Effect.gen(function*() {
      const { feed, reader, state, values, wait } = yield* kitchens({ all: 2, ofKey: 2 })
      const one = yield* reader(soup)
      yield* one.next
      state.isBroken = true
      for (let n = 0; n < 3; n++) {
        assert.isTrue(Exit.hasDies(yield* Effect.exit(Effect.scoped(feed.follow(soup)))))
      }
      yield* wait
      state.isBroken = false
      values.set("soup", { open: 9, names: [] })
      yield* wait
      assert.deepStrictEqual(yield* one.next, { open: 9, names: [] })
      yield* reader(soup)
    })))

  it.effect("ends with the layer that made it", () =>
    Effect.gen(function*() {
      const layer = yield* Scope.make()
      const { asked, reader, wait } = yield* Scope.provide(kitchens(), layer)
      yield* reader(soup)
      yield* wait
      yield* Scope.close(layer, Exit.void)
      const before = asked.length
      yield* wait
      assert.strictEqual(asked.length, before)
    }))
})
