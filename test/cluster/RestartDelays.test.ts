import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Schedule } from "effect"
import { Entity, EntityAddress, EntityId, EntityType, ShardId } from "effect/cluster"
import { restartDelays } from "../../src/layers/cluster/RestartDelays.ts"

const addressOf = (id: string) =>
  EntityAddress.make({
    entityType: EntityType.make("Mortal"),
    entityId: EntityId.make(id),
    shardId: ShardId.make("default", 1)
  })

/** Deaths of actors, as the sharding reports them: to one schedule for all; gives what each waits for, milliseconds. */
const dying = Effect.map(
  Schedule.toStep(restartDelays),
  (step) => (id: string, now: number) =>
    Effect.orDie(Effect.map(step(now, undefined), ([, delay]) => Duration.toMillis(delay))).pipe(
      Effect.provideService(Entity.CurrentAddress, addressOf(id))
    )
)

describe("an actor that dies", () => {
  it.effect("an actor that dies comes back after half a second, and waits longer each time, at most ten seconds", () =>
    Effect.gen(function*() {
      const die = yield* dying
      const delays = yield* Effect.forEach(Array.from({ length: 12 }), (_, n) => die("one", n * 1_000))
      assert.deepStrictEqual(delays.slice(0, 3), [500, 750, 1_125])
      assert.deepStrictEqual(delays.slice(-3), [10_000, 10_000, 10_000])
    }))

  it.effect("an actor that dies does not wait for the deaths of others", () =>
    Effect.gen(function*() {
      const die = yield* dying
      yield* Effect.forEach(Array.from({ length: 50 }), (_, n) => die(`other ${n % 5}`, n * 100))
      assert.strictEqual(yield* die("one", 5_000), 500)
    }))

  it.effect("an actor has the first delay again after it lived for a minute", () =>
    Effect.gen(function*() {
      const die = yield* dying
      yield* Effect.forEach(Array.from({ length: 12 }), (_, n) => die("one", n * 1_000))
      assert.strictEqual(yield* die("one", 11_000 + 60_000), 10_000)
      assert.strictEqual(yield* die("one", 11_000 + 120_001), 500)
    }))
})
