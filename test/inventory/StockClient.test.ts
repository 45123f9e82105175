import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Exit, Fiber } from "effect"
import { ClusterSchema, EntityId } from "effect/cluster"
import { TestClock } from "effect/testing"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import {
  HoldGone,
  type ReserveCall,
  type ReserveStock,
  StockClient,
  StockEntity
} from "../../src/entities/StockEntity.ts"
import { CheckoutWorkflow } from "../../src/workflows/checkout/CheckoutWorkflow.ts"

const wish = { holder: "checkout 1", lines: [], ttlSeconds: 900, pricing: "{}" }
const yes = Effect.succeed({ _tag: "Reserved", pricing: "{}", fresh: true } as const)

const inStore = Effect.provideService(CurrentActor, systemActor("org_a"))
const reserving = inStore(Effect.flatMap(StockClient, (client) => client.reserve(wish)))

/** The stock entity as a process that stops sees it. */
const outOfReach = StockClient.layerOf(() => Effect.fail({ _tag: "EntityNotAssignedToRunner" }), Effect.succeed(true))

/** A stock entity that gives these responses, one per call, and repeats the last one. */
const stockEntityThat = (...reactions: ReadonlyArray<ReturnType<ReserveCall>>) => {
  const calls: Array<ReserveStock & { readonly organization: string }> = []
  const send: ReserveCall = (organization, request) => {
    calls.push({ ...request, organization })
    return reactions[Math.min(calls.length, reactions.length) - 1] ?? Effect.never
  }
  return { calls, reserve: Effect.provide(reserving, StockClient.layerOf(send)) }
}

/** Runs it while the clock goes on by half seconds. */
const overTime = Effect.fnUntraced(function*<A, E>(effect: Effect.Effect<A, E>) {
  const fiber = yield* Effect.forkChild(effect)
  for (let steps = 0; steps < 40 && fiber.pollUnsafe() === undefined; steps++) yield* TestClock.adjust("500 millis")
  return yield* Fiber.await(fiber)
})

describe("reserving at the stock entity", () => {
  it.effect("calls the stock entity of the actor's organization once if it responds", () =>
    Effect.gen(function*() {
      const { calls, reserve } = stockEntityThat(yes)
      assert.isTrue((yield* reserve).fresh)
      assert.deepStrictEqual(calls.map(({ deadline, organization }) => [deadline, organization]), [[14_000, "org_a"]])
    }))

  it.effect("repeats the same request, with the same deadline, after two seconds of silence", () =>
    Effect.gen(function*() {
      const { calls, reserve } = stockEntityThat(Effect.never, yes)
      assert.strictEqual((yield* Effect.flatten(overTime(reserve)))._tag, "Reserved")
      assert.strictEqual(calls.length, 2)
      assert.deepStrictEqual(calls[0], calls[1])
    }))

  it.effect("repeats the call after a failure and after a full mailbox", () =>
    Effect.gen(function*() {
      const { calls, reserve } = stockEntityThat(Effect.die("no database"), Effect.fail({ _tag: "MailboxFull" }), yes)
      assert.strictEqual((yield* Effect.flatten(overTime(reserve)))._tag, "Reserved")
      assert.strictEqual(calls.length, 3)
    }))

  it.effect("reserving at the stock entity does not repeat a refusal of the stock entity", () =>
    Effect.gen(function*() {
      const { calls, reserve } = stockEntityThat(Effect.fail(new HoldGone({ holder: "checkout 1" })))
      assert.strictEqual((yield* Effect.flip(reserve))._tag, "HoldGone")
      assert.strictEqual(calls.length, 1)
    }))

  it.effect("gives up after fifteen seconds", () =>
    Effect.gen(function*() {
      const { calls, reserve } = stockEntityThat(Effect.never)
      const exit = yield* overTime(Effect.flip(reserve))
      assert.isTrue(Exit.isSuccess(exit) && exit.value._tag === "Unavailable")
      assert.isAtMost(yield* Clock.currentTimeMillis, 15_500)
      assert.isAtMost(calls.length, 8)
    }))

  it.effect("fails at once in a process that stops", () =>
    Effect.gen(function*() {
      const exit = yield* overTime(Effect.flip(Effect.provide(reserving, outOfReach)))
      assert.isTrue(Exit.isSuccess(exit) && exit.value._tag === "ProcessStopping")
      assert.isAtMost(yield* Clock.currentTimeMillis, 500)
    }))

  it("shares no shard with the checkouts that wait for it", () => {
    const groupOf = Context.get(StockEntity.protocol.annotations, ClusterSchema.ShardGroup)
    const groupOfCheckouts = Context.get(CheckoutWorkflow.annotations, ClusterSchema.ShardGroup)
    assert.notStrictEqual(groupOf(EntityId.make("org_a")), groupOfCheckouts(EntityId.make("checkout 1")))
  })
})
