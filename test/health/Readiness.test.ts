import { assert, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Latch, Layer } from "effect"
import { TestClock } from "effect/testing"
import { type Contribution, HealthContributors } from "../../src/layers/health/HealthContributors.ts"
import {
  checkWait,
  DeploymentHealth,
  type HealthChecks,
  HealthUnknown,
  Readiness
} from "../../src/layers/health/Readiness.ts"

const whole: HealthChecks = {
  runners: ["a:1"],
  self: undefined,
  shards: [1, 2],
  owned: new Set([1, 2]),
  waitingSince: undefined
}

/** A deployment whose vitals the test sets. A look is counted, and takes until the gate is open. */
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

it.effect("a probe that hangs up does not spoil the look for the others", () => {
  const { gate, layer, state } = watched()
  return Effect.gen(function*() {
    const hanging = yield* Effect.forkChild(check)
    const patient = yield* Effect.forkChild(check)
    yield* TestClock.adjust(0)
    yield* Fiber.interrupt(hanging)
    yield* gate.open
    assert.strictEqual((yield* Fiber.join(patient)).status, "ready")
    assert.strictEqual(state.looks, 1)
  }).pipe(Effect.provide(layer))
})

it.effect("a database that is away fails its check, leaves the others unknown, and forgives nothing when it is back", () => {
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

it.effect("what modules contribute counts, and one that breaks or takes too long keeps the others from nothing", () => {
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
