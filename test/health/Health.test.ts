import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Health } from "../../src/http/health/HealthHttp.ts"
import { HealthContributors } from "../../src/layers/health/HealthContributors.ts"
import { HealthRepo } from "../../src/layers/health/HealthRepo.ts"
import { DeploymentHealth, healthLayer, Readiness } from "../../src/layers/health/Readiness.ts"

/** A database that counts its queries, and answers as set once the gate is open. */
const watched = () => {
  const state = { asked: 0, answers: true }
  const gate = Latch.makeUnsafe(true)
  const databaseAnswers = Effect.suspend(() => {
    state.asked++
    return Effect.as(gate.await, state.answers)
  })
  const repo = HealthRepo.of({
    databaseAnswers,
    connections: Effect.succeed([]),
    relayLag: Effect.undefined
  })
  return {
    state,
    gate,
    layer: healthLayer("1.2.3").pipe(
      Layer.provide([Layer.succeed(HealthRepo, repo), Readiness.layerOf("1.2.3")]),
      Layer.provide([HealthContributors.layer, Layer.succeed(DeploymentHealth, { look: Effect.never })])
    )
  }
}

const check = Effect.flatMap(Health, (health) => Effect.exit(health.check))

it.effect("a thousand requests for health cost one statement, and those of the next second one more", () => {
  const { gate, layer, state } = watched()
  const crowd = Effect.forEach(Array.from({ length: 1_000 }), () => check, { concurrency: "unbounded" })
  return Effect.gen(function*() {
    yield* gate.close
    const waiting = yield* Effect.forkChild(crowd)
    yield* TestClock.adjust(0)
    yield* gate.open
    assert.isTrue((yield* Fiber.join(waiting)).every(({ _tag }) => _tag === "Success"))
    yield* TestClock.adjust("900 millis")
    yield* crowd
    assert.strictEqual(state.asked, 1)
    state.answers = false
    yield* TestClock.adjust("1 second")
    assert.isTrue((yield* crowd).every(({ _tag }) => _tag === "Failure"))
    assert.strictEqual(state.asked, 2)
    state.answers = true
    yield* TestClock.adjust("1 second")
    assert.strictEqual((yield* check)._tag, "Success")
  }).pipe(Effect.provide(layer))
})
