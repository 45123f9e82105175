import { assert } from "@effect/vitest"
import { Effect, Predicate, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { rowsOf } from "./Footprint.ts"

const as = (organization: string) => Effect.provideService(CurrentActor, systemActor(organization))

/** Asks as the tenant that owns the records, and as another one. */
export const asOwner = as("org_default")
export const asAnother = as("org_another")

/** Writes rows, of the owner where they do not name their organization. */
export const insert = (table: string, ...rows: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(
      rows,
      (row) => sql`insert into ${sql(table)} ${sql.insert({ organization_id: "org_default", ...row })}`,
      { discard: true }
    ))

export const openAnother = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql`insert into organizations (id, slug, name) values ('org_another', 'another', 'Another') on conflict do nothing`
)

/** Puts the rows in another tenant's name, without the records that they belong to. */
export const giveAway = (table: string, column: string, id: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`update ${sql(table)} set organization_id = 'org_another' where ${sql(column)} = ${id}::uuid`
  )

/** Locks all rows of an organization until the scope closes, and returns the server process that holds the locks. */
export const rowsLocked = Effect.fnUntraced(function*(organization: string) {
  const sql = yield* SqlClient.SqlClient
  const owned = yield* sql<{ readonly name: string }>`select table_name as name
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and table_type = 'BASE TABLE' and column_name = 'organization_id'`
  const connection = yield* sql.reserve
  yield* connection.executeRaw("begin", [])
  yield* Effect.addFinalizer(() => Effect.ignore(connection.executeRaw("rollback", [])))
  for (const { name } of owned) {
    yield* connection.executeRaw(`select 1 from ${name} where organization_id = $1 for update`, [organization])
  }
  const [holder] = yield* connection.execute("select pg_backend_pid() as pid", [], undefined)
  return Number(holder?.["pid"])
})

/** Fails as soon as a statement of the body waits for a lock of this server process. */
const waitingFor = Effect.fnUntraced(function*<A, E, R>(holder: number, body: Effect.Effect<A, E, R>) {
  const sql = yield* SqlClient.SqlClient
  const waiting = sql<{ query: string }>`select query from pg_stat_activity
    where datname = current_database() and ${holder}::int4 = any(pg_blocking_pids(pid))`
  const seen = Effect.repeat(waiting, { until: (rows) => rows.length > 0, schedule: Schedule.spaced("20 millis") })
  const failing = Effect.flatMap(
    seen,
    ([row]) => Effect.die(new Error(`A statement waits for a row of the other organization: ${row?.query}`))
  )
  return yield* Effect.raceFirst(body, failing)
})

/** Does something while all rows of an organization are locked; it must not wait for them. */
export const whileLocked = <A, E, R>(organization: string, body: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.flatMap(rowsLocked(organization), (holder) => waitingFor(holder, body)))

/** A question about the owner's records, the answer to another tenant and, where the owner is asked too, that one. */
export type Question<Records, R> = readonly [
  what: string,
  ask: (of: Records) => Effect.Effect<unknown, unknown, R | CurrentActor>,
  another: unknown,
  owner?: unknown
]

/** The answer, or the tag of the error. */
const answerOf = <A, E, R>(asked: Effect.Effect<A, E, R>) =>
  Effect.catch(
    asked,
    (error) => Predicate.hasProperty(error, "_tag") ? Effect.succeed(error._tag) : Effect.die(error)
  )

const answersTo = <Records, R>(questions: ReadonlyArray<Question<Records, R>>, records: Records) =>
  Effect.forEach(questions, ([what, ask]) => Effect.map(answerOf(ask(records)), (answer) => [what, answer] as const))

/**
 * Asks everything as another tenant, while all rows of the owner are locked: the answers are those of the table, and no
 * row of the owner changes. Then the owner asks, in the same order.
 */
export const answersApart = Effect.fnUntraced(
  function*<Records, R>(records: Records, questions: ReadonlyArray<Question<Records, R>>) {
    const before = yield* rowsOf("org_default")
    const answers = yield* whileLocked("org_default", asAnother(answersTo(questions, records)))
    assert.deepStrictEqual(answers, questions.map(([what, _, another]): [string, unknown] => [what, another]))
    assert.deepStrictEqual(yield* rowsOf("org_default"), before)
    const own = questions.filter(({ length }) => length === 4)
    assert.deepStrictEqual(
      yield* asOwner(answersTo(own, records)),
      own.map(([what, _, __, owner]): [string, unknown] => [what, owner])
    )
  }
)

/** What the owner reads, and what is left of it as rows get another tenant's name, one step after the other. */
export const leavesOut = Effect.fnUntraced(function*<E, R>(
  read: Effect.Effect<unknown, E, R>,
  whole: unknown,
  ...steps: ReadonlyArray<readonly [table: string, column: string, id: string, left: unknown]>
) {
  assert.deepStrictEqual(yield* asOwner(read), whole)
  for (const [table, column, id, left] of steps) {
    yield* giveAway(table, column, id)
    assert.deepStrictEqual(yield* asOwner(read), left, table)
  }
})

/** How many records a page shows, and how many it says that there are. */
export const shown = Effect.map((
  { items, total }: { readonly items: ReadonlyArray<unknown>; readonly total: number }
) => [
  items.length,
  total
])

export const isFound = Effect.map((found: unknown) => found !== undefined)
export const lengthOf = Effect.map((all: ReadonlyArray<unknown>) => all.length)

/** The tag of the failure, or "done". */
export const outcomeOf = <A, E extends { readonly _tag: string }, R>(change: Effect.Effect<A, E, R>) =>
  Effect.match(change, { onFailure: ({ _tag }): string => _tag, onSuccess: () => "done" })
