import { Effect, Layer } from "effect"
import { SqlClient, Statement } from "effect/sql"

type Compiled = readonly [text: string, parameters: ReadonlyArray<unknown>]

let sent: Array<Compiled> | undefined

const record: Statement.Transformer = (statement) =>
  Effect.sync(() => {
    sent?.push(statement.compile())
    return statement
  })

/** Lets `statementsOf` see the statements that a service shares between its callers, which run in separate fibers. */
export const recording = Layer.succeed(Statement.CurrentTransformer, record)

/** The statements an effect sends, in order; one effect at a time. */
export const statementsOf = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<ReadonlyArray<Compiled>, E, R> =>
  Effect.suspend(() => {
    const own: Array<Compiled> = []
    sent = own
    return Effect.as(Effect.provideService(effect, Statement.CurrentTransformer, record), own).pipe(
      Effect.ensuring(Effect.sync(() => {
        sent = undefined
      }))
    )
  })

/** The plans PostgreSQL makes for the statements an effect sends: one text each, in order. */
export const plansOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const statements = yield* statementsOf(effect)
    return yield* Effect.forEach(statements, ([text, parameters]) =>
      Effect.map(
        sql.unsafe<{ readonly "QUERY PLAN": string }>(`explain ${text}`, parameters),
        (rows) => rows.map((row) => row["QUERY PLAN"]).join("\n")
      ))
  })
