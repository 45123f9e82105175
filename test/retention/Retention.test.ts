import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { onDatabase } from "../support/Audit.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { startService } from "../support/Service.ts"
import { waitFor } from "../support/waitFor.ts"
import { retentionTurn } from "./Turns.ts"

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
      expect(yield* count).toBe(22_621)
      yield* retentionTurn(databaseUrl)
      yield* startService({ databaseUrl })
      yield* Effect.promise(() => waitFor("the rows to go", async () => (await Effect.runPromise(count)) === 0, 20_000))
    }), 60_000)
})
