import { Context, Effect, Layer, Schema } from "effect"
import { lookupSql } from "../../domain/platform/database/DatabaseRepo.ts"
import { decoding } from "../../domain/platform/records/Rows.ts"

/** State as PostgreSQL names it: `active`, `idle in transaction`. */
const Connections = Schema.Struct({ pool: Schema.String, state: Schema.String, count: Schema.Int })

/** Entries without a position, up to 10,000, and the oldest's age in seconds. */
const RelayLag = Schema.Struct({ waiting: Schema.Int, seconds: Schema.Finite })

export class HealthRepo extends Context.Service<HealthRepo>()("stoa/layers/health/HealthRepo", {
  make: Effect.gen(function*() {
    const lookups = yield* lookupSql
    return {
      databaseAnswers: lookups`select 1`.pipe(
        Effect.timeout("2 seconds"),
        Effect.as(true),
        Effect.catch(() => Effect.succeed(false))
      ),
      connections: decoding(lookups, Connections)`select application_name as pool, coalesce(state, 'unknown') as state,
      count(*)::int4 as count from pg_stat_activity
      where datname = current_database() and application_name like 'stoa%' group by 1, 2`.pipe(
        Effect.timeout("2 seconds"),
        Effect.catch(() => Effect.succeed([]))
      ),
      relayLag: decoding(lookups, RelayLag)`select count(*)::int4 as waiting,
        coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0)::float8 as seconds
      from (select created_at from outbox_events_read where position is null order by entry_number limit 10000) w`.pipe(
        Effect.timeout("2 seconds"),
        Effect.map(([lag]) => lag),
        Effect.catch(() => Effect.undefined)
      )
    }
  })
}) {}

export const healthRepoLayer = Layer.effect(HealthRepo, HealthRepo.make)
