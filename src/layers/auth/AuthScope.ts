import { Context, Effect, type Semaphore } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { AsyncLocalStorage } from "node:async_hooks"

/** What a call of better-auth runs among. */
interface Call {
  /** Services of the request's fiber, and the connection of the transaction while there is one. */
  readonly services: Context.Context<SqlClient.SqlClient>
  /** What a statement of this call failed with. better-auth swallows some failures and answers as if all were well. */
  readonly failures: Array<unknown>
  /** Inside of a transaction: another one is a part of it. */
  readonly inside: boolean
}

/**
 * The way from better-auth, which knows promises, back to effects. Whatever it calls while it answers a request (the
 * adapter, mails, hooks) runs in the services of that request, so that lines of the log carry its id, and inside of a
 * transaction on the connection of the transaction.
 */
export interface AuthScope {
  /** Runs an effect from within a promise. */
  readonly run: <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) => Promise<A>
  /** The same for a statement; its failure is remembered. */
  readonly statement: <A>(effect: Effect.Effect<A, SqlError.SqlError, SqlClient.SqlClient>) => Promise<A>
  readonly transaction: <A>(body: () => Promise<A>) => Promise<A>
  /** Calls better-auth in the services of the caller, and tells which statements failed meanwhile. */
  readonly call: <A>(
    body: () => Promise<A>
  ) => Effect.Effect<{ readonly result: A; readonly failures: ReadonlyArray<unknown> }, never, SqlClient.SqlClient>
}

/**
 * A scope over the services that calls without a request (start, tests) run among. A transaction holds a connection while
 * passwords are hashed, so no more than `transactions` of them are open: the pool is for everybody.
 */
export const makeAuthScope = (
  base: Context.Context<SqlClient.SqlClient>,
  transactions: Semaphore.Semaphore
): AuthScope => {
  const calls = new AsyncLocalStorage<Call>()
  const current = (): Call => calls.getStore() ?? { services: base, failures: [], inside: false }
  const run: AuthScope["run"] = (effect) => Effect.runPromiseWith(current().services)(effect)

  return {
    run,
    statement: (effect) => {
      const { failures } = current()
      return run(Effect.tapCause(effect, (cause) => Effect.sync(() => failures.push(cause))))
    },
    transaction: (body) => {
      const { failures, inside } = current()
      const work = Effect.flatMap(
        Effect.context<SqlClient.SqlClient>(),
        (services) => Effect.promise(() => calls.run({ services, failures, inside: true }, body))
      )
      const transaction = Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(work))
      return run(inside ? transaction : transactions.withPermit(transaction))
    },
    call: (body) =>
      Effect.flatMap(Effect.context<SqlClient.SqlClient>(), (own) =>
        Effect.suspend(() => {
          const failures: Array<unknown> = []
          const services = Context.merge(base, own)
          return Effect.promise(() => calls.run({ services, failures, inside: false }, body)).pipe(
            Effect.map((result) => ({ result, failures }))
          )
        }))
  }
}
