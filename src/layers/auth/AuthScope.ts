import { Context, Effect, type Semaphore } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { AsyncLocalStorage } from "node:async_hooks"
import type { CurrentActor } from "../../domain/access/Actor.ts"

/** What statements and hooks of better-auth need: the database, and who makes the request. */
export type AuthServices = SqlClient.SqlClient | CurrentActor

/** What a call of better-auth did so far. */
export interface Tally {
  statements: number
  mails: number
}

/** Tokens of sessions that a call knows. */
export interface CallTokens {
  /** Those it was asked about or made, by what is stored of them. */
  readonly tokenOf: Map<string, string>
  /** Whose session it found by one. */
  owner: string | undefined
}

/** What a call of better-auth runs among. */
interface Call {
  /** Services of the request's fiber, and the connection of the transaction while there is one. */
  readonly services: Context.Context<AuthServices>
  /** What a statement of this call failed with. better-auth swallows some failures and answers as if all were well. */
  readonly failures: Array<unknown>
  readonly tally: Tally
  readonly tokens: CallTokens
  /** Inside of a transaction: another one is a part of it. */
  readonly inside: boolean
}

/** What came of a call. */
export interface Called<A> {
  readonly result: A
  readonly failures: ReadonlyArray<unknown>
  readonly tally: Tally
}

const nothing = (): Tally => ({ statements: 0, mails: 0 })

const noTokens = (): CallTokens => ({ tokenOf: new Map(), owner: undefined })

/**
 * The way from better-auth, which knows promises, back to effects. Whatever it calls while it answers a request (the
 * adapter, mails, hooks) runs in the services of that request, so that lines of the log carry its id, and inside of a
 * transaction on the connection of the transaction.
 */
export interface AuthScope {
  /** Runs an effect from within a promise. */
  readonly run: <A, E>(effect: Effect.Effect<A, E, AuthServices>) => Promise<A>
  /** The same for a mail, which is counted. */
  readonly mail: <A, E>(effect: Effect.Effect<A, E, AuthServices>) => Promise<A>
  /** The same for a statement, which is counted; its failure is remembered. */
  readonly statement: <A>(effect: Effect.Effect<A, SqlError.SqlError, AuthServices>) => Promise<A>
  readonly transaction: <A>(body: () => Promise<A>) => Promise<A>
  readonly tokens: () => CallTokens
  /** Calls better-auth in the services of the caller, and tells what it did meanwhile and which statements failed. */
  readonly call: <A>(
    body: () => Promise<A>
  ) => Effect.Effect<Called<A>, never, CurrentActor>
}

/**
 * A scope over the services that calls without a request (start, tests) run among. A transaction holds a connection while
 * passwords are hashed, so no more than `transactions` of them are open: the pool is for everybody.
 */
export const makeAuthScope = (
  base: Context.Context<AuthServices>,
  transactions: Semaphore.Semaphore
): AuthScope => {
  const calls = new AsyncLocalStorage<Call>()
  const current = (): Call =>
    calls.getStore() ?? { services: base, failures: [], tally: nothing(), tokens: noTokens(), inside: false }
  const run: AuthScope["run"] = (effect) => Effect.runPromiseWith(current().services)(effect)

  return {
    run,
    tokens: () => current().tokens,
    mail: (effect) => {
      current().tally.mails++
      return run(effect)
    },
    statement: (effect) => {
      const { failures, tally } = current()
      tally.statements++
      return run(Effect.tapCause(effect, (cause) => Effect.sync(() => failures.push(cause))))
    },
    transaction: (body) => {
      const { inside, services: _, ...call } = current()
      const work = Effect.flatMap(
        Effect.context<AuthServices>(),
        (services) => Effect.promise(() => calls.run({ ...call, services, inside: true }, body))
      )
      // Passwords are hashed inside, and wait their turn in a rush: longer than a transaction may be idle elsewhere.
      const transaction = Effect.flatMap(
        SqlClient.SqlClient,
        (sql) =>
          sql.withTransaction(
            Effect.andThen(sql`select set_config('idle_in_transaction_session_timeout', '30000', true)`, work)
          )
      )
      return run(inside ? transaction : transactions.withPermit(transaction))
    },
    call: (body) =>
      Effect.flatMap(Effect.context<CurrentActor>(), (own) =>
        Effect.suspend(() => {
          const failures: Array<unknown> = []
          const tally = nothing()
          const services = Context.merge(base, own)
          const call: Call = { services, failures, tally, tokens: noTokens(), inside: false }
          return Effect.promise(() => calls.run(call, body)).pipe(
            Effect.map((result) => ({ result, failures, tally }))
          )
        }))
  }
}
