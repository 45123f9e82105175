import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { EventRepo, redactChangeLog } from "../../src/domain/platform/events/EventRepo.ts"
import { RelayStatements } from "../../src/domain/platform/events/RelayStatements.ts"
import { CartId, CustomerId } from "../../src/domain/platform/ids/Id.ts"
import { placesOf } from "../events/ChangeLog.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { asAnother, asOwner } from "./AnotherTenant.ts"
import { rowsOf } from "./Footprint.ts"

const Repos = Layer.merge(EventRepo.layer, RelayStatements.layer).pipe(
  Layer.provideMerge(TestDatabase)
)

/** Entries of these types about a cart and a brand, all by one person. */
const entries = (organization: string, types: ReadonlyArray<string>, daysAgo = 0) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_type, actor_id,
        source, ip, created_at)
      select gen_random_uuid(), ${organization}, t, case when n % 2 = 0 then 'cart' else 'brand' end, 'c1',
        '{"email": "ann@example.test"}', 'user', 'ann', 'rest', '10.0.0.1', now() - make_interval(days => ${daysAgo})
      from unnest(${[...types]}::text[]) with ordinality u(t, n) order by n`
  )

const relayed = RelayStatements.use((relay) =>
  relay.assignPositions({ entries: 500, bytes: 1_000_000 }, () => Effect.void)
)

/** Redacts a person in the change log of an organization; gives how many entries changed. */
const redacted = Effect.fnUntraced(function*(organizationId: string) {
  const sql = yield* SqlClient.SqlClient
  const about = {
    organizationId,
    customerId: CustomerId.make("none"),
    orderIds: [],
    cartIds: [CartId.make("c1")],
    others: [],
    actorId: "ann"
  }
  return yield* sql.withTransaction(redactChangeLog(sql, about))
})

const event = "catalog.create"
const audited = "cart.create"

it.layer(Repos, { excludeTestServices: true })(
  "repositories of the change log about the same records of two tenants",
  (it) => {
    it.effect("repositories of the change log about the same records of two tenants number, read and redact the entries of each organization on their own", () =>
      Effect.gen(function*() {
        // The entries of another tenant come first, and each of them is an event.
        yield* entries("org_another", [event, event, event, event])
        yield* entries("org_default", [audited, event, audited, event])
        yield* relayed
        const { after, afterAll, latest } = yield* EventRepo
        const read = Effect.all([latest, Effect.map(after(0, 9), ({ length }) => length)])
        assert.deepStrictEqual([yield* asOwner(read), yield* asAnother(read)], [[2, 2], [4, 4]])
        const both = [{ organizationId: "org_default", after: 1 }, { organizationId: "org_another", after: 3 }]
        assert.strictEqual((yield* afterAll(both, 9)).length, 2)

        // Entries without a position too.
        yield* entries("org_another", [audited, audited])
        yield* entries("org_default", [audited, audited])
        const before = yield* rowsOf("org_another")
        assert.strictEqual(yield* redacted("org_default"), 6)
        assert.deepStrictEqual(yield* rowsOf("org_another"), before)
        yield* relayed
        assert.deepStrictEqual(yield* Effect.forEach(["org_default", "org_another"], placesOf), [
          [[1, null], [2, 1], [3, null], [4, 2], [5, null], [6, null]],
          [[1, 1], [2, 2], [3, 3], [4, 4], [5, null], [6, null]]
        ])
      }))

    it.effect("repositories of the change log about the same records of two tenants purge the entries of each organization on their own", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* entries("org_young", [event, event, event, event])
        yield* relayed
        yield* entries("org_old", [audited, event, audited, event], 100)
        yield* relayed
        const before = yield* rowsOf("org_young")
        assert.strictEqual(yield* EventRepo.use((repo) => repo.purge(100, 30)), 4)
        assert.deepStrictEqual(yield* rowsOf("org_young"), before)
        const cursors = yield* sql`select purged_position::int4 as position, event_sequence::int4 as sequence
        from outbox_cursors where organization_id = 'org_old'`
        assert.deepStrictEqual(cursors, [{ position: 4, sequence: 2 }])
      }))
  }
)
