import { statements } from "../modules/StatementsRepo.ts"

/**
 * What each key has been granted in a window. Unlogged: the counters are worth nothing after a crash of the database,
 * which then begins with empty ones.
 */
export const migrations = {
  "0001_ratelimits": statements(
    `create unlogged table rate_limit_counters (
      key text not null,
      ends_at timestamptz not null,
      granted bigint not null,
      primary key (key, ends_at)
    )`,
    `create index rate_limit_counters_age on rate_limit_counters (ends_at)`
  )
}
