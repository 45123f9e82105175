import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ClusterTables, differences } from "../../src/layers/cluster/ClusterStorage.ts"
import { TestDatabase } from "../support/Postgres.ts"

it.layer(TestDatabase)("ClusterTables", (it) => {
  it.effect("the check knows the tables that this version of Effect makes", () =>
    Effect.gen(function*() {
      const tables = yield* Effect.provide(ClusterTables, ClusterTables.layer)
      assert.isTrue(tables.known)
      assert.deepStrictEqual(yield* differences, [])
      const sql = yield* SqlClient.SqlClient
      const plan = yield* sql<{ "QUERY PLAN": string }>`
        explain (costs off) select id from cluster_messages where processed = false order by rowid limit 1`
      assert.include(plan.map((line) => line["QUERY PLAN"]).join("\n"), "cluster_messages_open_idx")
    }))

  it.effect("the check names columns that are new, missing or of another type, and does not accept such tables", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const undone = yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`alter table cluster_messages add column priority integer`
        yield* sql`alter table cluster_replies rename column acked to seen`
        yield* sql`alter table cluster_locks alter column shard_id type text`
        yield* sql`drop table cluster_runners`
        assert.deepStrictEqual(yield* differences, [
          "missing cluster_locks.shard_id character varying(50) not null",
          "missing cluster_replies.acked boolean not null",
          "missing cluster_runners.address character varying(255) not null",
          "missing cluster_runners.healthy boolean not null",
          "missing cluster_runners.last_heartbeat timestamp without time zone not null",
          "missing cluster_runners.machine_id integer not null",
          "missing cluster_runners.runner text not null",
          "unknown cluster_locks.shard_id text not null",
          "unknown cluster_messages.priority integer",
          "unknown cluster_replies.seen boolean not null"
        ])
        assert.isFalse((yield* Effect.provide(ClusterTables, ClusterTables.layerChecked)).known)
        return yield* Effect.fail("undo")
      })).pipe(Effect.flip)
      assert.strictEqual(undone, "undo")
      assert.deepStrictEqual(yield* differences, [])
    }))
})
