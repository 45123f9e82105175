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

/** The columns the batched statements were written for: `table.column type [not null]`. */
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

/** What the tables have more or less than the known columns; empty when they are exactly the known ones. */
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

// The indexes behind the claim and behind readiness: open messages in the order they are handed out, and delayed ones in
// the order they become due. They only save time, so a role that may not create them, or a second process creating
// them at the same moment, is no reason not to start.
const createOpenIndexes = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create index if not exists cluster_messages_open_idx on cluster_messages (rowid) where processed = false`
  yield* sql`create index if not exists cluster_messages_delayed_idx on cluster_messages (deliver_at)
    where processed = false and deliver_at is not null`
}).pipe(Effect.catchCause((cause) => Effect.logWarning("No index on the open cluster messages", cause)))

/**
 * Effect's own cluster tables, migrated, and whether they are the ones the batched statements know. An upgrade of
 * Effect that changes a column makes `known` false; a warning names the change, and the stock storages are used until
 * the statements have been checked against it.
 */
export class ClusterTables extends Context.Service<ClusterTables, {
  readonly known: boolean
}>()("stoa/layers/cluster/ClusterTables") {
  /** Checks the tables as they are. */
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

  /** Runs Effect's migrations of the cluster tables, then checks them. */
  static readonly layer = ClusterTables.layerChecked.pipe(
    Layer.provide([SqlMessageStorage.layerMigrations({}), SqlRunnerStorage.layerMigrations({})])
  )
}

/**
 * Effect's table of runners, and the locks on shards in a separate session (`ShardLocks`).
 *
 * The stock storage asks the database on one connection whenever a reply is stored, and gives up that connection with all
 * its locks once an answer takes a third of the lock expiration: a process on a busy machine loses its shards again and
 * again. Its table, its locks and their numbers are kept, so that both kinds of processes can be in one deployment.
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
    // The sharding looks every second or two whether the database is back. These looks last until then, or until it ends
    // them, so that no caller waits for the next one.
    const soon = <A, E>(statement: Effect.Effect<A, E>) =>
      heard(Effect.retry(statement, { schedule: Schedule.spaced("100 millis"), times: 50 }))

    const askForRunners = soon(Effect.map(
      sql`
        select runner, healthy from cluster_runners where last_heartbeat > ${lastSign}`,
      (rows) => rows.map(({ healthy, runner }) => [String(runner), healthy === true] as const)
    ))
    /** A change of the table: what runners know of it from their last heartbeat is over. */
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
      // Asked twice a second: usually the last heartbeat has brought the answer.
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
        // How a runner without shards is heard of, and how one that lost them finds out that the database is back.
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

/** The connections of messages and replies: 4, every answered write is committed and flushed. */
export const messagesClient = (url: Redacted.Redacted<string>) =>
  PgClient.layer({
    ...connectingTo(url),
    keepAlive,
    maxConnections: 4,
    applicationName: "stoa-cluster-messages",
    // One plan for batches of any size: planning each costs more than running it.
    // No statement may hold a connection forever: without replies nothing continues.
    startupParameters: { plan_cache_mode: "force_generic_plan", statement_timeout: "15000" }
  })

/**
 * The connections of runner registration and of runners that were heard of: 2, beside the one of the locks on shards
 * (`ShardLocks`). They write with `synchronous_commit = off`: a crash of PostgreSQL loses at most the last heartbeats,
 * which the next one writes again, and advisory locks are not written at all. Never for messages.
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
 * The two storages of the cluster over Effect's own tables in the given database, on separate connections, so that
 * neither waits for the statements of requests.
 *
 * When the tables are not the known ones, both are Effect's stock storages. Provide the same `ShardingConfig` as to
 * `Sharding`; fails with `SqlError` when the database cannot be reached.
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
