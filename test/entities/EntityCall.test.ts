import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Schema } from "effect"
import { ClusterError, Entity, ShardingConfig } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { NotFound } from "../../src/domain/platform/errors/ApiErrors.ts"
import { call, deadline, orUnavailable, unlessPast } from "../../src/entities/EntityCall.ts"

const Silent = Entity.make("Silent", [Rpc.make("ask", { success: Schema.String, error: NotFound })])

/** An entity that takes every message and answers none. */
const silentEntity = Effect.gen(function*() {
  const make = yield* Entity.makeTestClient(Silent, Silent.toLayer({ ask: () => Effect.never }))
  return yield* make("one")
}).pipe(Effect.provide(ShardingConfig.layer()))

const database = (code: string) =>
  new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: { code }, message: "terminating connection" }) })

/** How a call with this defect ends, and work in an entity with it. */
const outcomes = (defect: unknown) =>
  Effect.forEach(
    [call<never, never, never>, orUnavailable<never, never, never>],
    (guard) =>
      Effect.map(Effect.exit(Effect.flip(guard(Effect.die(defect)))), (exit) =>
        Exit.isSuccess(exit) ? exit.value._tag : "a defect")
  )

describe("a call to an entity", () => {
  it.effect("answers 503 for a defect of a database that is away, in a statement or in a message", () =>
    Effect.gen(function*() {
      const away = [
        database("57P01"),
        database("53300"),
        new ClusterError.PersistenceError({ cause: database("57P03") })
      ]
      for (const defect of away) assert.deepStrictEqual(yield* outcomes(defect), ["Unavailable", "Unavailable"])
    }))

  it.effect("keeps any other defect: a wrong statement, a wrong message, a bug", () =>
    Effect.gen(function*() {
      const bugs = [
        database("42601"),
        new ClusterError.PersistenceError({ cause: database("23505") }),
        new TypeError("x"),
        new Error("The database is away."),
        "SqlError",
        undefined
      ]
      for (const defect of bugs) assert.deepStrictEqual(yield* outcomes(defect), ["a defect", "a defect"])
    }))

  it.effect("answers 503 after five seconds without an answer", () =>
    Effect.gen(function*() {
      const entity = yield* silentEntity
      const asking = yield* Effect.forkChild(Effect.flip(call(entity.ask())))
      yield* TestClock.adjust("4999 millis")
      assert.isUndefined(asking.pollUnsafe(), "still waiting")
      yield* TestClock.adjust("1 millis")
      const exit = asking.pollUnsafe()
      yield* Fiber.interrupt(asking)
      assert.isTrue(exit !== undefined && Exit.isSuccess(exit) && exit.value._tag === "Unavailable", String(exit))
    }))

  it.effect("answers 503 when the message is not delivered", () =>
    Effect.gen(function*() {
      const tags = ["MailboxFull", "AlreadyProcessingMessage", "PersistenceError", "EntityNotAssignedToRunner"] as const
      for (const _tag of tags) {
        assert.strictEqual((yield* Effect.flip(call(Effect.fail({ _tag }))))._tag, "Unavailable", _tag)
      }
    }))

  it.effect("returns the result and the error of the entity unchanged", () =>
    Effect.gen(function*() {
      const refusal = NotFound.of("No such thing.")
      assert.strictEqual(yield* call(Effect.succeed("yes")), "yes")
      assert.strictEqual(yield* Effect.flip(call(Effect.fail(refusal))), refusal)
    }))

  it.effect("is not started after its caller has given up, even if the entity's clock is a second behind", () =>
    Effect.gen(function*() {
      const until = yield* deadline
      // The caller gives up after five seconds of its clock, which are four of such an entity's.
      yield* TestClock.adjust("4 seconds")
      yield* unlessPast(until)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Effect.flip(unlessPast(until)))._tag, "Unavailable")
    }))
})
