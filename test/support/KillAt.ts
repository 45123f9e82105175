import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { onDatabase } from "./Audit.ts"
import { eventually } from "./Eventually.ts"
import type { Service } from "./Service.ts"
import { sharedClient } from "./SharedClients.ts"
import type { Answer } from "./TestApp.ts"

/** What becomes of a statement that waits when its process is killed. PostgreSQL carries out what it was sent. */
type Fate = "lost" | "carried out"

/** Kills a process when work that it does wants to write to a table. */
export const killDuring = <A>(
  table: string,
  service: Service,
  url: string,
  work: Effect.Effect<A>,
  fate: Fate = "lost"
) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    // Statements of the work are not part of the transaction below.
    const start = Effect.runForkWith(yield* Effect.context<never>())
    const stopped = sql`select pid from pg_locks where relation = ${table}::regclass and not granted`
    const { done, pids } = yield* sql.withTransaction(Effect.gen(function*() {
      yield* sql`lock table ${sql(table)} in exclusive mode`
      const asked = start(work)
      const waiting = Effect.orDie(Effect.map(stopped, (rows) => rows.length > 0 && rows))
      const rows = yield* eventually(`the process to come to ${table}`, waiting)
      service.kill("SIGKILL")
      const done = yield* Fiber.join(asked)
      if (fate === "lost") yield* sql`select pg_terminate_backend(pid) from (${stopped}) as stopped`
      return { done, pids: rows.map(({ pid }) => Number(pid)) }
    }))
    const left = sql`select 1 from pg_stat_activity where pid = any(${pids}::int4[])`
    yield* eventually("the end of its connections", Effect.orDie(Effect.map(left, ({ length }) => length === 0)))
    return done
  }).pipe(Effect.provide(sharedClient(url)), Effect.orDie)

/** The same by a request, which gets no answer. */
export const killAt = (
  table: string,
  service: Service,
  url: string,
  request: Effect.Effect<Answer>,
  fate: Fate = "lost"
) =>
  Effect.map(
    killDuring(table, service, url, request, fate),
    ({ status }) => assert.strictEqual(status, 0, table)
  )

/** A table that a process comes to when it commits such a change of a row. */
export interface Gate {
  readonly name: string
  /** As of a trigger: `insert on orders`. */
  readonly change: string
  /** Condition on `new` and `old`. */
  readonly when?: string
}

/** Makes tables to kill processes at when they commit. */
export const makeGates = (url: string, gates: ReadonlyArray<Gate>) =>
  onDatabase(url, (sql) =>
    Effect.gen(function*() {
      yield* sql`create function come_to() returns trigger language plpgsql as $$ begin
        execute format('lock table %I in row exclusive mode', tg_argv[0]);
        return null;
      end $$`
      for (const { change, name, when = "true" } of gates) {
        yield* sql`create table if not exists ${sql(name)} ()`
        yield* sql.unsafe(`create constraint trigger ${name} after ${change} deferrable initially deferred
          for each row when (${when}) execute function come_to('${name}')`)
      }
    }))
