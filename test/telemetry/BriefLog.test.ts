import { assert, it } from "@effect/vitest"
import { Cause, Effect, Logger } from "effect"
import { ClusterError } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { calmly } from "../../src/layers/telemetry/Logs.ts"
import { TestDatabase } from "../support/Postgres.ts"

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

it.effect("an error keeps its cause, and so does a defect in a warning", () =>
  Effect.gen(function*() {
    const defect = Cause.die(new TypeError("a bug"))
    for (const say of [Effect.logError("request failed", late), Effect.logWarning("request failed", defect)]) {
      const [line] = yield* reportedFrom(say)
      assert.match(line ?? "", /^request failed[^]*\n {4}at /)
    }
  }))

it.layer(TestDatabase)("a refusal of the database", (it) => {
  it.effect("that is known is one line, whether it is a cause or said beside a message", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const again = sql`insert into organizations (id, slug, name) select id, slug, name from organizations`
      const error = yield* Effect.flip(again)
      const [cause, beside] = yield* reportedFrom(
        Effect.andThen(
          Effect.logWarning("Batch holds of 2 failed", Cause.die(error)),
          Effect.logWarning("a batch was not written", error)
        )
      )
      assert.match(cause ?? "", /^Batch holds of 2 failed: duplicate key value violates unique constraint "\w+"$/)
      assert.match(beside ?? "", /^a batch was not written,duplicate key value violates unique constraint "\w+"$/)
    }))
})
