import { assert, it } from "@effect/vitest"
import { Cause, Effect, Logger } from "effect"
import { ClusterError } from "effect/cluster"
import { calmly } from "../../src/layers/telemetry/Logs.ts"

const reportedFrom = Effect.fnUntraced(function*(say: Effect.Effect<void>) {
  const lines: Array<string> = []
  const logger = Logger.make(({ cause, message }) => {
    lines.push(`${String(message)}${cause.reasons.length === 0 ? "" : Cause.pretty(cause)}`)
  })
  yield* Effect.provide(say, Logger.layer([calmly(logger)]))
  return lines
})

const late = Cause.fail(new ClusterError.PersistenceError({ cause: new Error("the connection ended") }))

it.effect("what the cluster says of a database that answers late is one line with its reason", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* reportedFrom(Effect.logError("Shard lock storage is unhealthy", late)), [
      "The shards of this process are in doubt; they are acquired again once the database answers: the connection ended"
    ])
  }))

it.effect("what somebody else says keeps its cause", () =>
  Effect.gen(function*() {
    const [line] = yield* reportedFrom(Effect.logError("request failed", late))
    assert.match(line ?? "", /^request failed[^]*PersistenceError[^]*\n {4}at /)
  }))
