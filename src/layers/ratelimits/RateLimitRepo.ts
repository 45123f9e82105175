import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { statements } from "../../domain/platform/database/MigrationStatements.ts"
import { decoding } from "../../domain/platform/records/Rows.ts"

/** The window's end in Unix milliseconds. */
export interface Increment {
  readonly key: string
  readonly ends: number
  readonly count: number
}

/** Unlogged: a crash of the database only starts the windows afresh. */
export const migrations = {
  "0001_ratelimits": statements(
    `create unlogged table rate_limit_counters (
      key text not null,
      ends_at timestamptz not null,
      requests bigint not null,
      primary key (key, ends_at)
    )`,
    `create index rate_limit_counters_age on rate_limit_counters (ends_at)`
  )
}

const Counter = Schema.Struct({ key: Schema.String, ends: Schema.Number, requests: Schema.Number })

export class RateLimitRepo extends Context.Service<RateLimitRepo>()("stoa/layers/ratelimits/RateLimitRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const counters = decoding(sql, Counter)

    const add = Effect.fn("RateLimitRepo.add")(function*(increments: ReadonlyArray<Increment>) {
      // Ordered by key, against deadlocks.
      const rows = yield* counters`insert into rate_limit_counters as c (key, ends_at, requests)
        select i.key, to_timestamp(i.ends / 1000), sum(i.count) from
          jsonb_to_recordset(${JSON.stringify(increments)}::jsonb) as i (key text, ends double precision, count bigint)
        group by i.key, i.ends order by i.key, i.ends
        on conflict (key, ends_at) do update set requests = c.requests + excluded.requests
        returning key, round(extract(epoch from ends_at) * 1000)::float8 as ends, requests::float8 as requests`
      const sums = new Map(rows.map(({ ends, key, requests }) => [`${ends} ${key}`, requests]))
      return increments.toReversed().map(({ count, ends, key }) => {
        const sum = sums.get(`${ends} ${key}`) ?? count
        sums.set(`${ends} ${key}`, sum - count)
        return sum
      }).reverse()
    })

    const purge = Effect.fn("RateLimitRepo.purge")(function*(limit: number) {
      const deleted = yield* sql`delete from rate_limit_counters where ctid = any(array(
        select ctid from rate_limit_counters where ends_at < now() - interval '1 minute'
        order by ends_at limit ${limit})) returning 1`
      return deleted.length
    }, Effect.orDie)

    return { add, purge }
  })
}) {
  static readonly layer = Layer.effect(RateLimitRepo, RateLimitRepo.make)
}
