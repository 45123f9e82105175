import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, type Redacted, Schedule } from "effect"
import {
  ClusterError,
  type MessageStorage,
  RunnerStorage,
  ShardingConfig,
  SqlMessageStorage,
  SqlRunnerStorage
} from "effect/cluster"
import { SqlClient, type SqlError } from "effect/sql"
import { connectingTo } from "../config/DatabaseTls.ts"
import { keepAlive } from "../Database.ts"
import { ShardTenure } from "./ActivationLookups.ts"
import * as GroupCommitMessageStorage from "./GroupCommitMessageStorage.ts"
import { runnersChanged } from "./LockSession.ts"
import { MessageArrivals } from "./MessageArrivals.ts"
import { ShardLocks } from "./ShardLocks.ts"

const knownColumns: ReadonlyArray<string> = [
  "cluster_locks.acquired_at timestamp without time zone not null",
  "cluster_locks.address character varying(255) not null",
  "cluster_locks.shard_id character varying(50) not null",
  "cluster_messages.deliver_at bigint",
  "cluster_messages.entity_id character varying(255) not null",
  "cluster_messages.entity_type character varying(150) not null",
  "cluster_messages.headers text",
  "cluster_messages.id bigint not null",
  "cluster_messages.kind integer not null",
  "cluster_messages.last_read timestamp without time zone",
  "cluster_messages.last_reply_id bigint",
  "cluster_messages.message_id character varying(255)",
  "cluster_messages.payload text",
  "cluster_messages.processed boolean not null",
  "cluster_messages.reply_id bigint",
  "cluster_messages.request_id bigint not null",
  "cluster_messages.rowid bigint not null",
  "cluster_messages.sampled boolean",
  "cluster_messages.shard_id character varying(50) not null",
  "cluster_messages.span_id character varying(16)",
  "cluster_messages.tag character varying(50)",
  "cluster_messages.trace_id character varying(32)",
  "cluster_replies.acked boolean not null",
  "cluster_replies.id bigint not null",
  "cluster_replies.kind integer",
  "cluster_replies.payload text not null",
  "cluster_replies.request_id bigint not null",
  "cluster_replies.rowid bigint not null",
  "cluster_replies.sequence integer",
  "cluster_runners.address character varying(255) not null",
  "cluster_runners.healthy boolean not null",
  "cluster_runners.last_heartbeat timestamp without time zone not null",
  "cluster_runners.machine_id integer not null",
  "cluster_runners.runner text not null"
]

export const differences = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`
    select t.name || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
      || case when a.attnotnull then ' not null' else '' end as line
    from unnest(array['cluster_messages', 'cluster_replies', 'cluster_runners', 'cluster_locks']) as t (name)
    join pg_attribute a on a.attrelid = to_regclass(t.name) and a.attnum > 0 and not a.attisdropped`
  const found = new Set(rows.map(({ line }) => String(line)))
  const known = new Set(knownColumns)
  return [
    ...knownColumns.filter((line) => !found.has(line)).map((line) => `missing ${line}`),
    ...[...found].filter((line) => !known.has(line)).sort().map((line) => `unknown ${line}`)
  ]
})

