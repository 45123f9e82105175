import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ChangeLogPurgeRepo, changeLogPurgeRepoLayer } from "../../src/domain/events/ChangeLogPurgeRepo.ts"
import { EventReadRepo, eventReadRepoLayer } from "../../src/domain/events/EventReadRepo.ts"
import { redactChangeLog } from "../../src/domain/events/RedactionRepo.ts"
import { RelayRepo, relayRepoLayer } from "../../src/domain/events/RelayRepo.ts"
import { placesOf } from "../events/ChangeLog.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { elsewhere, here } from "./Anonymous.ts"

const Repos = Layer.mergeAll(
  eventReadRepoLayer,
  changeLogPurgeRepoLayer,
  relayRepoLayer
).pipe(Layer.provideMerge(TestDatabase))

/** Entries about a cart and about something else, all of them by one person; those of an organization are of these types. */
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

const relayed = Effect.flatMap(
  RelayRepo,
  (relay) => relay.assignPositions({ entries: 500, bytes: 1_000_000 }, () => Effect.void)
)

/** All that the change log of an organization says, and its head. */
const changeLogOf = (organization: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`select e::text as row from outbox_events e where organization_id = ${organization}
      union all select h::text from outbox_cursors h where organization_id = ${organization} order by 1`
  )

/** Takes a person out of an organization's change log; gives how many entries changed. */
const erased = Effect.fnUntraced(function*(organizationId: string) {
  const sql = yield* SqlClient.SqlClient
  const about = { organizationId, customerId: "none", orderIds: [], cartIds: ["c1"], others: [], actorId: "ann" }
  return yield* sql.withTransaction(redactChangeLog(sql, about))
})

const announced = "catalog.create"
const silent = "cart.create"

it.layer(Repos, { excludeTestServices: true })("the change logs of two organizations about the same things", (it) => {
  it.effect("are sequenced, read and redacted each on their own", () =>
    Effect.gen(function*() {
      // The other's come first, and every one of them is an event.
      yield* entries("org_elsewhere", [announced, announced, announced, announced])
      yield* entries("org_default", [silent, announced, silent, announced])
      yield* relayed
      const events = yield* EventReadRepo
      const read = Effect.all([events.latest, Effect.map(events.after(0, 9), ({ length }) => length)])
      assert.deepStrictEqual([yield* here(read), yield* elsewhere(read)], [[2, 2], [4, 4]])
      const both = [{ organizationId: "org_default", after: 1 }, { organizationId: "org_elsewhere", after: 3 }]
      assert.strictEqual((yield* events.afterAll(both, 9)).length, 2)

      // Entries without a place yet, too.
      yield* entries("org_elsewhere", [silent, silent])
      yield* entries("org_default", [silent, silent])
      const before = yield* changeLogOf("org_elsewhere")
      assert.strictEqual(yield* erased("org_default"), 6)
      assert.deepStrictEqual(yield* changeLogOf("org_elsewhere"), before)
      yield* relayed
      assert.deepStrictEqual(yield* Effect.forEach(["org_default", "org_elsewhere"], placesOf), [
        [[1, null], [2, 1], [3, null], [4, 2], [5, null], [6, null]],
        [[1, 1], [2, 2], [3, 3], [4, 4], [5, null], [6, null]]
      ])
    }))

  it.effect("are purged each for itself", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* entries("org_young", [announced, announced, announced, announced])
      yield* relayed
      yield* entries("org_old", [silent, announced, silent, announced], 100)
      yield* relayed
      const before = yield* changeLogOf("org_young")
      assert.strictEqual(yield* (yield* ChangeLogPurgeRepo).purge(100, 30), 4)
      assert.deepStrictEqual(yield* changeLogOf("org_young"), before)
      const heads = yield* sql`select purged_position::int4 as position, event_sequence::int4 as sequence
        from outbox_cursors where organization_id = 'org_old'`
      assert.deepStrictEqual(heads, [{ position: 4, sequence: 2 }])
    }))
})
