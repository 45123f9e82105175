import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Latch, Layer } from "effect"
import { TestClock } from "effect/testing"
import { type Contribution, HealthContributors } from "../../src/layers/health/HealthContributors.ts"
import {
  allOk,
  checkWait,
  complaints,
  DeploymentHealth,
  type HealthChecks,
  HealthUnknown,
  judge,
  longestWait,
  nothingCached,
  Readiness,
  shardGrace
} from "../../src/layers/health/Readiness.ts"

const whole: HealthChecks = {
  runners: ["a:1"],
  self: undefined,
  shards: [1, 2],
  owned: new Set([1, 2]),
  waitingSince: undefined
}

/** A deployment whose state the test sets. A look is counted, and takes until the gate is open. */
const watched = (contributions: ReadonlyArray<Contribution> = []) => {
  const state: { looks: number; found: HealthChecks | undefined } = { looks: 0, found: whole }
  const gate = Latch.makeUnsafe(false)
  const look = Effect.suspend(() => {
    state.looks++
    return state.found === undefined ? Effect.fail(new HealthUnknown({ cause: "away" })) : Effect.succeed(state.found)
  })
  const healthChecks = Layer.succeed(DeploymentHealth, { look: Effect.andThen(gate.await, look) })
  const modules = Layer.mergeAll(
    Layer.empty,
    ...contributions.map((one) => HealthContributors.add(Effect.succeed(one)))
  )
    .pipe(
      Layer.provideMerge(HealthContributors.layer)
    )
  return { state, gate, layer: Layer.provide(Readiness.layerOf("1.2.3"), Layer.merge(healthChecks, modules)) }
}

const check = Effect.flatMap(Readiness, (readiness) => readiness.check)

/** Asks that many times at once, before the look that they ask for has ended, and gives their answers. */
const ask = Effect.fnUntraced(function*(gate: Latch.Latch, count: number) {
  yield* gate.close
  const probes = yield* Effect.forkChild(
    Effect.forEach(Array.from({ length: count }), () => Effect.result(check), { concurrency: "unbounded" })
  )
  yield* TestClock.adjust(0)
  yield* gate.open
  return yield* Fiber.join(probes)
})

it.effect("a thousand probes cost one look, and those of the next second one more", () => {
  const { gate, layer, state } = watched()
  return Effect.gen(function*() {
    assert.strictEqual((yield* ask(gate, 1_000)).length, 1_000)
    yield* TestClock.adjust("900 millis")
    yield* ask(gate, 1_000)
    assert.strictEqual(state.looks, 1)
    yield* TestClock.adjust("1 second")
    yield* ask(gate, 1_000)
    assert.strictEqual(state.looks, 2)
  }).pipe(Effect.provide(layer))
})

it.effect("a probe that is interrupted does not end the look of the others", () => {
  const { gate, layer, state } = watched()
  return Effect.gen(function*() {
    const hanging = yield* Effect.forkChild(check)
    const waiting = yield* Effect.forkChild(check)
    yield* TestClock.adjust(0)
    yield* Fiber.interrupt(hanging)
    yield* gate.open
    assert.strictEqual((yield* Fiber.join(waiting)).status, "ready")
    assert.strictEqual(state.looks, 1)
  }).pipe(Effect.provide(layer))
})

it.effect("a database that is away fails its check and leaves the others unknown, and shards get no time when it is back", () => {
  const { gate, layer, state } = watched()
  const answer = Effect.map(Effect.andThen(TestClock.adjust("2 seconds"), ask(gate, 1)), ([first]) => first)
  return Effect.gen(function*() {
    assert.strictEqual((yield* answer)?._tag, "Success")
    state.found = undefined
    const away = yield* answer
    assert.isTrue(away?._tag === "Failure")
    if (away?._tag !== "Failure") return
    assert.strictEqual(away.failure.checks.database.message, "The database does not answer.")
    const { messages, runners, shards } = away.failure.checks
    assert.deepStrictEqual([messages, runners, shards].map(({ status }) => status), ["unknown", "unknown", "unknown"])
    state.found = { ...whole, owned: new Set([1]) }
    const back = yield* answer
    assert.strictEqual(
      back?._tag === "Failure" ? back.failure.checks.shards.message : undefined,
      "1 of 2 shards have no owner."
    )
    state.found = whole
    assert.strictEqual((yield* answer)?._tag, "Success")
  }).pipe(Effect.provide(layer))
})

