import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Redacted } from "effect"
import { MachineId, Snowflake } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ClusterTables } from "../../src/layers/cluster/ClusterStorage.ts"
import { everySafely } from "../../src/layers/ScheduledJobs.ts"
import { onDatabase } from "../support/Audit.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { startService } from "../support/Service.ts"
import { waitFor } from "../support/waitFor.ts"

/** Puts the scheduled tasks of retention into the queue of a database, as the next tick would. */
const retentionTurn = (databaseUrl: string) =>
  onDatabase(databaseUrl, (sql) =>
    sql`insert into commerce_jobs (id, organization_id, task_slug)
      select gen_random_uuid(), 'org_default', 'retention/' || task from unnest(array['carts', 'holds',
        'idempotency-keys', 'provider-events', 'change-log', 'cluster-messages', 'webhook-deliveries', 'rate-limits']) task`)

describe("the retention jobs", () => {
  it.live("remove everything that is due, however much came together", () =>
    Effect.gen(function*() {
      const { url: databaseUrl } = yield* freshDatabase
      const count = onDatabase(databaseUrl, (sql) =>
        Effect.map(
          sql<
            { left: number }
          >`select (select count(*) from idempotency_keys)::int4 + (select count(*) from idempotency_records)::int4
            + (select count(*) from holds)::int4 + (select count(*) from carts)::int4
            + (select count(*) from payment_events)::int4 + (select count(*) from orders where status = 'pending')::int4
            + (select count(*) from webhook_deliveries)::int4 + (select count(*) from webhook_messages)::int4
            + (select count(*) from refunds where status = 'pending')::int4
            + (select count(*) from rate_limit_counters where key like 'old %')::int4
            + (select count(*) from outbox_events where created_at < now() - interval '100 days')::int4 as left`,
          ([row]) => row?.left
        ))
      yield* onDatabase(databaseUrl, (sql) =>
        Effect.all([
          sql`insert into idempotency_keys (organization_id, scope, key_digest, request_hash, execution_id, status, locked_until, created_at)
            select 'org_default', 's', n::text, 'h', gen_random_uuid(), 'done', now(), now() - interval '100 days'
            from generate_series(1, 2500) n`,
          sql`insert into idempotency_records (organization_id, execution_id, created_at)
            select 'org_default', gen_random_uuid(), now() - interval '100 days' from generate_series(1, 2500) n`,
          sql`insert into holds (organization_id, holder, state, updated_at)
            select 'org_default', n::text, case when n % 2 = 0 then 'released' else 'fulfilled' end,
              now() - interval '100 days' from generate_series(1, 2500) n`,
          sql`insert into carts (id, organization_id, status, currency, secret_hash, expires_at)
            select gen_random_uuid(), 'org_default', 'checked_out', 'USD', 'h', now() - interval '100 days'
            from generate_series(1, 2500) n`,
          sql`insert into payment_events (organization_id, provider, event_id, type, received_at)
            select 'org_default', 'test', n::text, 't', now() - interval '100 days' from generate_series(1, 2500) n`,
          sql`insert into webhook_deliveries (organization_id, id, endpoint_id, event_id, event_name, attempt_count,
              duration_ms, created_at)
            select 'org_default', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 't', 1, 1,
              now() - interval '100 days' from generate_series(1, 2500)`,
          sql`insert into webhook_messages (organization_id, event_id, type, entity_type, entity_id, sequence, body,
              event_at, created_at)
            select 'org_default', gen_random_uuid(), 't', 't', 't', n, '{}', now(), now() - interval '100 days'
            from generate_series(1, 2500) n`,
          sql`insert into rate_limit_counters (key, ends_at, requests)
            select 'old ' || n, now() - interval '100 days', 1 from generate_series(1, 2500) n`,
          sql`insert into outbox_cursors (organization_id, position) values ('org_default', 2500)`,
          sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_type, source,
              created_at, position)
            select gen_random_uuid(), 'org_default', 'cart.create', 'cart', 'c', '{}', 'user', 'rest',
              now() - interval '1000 days', n from generate_series(1, 2500) n`
        ]))
      yield* onDatabase(databaseUrl, (sql) =>
        Effect.gen(function*() {
          yield* Effect.forEach(Array.from({ length: 120 }), () => buildOrder({ captured: null }))
          yield* sql`update orders set payment_due_at = now()`
          const abandoned = yield* buildOrder({ captured: null, status: "cancelled" })
          yield* sql`insert into refunds (id, organization_id, order_id, amount, reason, status, next_attempt_at)
            values (gen_random_uuid(), 'org_default', ${abandoned.id}::uuid, 0, 'left behind', 'pending', now())`
        }).pipe(Effect.provideService(SqlClient.SqlClient, sql)))
      assert.strictEqual(yield* count, 22_621)
      yield* retentionTurn(databaseUrl)
      yield* startService({ databaseUrl })
      yield* Effect.promise(() => waitFor("the rows to go", async () => (await Effect.runPromise(count)) === 0))
    }))
})

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
      yield* Effect.ignore(Effect.tryPromise(() => waitFor("the scheduled jobs", nothingWaits)))
      assert.deepStrictEqual(left, [])
    }))
})

for (const [how, failure] of [["fails", Effect.fail("no database")], ["dies", Effect.die("no database")]] as const) {
  it.effect(`a scheduled job that ${how} runs again all the same`, () =>
    Effect.gen(function*() {
      let turns = 0
      const job = Effect.suspend(() => turns++ === 0 ? failure : Effect.succeed(1))
      const running = yield* Effect.forkChild(job.pipe(everySafely("test", "30 seconds")), {
        startImmediately: true
      })
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual(turns, 1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(turns, 2)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(turns, 3)
      yield* Fiber.interrupt(running)
    }))
}
