import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "./Eventually.ts"
import type { Service } from "./Service.ts"
import { sharedClient } from "./SharedClients.ts"
import type { Answer } from "./TestApp.ts"

/** Kills the process of a request when that wants to write to a table, and the statement with it. */
export const killAt = (table: string, service: Service, url: string, request: Effect.Effect<Answer>) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const stopped = sql`select pid from pg_locks where relation = ${table}::regclass and not granted`
    yield* sql.withTransaction(Effect.gen(function*() {
      yield* sql`lock table ${sql(table)} in exclusive mode`
      const answer = yield* Effect.forkChild(request)
      const isThere = Effect.orDie(Effect.map(stopped, (rows) => rows.length > 0))
      yield* eventually(`the request to come to ${table}`, isThere)
      service.kill("SIGKILL")
      assert.strictEqual((yield* Fiber.join(answer)).status, 0)
      yield* sql`select pg_terminate_backend(pid) from (${stopped}) as stopped`
    }))
  }).pipe(Effect.provide(sharedClient(url)), Effect.orDie)