it.effect("checks of modules count, and one that fails or takes too long does not affect the others", () => {
  const state: { dueSince: number | undefined } = { dueSince: undefined }
  const jobs = Effect.map(Clock.currentTimeMillis, (now) => checkWait("A job", state.dueSince, now))
  const { gate, layer } = watched([
    { name: "jobs", check: jobs },
    { name: "broken", check: Effect.die(new Error("bug")) },
    { name: "slow", check: Effect.never },
    { name: "silent" }
  ])
  return Effect.gen(function*() {
    yield* gate.open
    const asked = yield* Effect.forkChild(Effect.flip(check))
    yield* TestClock.adjust("2 seconds")
    const { checks } = yield* Fiber.join(asked)
    assert.deepStrictEqual(
      Object.entries(checks).map(([name, { status }]) => `${name} ${status}`),
      ["database ok", "runners ok", "shards ok", "messages ok", "jobs ok", "broken unknown", "slow unknown"]
    )
    state.dueSince = 0
    yield* TestClock.adjust("30 seconds")
    const again = yield* Effect.forkChild(Effect.flip(check))
    yield* TestClock.adjust("2 seconds")
    const late = yield* Fiber.join(again)
    assert.strictEqual(late.checks["jobs"]?.message, "A job has been waiting for a runner for more than 30 s.")
  }).pipe(Effect.provide(layer))
})

const shards = [1, 2, 3, 4]

type Looks = ReadonlyArray<readonly [now: number, found: Partial<HealthChecks>]>

/** What fails at the last of these looks, each at its time in ms. */
const after = (looks: Looks): string => {
  let cached = nothingCached
  let wrong = "no look"
  for (const [now, found] of looks) {
    const judged = judge(cached, { ...whole, shards, owned: new Set(shards), ...found }, now)
    cached = judged.cached
    wrong = complaints(judged.checks)
    assert.strictEqual(allOk(judged.checks), wrong === "")
  }
  return wrong
}

const three = { owned: new Set([1, 2, 3]) }
const others = { owned: new Set([2, 3, 4]) }
const none = { owned: new Set<number>() }
const [noRunner, noOwner] = ["No runner is alive.", "1 of 4 shards have no owner."]
const waiting = { waitingSince: 1_000 }

/** A sentence, and looks with what fails at the last of each. */
const rules: ReadonlyArray<readonly [string, ...ReadonlyArray<readonly [expected: string, looks: Looks]>]> = [
  ["a healthy deployment is ready", ["", [[0, {}]]]],
  [
    "a deployment is not ready without a live runner, and a runner not without itself among them",
    [noRunner, [[0, { runners: [] }]]],
    ["This runner is not registered.", [[0, { self: "b:2" }]]],
    ["", [[0, { self: "a:1" }]]]
  ],
  [
    "a shard without an owner has the time of a fail-over",
    ["", [[0, {}], [1, three], [shardGrace, three]]],
    [noOwner, [[0, {}], [1, three], [shardGrace + 1, three]]],
    ["", [[0, {}], [1, three], [shardGrace, {}], [shardGrace + 1, three]]]
  ],
  [
    "the time counts for each shard, so that runners can be replaced one after the other",
    ["", [[0, {}], [1, three], [9_000, others], [18_000, others]]],
    [noOwner, [[0, {}], [1, three], [9_000, others], [19_000, others]]]
  ],
  [
    "a shard has no time before the deployment was healthy once, nor after it was unhealthy",
    [noOwner, [[0, three]]],
    [noOwner, [[0, {}], [1, { runners: [] }], [2, three]]],
    ["No shard has an owner.", [[0, {}], [1, none]]],
    [noOwner, [[0, {}], [1, none], [2, three]]],
    ["", [[0, {}], [1, none], [2, {}], [3, three]]]
  ],
  [
    "a message may wait for half a minute",
    ["", [[999 + longestWait, waiting]]],
    ["A message has been waiting for a runner for more than 30 s.", [[1_000 + longestWait, waiting]]]
  ]
]

describe("readiness", () => {
  for (const [title, ...cases] of rules) {
    it(title, () => {
      for (const [expected, looks] of cases) assert.strictEqual(after(looks), expected)
    })
  }
})
