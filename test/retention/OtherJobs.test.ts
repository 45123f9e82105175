import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted } from "effect"
import { MachineId, Snowflake } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { ClusterTables } from "../../src/layers/cluster/ClusterStorage.ts"
import { onDatabase } from "../support/Audit.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { startService } from "../support/Service.ts"
import { waitFor } from "../support/waitFor.ts"
import { retentionTurn } from "./Turns.ts"

/** An id of the cluster as it was drawn a hundred days ago; the next ids count up from it. */
const oldId = Effect.map(
  Clock.currentTimeMillis,
  (now) => String(Snowflake.make({ machineId: MachineId.make(0), sequence: 0, timestamp: now - 100 * 86_400_000 }))
)

/** What waits for a scheduled job, one row each, and enough messages that one purge of the cluster stops at its limit. */
const leaveBehind = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const first = yield* oldId
  const order = yield* buildOrder()
  yield* sql`insert into refunds (id, organization_id, order_id, amount, reason, status, created_at, next_attempt_at)
    values (gen_random_uuid(), 'org_default', ${order.id}::uuid, 100, 'r', 'pending', now() - interval '2 minutes', now())`
  yield* sql`insert into holds (organization_id, holder, state, expires_at)
    select 'org_default', n::text, 'held', now() from generate_series(1, 1200) n`
  yield* sql`insert into carts (id, organization_id, status, currency, secret_hash, expires_at)
    select gen_random_uuid(), 'org_default', 'active', 'USD', 'h', now() from generate_series(1, 2500) n`
  yield* sql`insert into cluster_messages (id, shard_id, entity_type, entity_id, kind, tag, payload, headers, processed,
      request_id)
    select ${first}::text::bigint + n, 'default:1', 'Old', n, 0, 'ask', '{}', '{}', true, ${first}::text::bigint + n
    from generate_series(1, 51000) n`
  yield* sql`insert into cluster_replies (id, kind, request_id, payload, acked)
    select ${first}::text::bigint + n, 0, ${first}::text::bigint + n, '{}', true from generate_series(1, 100) n`
})

/** The names of what still waits. */
const waiting = (url: string) =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql<{ what: string }>`select 'stock held too long' as what from holds where state = 'held' having count(*) > 0
      union all select 'carts that were abandoned' from carts where status = 'active' having count(*) > 0
      union all select 'refunds that were left pending' from refunds where status = 'pending' having count(*) > 0
      union all select 'messages answered long ago' from cluster_messages where entity_type = 'Old' having count(*) > 0
      union all select 'their answers' from cluster_replies where payload = '{}' having count(*) > 0
      union all select 'statistics of a table that grew' from pg_stat_user_tables
        where relname = 'carts' and analyze_count = 0`,
      (rows) => rows.map(({ what }) => what)
    ))

const everything = [
  "stock held too long",
  "carts that were abandoned",
  "refunds that were left pending",
  "messages answered long ago",
  "their answers",
  "statistics of a table that grew"
]

describe("the scheduled jobs for open records", () => {
  it.live("end what ran out, settle what was abandoned and forget what was answered", () =>
    Effect.gen(function*() {
      const { url: databaseUrl } = yield* freshDatabase
      const pool = PgClient.layer({ url: Redacted.make(databaseUrl), maxConnections: 1 })
      yield* Effect.provide(leaveBehind, ClusterTables.layer.pipe(Layer.provideMerge(pool)))
      assert.deepStrictEqual(yield* waiting(databaseUrl), everything)
      yield* retentionTurn(databaseUrl)
      yield* startService({ databaseUrl })
      let left: ReadonlyArray<string> = everything
      const nothingWaits = async () => {
        left = await Effect.runPromise(waiting(databaseUrl))
        return left.length === 0
      }
      yield* Effect.ignore(Effect.tryPromise(() => waitFor("the scheduled jobs", nothingWaits, 20_000)))
      assert.deepStrictEqual(left, [])
    }), 60_000)
})
