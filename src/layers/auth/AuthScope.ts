import { Context, Effect, type Semaphore } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { AsyncLocalStorage } from "node:async_hooks"
import type { CurrentActor } from "../../domain/platform/access/Actor.ts"

export type AuthServices = SqlClient.SqlClient | CurrentActor

export interface Tally {
  statements: number
  mails: number
}

export interface CallTokens {
  readonly tokenOf: Map<string, string>
  owner: string | undefined
}

interface Call {
  readonly services: Context.Context<AuthServices>
  readonly failures: Array<unknown>
  readonly tally: Tally
  readonly tokens: CallTokens
  readonly inside: boolean
}

export interface Called<A> {
  readonly result: A
  readonly failures: ReadonlyArray<unknown>
  readonly tally: Tally
}

const nothing = (): Tally => ({ statements: 0, mails: 0 })

const noTokens = (): CallTokens => ({ tokenOf: new Map(), owner: undefined })

/**
 * Runs effects from better-auth's promises with the services of the request: its log annotations and its transaction.
 */
export interface AuthScope {
  readonly run: <A, E>(effect: Effect.Effect<A, E, AuthServices>) => Promise<A>
  readonly mail: <A, E>(effect: Effect.Effect<A, E, AuthServices>) => Promise<A>
  readonly statement: <A>(effect: Effect.Effect<A, SqlError.SqlError, AuthServices>) => Promise<A>
  readonly transaction: <A>(body: () => Promise<A>) => Promise<A>
  readonly tokens: () => CallTokens
  readonly call: <A>(
    body: () => Promise<A>
  ) => Effect.Effect<Called<A>, never, CurrentActor>
}

/**
 * Base services serve calls without a request. Transactions hold a connection while passwords are hashed, so
 * `transactions` limits them.
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
      // Hashing queues under load: longer than a transaction may usually be idle.
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
