import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Schema } from "effect"
import { Entity, ShardingConfig } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { TestClock } from "effect/testing"
import { NotFound } from "../../src/domain/errors/ApiErrors.ts"
import { call, deadline, unlessPast } from "../../src/entities/EntityCall.ts"

const Silent = Entity.make("Silent", [Rpc.make("ask", { success: Schema.String, error: NotFound })])

/** An actor that takes every message and answers none. */
const silentActor = Effect.gen(function*() {
  const make = yield* Entity.makeTestClient(Silent, Silent.toLayer({ ask: () => Effect.never }))
  return yield* make("one")
}).pipe(Effect.provide(ShardingConfig.layer()))

describe("a call to an actor", () => {
  it.effect("is given up after five seconds of silence and says that the service is busy", () =>
    Effect.gen(function*() {
      const actor = yield* silentActor
      const asking = yield* Effect.forkChild(Effect.flip(call(actor.ask())))
      yield* TestClock.adjust("4999 millis")
      assert.isUndefined(asking.pollUnsafe(), "still waiting")
      yield* TestClock.adjust("1 millis")
      const exit = asking.pollUnsafe()
      yield* Fiber.interrupt(asking)
      assert.isTrue(exit !== undefined && Exit.isSuccess(exit) && exit.value._tag === "Unavailable", String(exit))
    }))

  for (
    const _tag of ["MailboxFull", "AlreadyProcessingMessage", "PersistenceError", "EntityNotAssignedToRunner"] as const
  ) {
    it.effect(`says that the service is busy when the message is not delivered: ${_tag}`, () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* Effect.flip(call(Effect.fail({ _tag }))))._tag, "Unavailable")
      }))
  }

  it.effect("gives the actor's own answer and refusal as they are", () =>
    Effect.gen(function*() {
      const refusal = NotFound.of("No such thing.")
      assert.strictEqual(yield* call(Effect.succeed("yes")), "yes")
      assert.strictEqual(yield* Effect.flip(call(Effect.fail(refusal))), refusal)
    }))

  it.effect("is not begun by the actor once its caller has given up, even where its clock is a second behind", () =>
    Effect.gen(function*() {
      const until = yield* deadline
      // The caller gives up at five seconds of its own clock, which are four of such an actor's.
      yield* TestClock.adjust("4 seconds")
      yield* unlessPast(until)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Effect.flip(unlessPast(until)))._tag, "Unavailable")
    }))
})
