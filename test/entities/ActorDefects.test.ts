import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { ClusterError } from "effect/cluster"
import { SqlError } from "effect/sql"
import { call, orUnavailable } from "../../src/entities/EntityCall.ts"

const database = (code: string) =>
  new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: { code }, message: "terminating connection" }) })

const outcome = <A, E extends { readonly _tag: string }>(work: Effect.Effect<A, E>) =>
  Effect.map(Effect.exit(Effect.flip(work)), (exit) => Exit.isSuccess(exit) ? exit.value._tag : "a defect")

describe("a defect on the way to an actor or within it", () => {
  it.effect("of a database that is away is 503, be it under a statement or under a message", () =>
    Effect.gen(function*() {
      for (
        const defect of [
          database("57P01"),
          database("53300"),
          new ClusterError.PersistenceError({ cause: database("57P03") })
        ]
      ) {
        assert.strictEqual(yield* outcome(orUnavailable(Effect.die(defect))), "Unavailable")
        assert.strictEqual(yield* outcome(call(Effect.die(defect))), "Unavailable")
      }
    }))

  it.effect("of ours stays one: a wrong statement, a wrong message, a bug", () =>
    Effect.gen(function*() {
      const bugs = [
        database("42601"),
        new ClusterError.PersistenceError({ cause: database("23505") }),
        new TypeError("x")
      ]
      for (const defect of [...bugs, new Error("The database is away."), "SqlError", undefined]) {
        assert.strictEqual(yield* outcome(orUnavailable(Effect.die(defect))), "a defect")
        assert.strictEqual(yield* outcome(call(Effect.die(defect))), "a defect")
      }
    }))
})
