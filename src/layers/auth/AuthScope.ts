import { Context, Effect, type Semaphore } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { AsyncLocalStorage } from "node:async_hooks"
import type { CurrentActor } from "../../domain/platform/access/Actor.ts"

/** Services of better-auth's statements and hooks: the database and the actor of the request. */
export type AuthServices = SqlClient.SqlClient | CurrentActor

/** What a call of better-auth has done so far. */
export interface Tally {
  statements: number
  mails: number
}

/** Session tokens within a call. */
export interface CallTokens {
  /** Tokens that the call looked up or created, by their digest. */
  readonly tokenOf: Map<string, string>
  /** The user whose session was found by a token. */
  owner: string | undefined
}

/** The context of a call of better-auth. */
interface Call {
  /** Services of the request's fiber, with the connection of an open transaction. */
  readonly services: Context.Context<AuthServices>
  /** Failures of statements in this call. better-auth swallows some and reports success. */
  readonly failures: Array<unknown>
  readonly tally: Tally
  readonly tokens: CallTokens
  /** Inside a transaction: a nested one is part of it. */
  readonly inside: boolean
}

/** The result of a call. */
export interface Called<A> {
  readonly result: A
  readonly failures: ReadonlyArray<unknown>
  readonly tally: Tally
}

const nothing = (): Tally => ({ statements: 0, mails: 0 })

const noTokens = (): CallTokens => ({ tokenOf: new Map(), owner: undefined })

/**
 * Runs effects from better-auth, which uses promises. Its callbacks during a request (the adapter, mails, hooks) run with
 * the services of that request, so that log lines have its id, and inside a transaction on that connection.
 */
export interface AuthScope {
  /** Runs an effect from within a promise. */
  readonly run: <A, E>(effect: Effect.Effect<A, E, AuthServices>) => Promise<A>
  /** The same for a mail, which is counted. */
  readonly mail: <A, E>(effect: Effect.Effect<A, E, AuthServices>) => Promise<A>
  /** The same for a statement, which is counted; its failure is collected. */
  readonly statement: <A>(effect: Effect.Effect<A, SqlError.SqlError, AuthServices>) => Promise<A>
  readonly transaction: <A>(body: () => Promise<A>) => Promise<A>
  readonly tokens: () => CallTokens
  /** Calls better-auth with the services of the caller; gives its statements, mails and failures too. */
  readonly call: <A>(
    body: () => Promise<A>
  ) => Effect.Effect<Called<A>, never, CurrentActor>
}

/**
 * A scope with base services for calls without a request (start, tests). A transaction holds a connection while passwords
 * are hashed, so `transactions` limits how many are open: others need the pool too.
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
      // Passwords are hashed inside and queue under load: longer than a transaction may usually be idle.
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
