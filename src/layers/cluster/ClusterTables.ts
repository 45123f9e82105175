import { Context, Effect, Layer } from "effect"
import { SqlMessageStorage, SqlRunnerStorage } from "effect/cluster"
import { SqlClient } from "effect/sql"

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
  const rows = yield* sql<{ line: string }>`
    select t.name || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
      || case when a.attnotnull then ' not null' else '' end as line
    from unnest(array['cluster_messages', 'cluster_replies', 'cluster_runners', 'cluster_locks']) as t (name)
    join pg_attribute a on a.attrelid = to_regclass(t.name) and a.attnum > 0 and not a.attisdropped`
  const found = new Set(rows.map((row) => row.line))
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
