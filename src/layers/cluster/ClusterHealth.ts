import { Clock, Duration, Effect, Layer, Option, Schedule, Schema } from "effect"
import { ShardId, Sharding, ShardingConfig, Snowflake } from "effect/cluster"
import type { SqlClient } from "effect/sql"
import { lookupSql } from "../../domain/platform/database/DatabaseRepo.ts"
import { decoding } from "../../domain/platform/records/Rows.ts"
import { DeploymentHealth, type HealthChecks, HealthUnknown } from "../health/Readiness.ts"
import { lockNamespace, lockNumbers } from "./LockSession.ts"

const timeout = "2 seconds"

const Row = Schema.Struct({
  runners: Schema.Array(Schema.String),
  owned: Schema.Array(Schema.String),
  waiting_id: Schema.NullOr(Schema.String),
  delayed_id: Schema.NullOr(Schema.String),
  delayed_until: Schema.NullOr(Schema.String)
})

const sentAt = (id: string): number => Snowflake.timestamp(Snowflake.Snowflake(id))

const earliest = ({ delayed_id, delayed_until, waiting_id }: typeof Row.Type): number | undefined => {
  const since = [
    ...waiting_id === null ? [] : [sentAt(waiting_id)],
    ...delayed_id === null ? [] : [Math.max(Number(delayed_until), sentAt(delayed_id))]
  ]
  return since.length === 0 ? undefined : Math.min(...since)
}

/** All shards, and the owned ones: by lock, or by row where advisory locks are off. */
const shardsOf = (sql: SqlClient.SqlClient, config: ShardingConfig.ShardingConfig["Service"], seconds: number) => {
  const shards = new Map(
    [...lockNumbers(config)].map(([shard, number]) =>
      [config.shardLockDisableAdvisory ? shard : String(number), number] as const
    )
  )
  const owned = config.shardLockDisableAdvisory
    ? sql`select shard_id from cluster_locks where acquired_at > now() - make_interval(secs => ${seconds})`
    : sql`select objid::text from pg_locks where locktype = 'advisory' and granted and objsubid = 2
        and classid = ${String(lockNamespace >>> 0)}::oid
        and database = (select oid from pg_database where datname = current_database())`
  return { shards, owned }
}

const make = Effect.gen(function*() {
  const sql = (yield* lookupSql).withoutTransforms()
  const config = yield* ShardingConfig.ShardingConfig
  const seconds = Duration.toSeconds(Duration.fromInputUnsafe(config.shardLockExpiration))
  const { owned, shards } = shardsOf(sql, config, seconds)
  const self = Option.getOrUndefined(Option.map(config.runnerAddress, ({ host, port }) => `${host}:${port}`))

  // Mirrors the claim; a message that a runner has taken is in progress.
  const claimable = sql.literal(`c.processed = false and c.kind = 0 and c.last_read is null and not exists (
    select 1 from cluster_replies r where r.request_id = c.request_id and (r.kind = 0 or r.acked = false))`)

  const row = decoding(sql, Row, "unprepared")

  const rows = (now: number) =>
    row`
      select
        array(select address from cluster_runners
          where healthy and last_heartbeat > now() - make_interval(secs => ${seconds})) as runners,
        array(${owned}) as owned,
        waiting.id as waiting_id, delayed.id as delayed_id, delayed.deliver_at as delayed_until
      from (values (1)) one
      left join lateral (
        select c.id::text from cluster_messages c where ${claimable} and c.deliver_at is null order by c.rowid limit 1
      ) waiting on true
      left join lateral (
        select c.id::text, c.deliver_at::text from cluster_messages c
        where ${claimable} and c.deliver_at <= ${String(now)}::text::bigint order by c.deliver_at limit 1
      ) delayed on true`

  const look = Effect.gen(function*() {
    const [row] = yield* rows(yield* Clock.currentTimeMillis)
    if (row === undefined) return yield* new HealthUnknown({ cause: "no row" })
    const healthChecks: HealthChecks = {
      runners: row.runners,
      self,
      shards: [...shards.values()],
      owned: new Set(row.owned.flatMap((name) => shards.get(name) ?? [])),
      waitingSince: earliest(row)
    }
    return healthChecks
  })
  return DeploymentHealth.of({
    look: look.pipe(
      Effect.timeout(timeout),
      Effect.mapError((cause) => new HealthUnknown({ cause })),
      Effect.withTracerEnabled(false)
    )
  })
})

/**
 * The deployment's health: runners by heartbeat, shards by locks, and the oldest message that no runner has taken.
 * Reads open messages only, by index.
 */
export const clusterHealth = Layer.effect(DeploymentHealth, make)

const advice = "This process listens for no other one, so what they own it cannot reach. " +
  "Set STOA_RUNNER_HOST and STOA_RUNNER_PORT for every process of the deployment, or end the others."

/** A killed predecessor keeps its shards for some seconds. */
const firstLook = "15 seconds"

export const onlyProcess = Layer.effectDiscard(Effect.gen(function*() {
  const sharding = yield* Sharding.Sharding
  const healthChecks = yield* DeploymentHealth
  const shards = [...lockNumbers(yield* ShardingConfig.ShardingConfig).keys()].map(ShardId.fromString)
  const look = Effect.gen(function*() {
    const { owned } = yield* healthChecks.look
    const own = shards.filter((shardId) => sharding.hasShardId(shardId)).length
    if (owned.size > own) yield* Effect.logWarning(`${owned.size - own} shards belong to other processes. ${advice}`)
  })
  yield* Effect.ignore(look).pipe(
    Effect.repeat(Schedule.spaced("1 minute")),
    Effect.delay(firstLook),
    Effect.forkScoped
  )
}))