// Indexes for the claim and for readiness. They only save time: a role that may not create them, or a race, does not
// stop the start.
const createOpenIndexes = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create index if not exists cluster_messages_open_idx on cluster_messages (rowid) where processed = false`
  yield* sql`create index if not exists cluster_messages_delayed_idx on cluster_messages (deliver_at)
    where processed = false and deliver_at is not null`
}).pipe(Effect.catchCause((cause) => Effect.logWarning("No index on the open cluster messages", cause)))

/**
 * Effect's migrated cluster tables; `known` is false, with a warning, when an upgrade of Effect changed a column: the
 * stock storages are used then.
 */
export class ClusterTables extends Context.Service<ClusterTables, {
  readonly known: boolean
}>()("stoa/layers/cluster/ClusterTables") {
  static readonly layerChecked = Layer.effect(
    ClusterTables,
    Effect.gen(function*() {
      const changes = yield* differences
      if (changes.length > 0) {
        yield* Effect.logWarning("The cluster tables have changed: using the slower stock storages", ...changes)
        return { known: false }
      }
      yield* createOpenIndexes
      return { known: true }
    })
  )

  static readonly layer = ClusterTables.layerChecked.pipe(
    Layer.provide([SqlMessageStorage.layerMigrations({}), SqlRunnerStorage.layerMigrations({})])
  )
}

/**
 * Effect's table of runners, with the locks on shards in a separate session (`ShardLocks`). The stock storage queries
 * one connection at every reply and gives up all its locks after a slow answer: a busy machine loses its shards again
 * and again. Both kinds of processes can share a deployment.
 */
export const sessionRunnerStorage = Layer.effect(
  RunnerStorage.RunnerStorage,
  Effect.gen(function*() {
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const locks = yield* ShardLocks
    const { shardLockExpiration } = yield* ShardingConfig.ShardingConfig
    const seconds = Math.ceil(Duration.toSeconds(Duration.fromInputUnsafe(shardLockExpiration)))
    const lastSign = sql`now() - make_interval(secs => ${seconds})`
    const heard = <A, E>(statement: Effect.Effect<A, E>) =>
      Effect.withTracerEnabled(ClusterError.PersistenceError.refail(statement), false)
    const soon = <A, E>(statement: Effect.Effect<A, E>) =>
      heard(Effect.retry(statement, { schedule: Schedule.spaced("100 millis"), times: 50 }))

    const askForRunners = soon(Effect.map(
      sql`
        select runner, healthy from cluster_runners where last_heartbeat > ${lastSign}`,
      (rows) => rows.map(({ healthy, runner }) => [String(runner), healthy === true] as const)
    ))
    const changing = <A, E>(statement: Effect.Effect<A, E>) =>
      Effect.tap(statement, () => Effect.sync(() => locks.runners()?.forget()))
    const tellRunners = sql.literal(`pg_notify('${runnersChanged}', '')`)

    return RunnerStorage.makeEncoded({
      register: (address, runner, healthy) =>
        changing(soon(Effect.map(
          sql`
          insert into cluster_runners (address, runner, last_heartbeat, healthy)
          values (${address}, ${runner}, now(), ${healthy})
          on conflict (address) do update
          set runner = excluded.runner, last_heartbeat = excluded.last_heartbeat, healthy = excluded.healthy
          returning machine_id, ${tellRunners}`,
          ([row]) => Number(row?.["machine_id"] ?? 0)
        ))),
      unregister: (address) =>
        changing(heard(Effect.asVoid(
          sql`delete from cluster_runners where address = ${address} or last_heartbeat < ${lastSign}
            returning ${tellRunners}`
        ))),
      getRunners: Effect.suspend(() => {
        const known = locks.runners()?.known()
        return known === undefined ? askForRunners : Effect.succeed([...known])
      }),
      setRunnerHealth: (address, healthy) =>
        changing(heard(Effect.asVoid(
          sql`update cluster_runners set healthy = ${healthy} where address = ${address} returning ${tellRunners}`
        ))),
      acquire: (address, shardIds) => locks.acquire(address, shardIds),
      refresh: (address, shardIds) => {
        if (shardIds.length > 0) {
          return Effect.map(locks.held, (held) => shardIds.filter((shardId) => held.has(shardId)))
        }
        return soon(sql`update cluster_runners set last_heartbeat = now() where address = ${address}`).pipe(
          Effect.andThen(locks.lossIsKnown),
          Effect.as([])
        )
      },
      release: (_, shardId) => locks.release(shardId),
      releaseAll: () => locks.releaseAll
    })
  })
)

const messages = Layer.unwrap(
  Effect.map(ClusterTables, ({ known }) => known ? GroupCommitMessageStorage.layer : SqlMessageStorage.layerStorage({}))
).pipe(Layer.provide(NodeCrypto.layerDigest))

const runners = (url: Redacted.Redacted<string>) =>
  Layer.unwrap(
    Effect.map(ClusterTables, ({ known }) =>
      known
        ? Layer.provide(sessionRunnerStorage, ShardLocks.layer(url))
        : SqlRunnerStorage.layerStorage({}))
  )

export const messagesClient = (url: Redacted.Redacted<string>) =>
  PgClient.layer({
    ...connectingTo(url),
    keepAlive,
    maxConnections: 4,
    applicationName: "stoa-cluster-messages",
    startupParameters: { plan_cache_mode: "force_generic_plan", statement_timeout: "15000" }
  })

/**
 * 2 connections for registration and heartbeats, with `synchronous_commit = off`: a crash loses heartbeats only. Never
 * for messages.
 */
export const runnersClient = (url: Redacted.Redacted<string>) =>
  PgClient.layer({
    ...connectingTo(url),
    keepAlive,
    maxConnections: 2,
    applicationName: "stoa-cluster-runners",
    startupParameters: { synchronous_commit: "off" }
  })

/**
 * Both storages over Effect's tables, on separate connections from requests. With unknown tables, Effect's stock
 * storages. Provide the same `ShardingConfig` as to `Sharding`; fails with `SqlError` without a database.
 */
export const layer = (url: Redacted.Redacted<string>): Layer.Layer<
  MessageArrivals | MessageStorage.MessageStorage | RunnerStorage.RunnerStorage,
  SqlError.SqlError,
  ShardingConfig.ShardingConfig
> => {
  const forMessages = messagesClient(url)
  const tables = ClusterTables.layer.pipe(Layer.provide(forMessages))
  return Layer.mergeAll(Layer.provide(messages, forMessages), Layer.provide(runners(url), runnersClient(url))).pipe(
    Layer.provideMerge(MessageArrivals.layer),
    Layer.provide([tables, ShardTenure.layer])
  )
}
