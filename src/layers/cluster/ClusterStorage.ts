import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Redacted } from "effect"
import type { MessageStorage, RunnerStorage, ShardingConfig } from "effect/cluster"
import { SqlMessageStorage, SqlRunnerStorage } from "effect/cluster"
import type { SqlError } from "effect/sql"
import { connectingTo } from "../config/DatabaseTls.ts"
import { keepAlive } from "../Database.ts"
import { ClusterTables } from "./ClusterTables.ts"
import * as GroupCommitMessageStorage from "./GroupCommitMessageStorage.ts"
import * as SessionRunnerStorage from "./SessionRunnerStorage.ts"
import { ShardLocks } from "./ShardLocks.ts"
import { ShardTenure } from "./ShardTenure.ts"

const messages = Layer.unwrap(
  Effect.map(ClusterTables, ({ known }) => known ? GroupCommitMessageStorage.layer : SqlMessageStorage.layerStorage({}))
).pipe(Layer.provide(NodeCrypto.layerDigest))

const runners = (url: Redacted.Redacted<string>) =>
  Layer.unwrap(
    Effect.map(ClusterTables, ({ known }) =>
      known
        ? Layer.provide(SessionRunnerStorage.layer, ShardLocks.layer(url))
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
  MessageStorage.MessageStorage | RunnerStorage.RunnerStorage,
  SqlError.SqlError,
  ShardingConfig.ShardingConfig
> => {
  const forMessages = messagesClient(url)
  const tables = ClusterTables.layer.pipe(Layer.provide(forMessages))
  return Layer.mergeAll(Layer.provide(messages, forMessages), Layer.provide(runners(url), runnersClient(url))).pipe(
    Layer.provide([tables, ShardTenure.layer])
  )
}
