import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Audit, type AuditFilter } from "../../src/domain/audit/Audit.ts"
import { auditLayer } from "../../src/domain/audit/AuditRepo.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { EventRepo } from "../../src/domain/platform/events/EventRepo.ts"
import { RelayStatements } from "../../src/domain/platform/events/RelayStatements.ts"
import { plansOf } from "../pricing/Statements.ts"
import { TestDatabase } from "../support/Postgres.ts"

const Repos = Layer.mergeAll(auditLayer, EventRepo.layer, RelayStatements.layer).pipe(Layer.provideMerge(TestDatabase))

/** A change log of 60,000 entries, half of them another organization's, and a few that wait. */
const aLongChangeLog = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const entries = (count: number) =>
    sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_id, actor_type,
        source, created_at)
      select gen_random_uuid(), case n % 2 when 0 then 'org_default' else 'org_other' end,
        (array['catalog.update', 'cart.create', 'orders.create', 'cart.afterAddItem'])[1 + n % 4], 'cart',
        (n % 1000)::text, '{}', 'u-' || n % 50, 'user', 'rest', timestamptz '2026-01-01' + n * interval '1 minute'
      from generate_series(1, ${count}::int) n`
  yield* entries(60_000)
  yield* Effect.repeat(
    (yield* RelayStatements).assignPositions({ entries: 10_000, bytes: 1_000_000 }, () => Effect.void),
    {
      while: (count) => count > 0
    }
  )
  yield* entries(20)
  yield* sql`vacuum analyze outbox_events`
})

it.layer(Repos, { excludeTestServices: true, timeout: "60 seconds" })("a change log of 60,000 entries", (it) => {
  const asAuditor = Effect.provideService(CurrentActor, systemActor("org_default"))

  it.effect("a change log of 60,000 entries is read by an index, with any filter", () =>
    Effect.gen(function*() {
      yield* aLongChangeLog
      const { list } = yield* Audit
      const filters: ReadonlyArray<AuditFilter> = [
        {},
        { entityType: "cart", entityId: "10" },
        { event: "orders.create" },
        { event: "created" },
        { actorId: "u-4" },
        { from: new Date("2026-02-01"), to: new Date("2026-02-02") },
        { entityType: "cart", entityId: "10", from: new Date("2026-02-01") }
      ]
      for (const filter of filters) {
        const plans = yield* asAuditor(plansOf(list(filter, { page: 1, limit: 50 })))
        assert.strictEqual(plans.length, 2)
        for (const plan of plans) assert.notMatch(plan, /Seq Scan on outbox_events/, JSON.stringify(filter))
      }
      const events = yield* EventRepo
      for (
        const read of [
          events.after(100, 50),
          events.after(100, 50, "orders.create"),
          events.afterAll(
            [{ organizationId: "org_default", after: 100 }, { organizationId: "org_other", after: 5 }],
            200
          )
        ]
      ) {
        const [plan = ""] = yield* asAuditor(plansOf(read))
        assert.match(plan, /Index Scan using outbox_events_sequence/)
      }
      const [waits = ""] = yield* plansOf((yield* RelayStatements).waits)
      assert.match(waits, /outbox_events_waiting/)
    }))
})
