import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/** A question to the store: may this process admit so many more requests of this key in the window that ends then? */
export interface Wanted {
  readonly key: string
  /** End of the window, in Unix milliseconds. */
  readonly ends: number
  readonly wanted: number
}

/** Why the store could not answer. */
export type StoreFailure = SqlError.SqlError

/** The counters that all processes share: what each key has been granted in a window. */
export class RateLimitRepo extends Context.Service<RateLimitRepo, {
  /** Adds to all counters in one statement; gives what each of the questions found before it was added. */
  readonly add: (questions: ReadonlyArray<Wanted>) => Effect.Effect<ReadonlyArray<number>, StoreFailure>
  /** Deletes counters whose window ended more than a minute ago, at most `limit`; gives how many. */
  readonly purge: (limit: number) => Effect.Effect<number>
}>()("stoa/domain/ratelimits/RateLimitRepo") {}

interface CounterRow {
  readonly key: string
  readonly ends: number
  readonly granted: number
}

/** `RateLimitRepo` over the database of the process. */
export const rateLimitRepoLayer = Layer.effect(
  RateLimitRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const add = Effect.fn("RateLimitRepo.add")(function*(questions: ReadonlyArray<Wanted>) {
      // In the order of their keys, so that processes that ask for the same ones never wait for each other in a circle.
      const rows = yield* sql<CounterRow>`insert into rate_limit_counters as c (key, ends_at, granted)
        select q.key, to_timestamp(q.ends / 1000), sum(q.wanted) from
          jsonb_to_recordset(${JSON.stringify(questions)}::jsonb) as q (key text, ends double precision, wanted bigint)
        group by q.key, q.ends order by q.key, q.ends
        on conflict (key, ends_at) do update set granted = c.granted + excluded.granted
        returning key, round(extract(epoch from ends_at) * 1000)::float8 as ends, granted::float8 as granted`
      const after = new Map(rows.map(({ ends, granted, key }) => [`${ends} ${key}`, granted]))
      // Two questions for one counter are answered as if the later one had come first.
      return questions.map(({ ends, key, wanted }) => {
        const name = `${ends} ${key}`
        const before = (after.get(name) ?? 0) - wanted
        after.set(name, before)
        return before
      })
    })

    const purge = Effect.fn("RateLimitRepo.purge")(function*(limit: number) {
      const gone = yield* sql`delete from rate_limit_counters where ctid = any(array(
        select ctid from rate_limit_counters where ends_at < now() - interval '1 minute'
        order by ends_at limit ${limit})) returning 1`
      return gone.length
    }, Effect.orDie)

    return RateLimitRepo.of({ add, purge })
  })
)
