import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { EventReadRepo, eventReadRepoLayer } from "../../src/domain/events/EventReadRepo.ts"
import { JournalPurgeRepo, journalPurgeRepoLayer } from "../../src/domain/events/JournalPurgeRepo.ts"
import { redactJournal } from "../../src/domain/events/RedactionRepo.ts"
import { RelayRepo, relayRepoLayer } from "../../src/domain/events/RelayRepo.ts"
import { placesOf } from "../events/Journal.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { elsewhere, here } from "./Strangers.ts"

const Repos = Layer.mergeAll(
  eventReadRepoLayer,
  journalPurgeRepoLayer,
  relayRepoLayer
).pipe(Layer.provideMerge(TestDatabase))

/** Entries about a cart and about something else, all of them by one person; those of an organization are of these types. */
const entries = (organization: string, types: ReadonlyArray<string>, daysAgo = 0) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`insert into journal_entries (id, organization_id, type, entity_type, entity_id, payload, actor_type, actor_id,
        source, ip, created_at)
      select gen_random_uuid(), ${organization}, t, case when n % 2 = 0 then 'cart' else 'brand' end, 'c1',
        '{"email": "ann@example.test"}', 'user', 'ann', 'rest', '10.0.0.1', now() - make_interval(days => ${daysAgo})
      from unnest(${[...types]}::text[]) with ordinality u(t, n) order by n`
  )

const seal = Effect.flatMap(RelayRepo, (relay) => relay.seal({ entries: 500, bytes: 1_000_000 }, () => Effect.void))

/** All that the journal of an organization says, and its head. */
const journalOf = (organization: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`select e::text as row from journal_entries e where organization_id = ${organization}
      union all select h::text from journal_heads h where organization_id = ${organization} order by 1`
  )

/** Takes a person out of an organization's journal; gives how many entries changed. */
const erased = Effect.fnUntraced(function*(organizationId: string) {
  const sql = yield* SqlClient.SqlClient
  const about = { organizationId, customerId: "none", orderIds: [], cartIds: ["c1"], others: [], actorId: "ann" }
  return yield* sql.withTransaction(redactJournal(sql, about))
})

const announced = "catalog.create"
const silent = "cart.create"

it.layer(Repos, { excludeTestServices: true })("the journals of two organizations about the same things", (it) => {
  it.effect("are sequenced, read and redacted each on their own", () =>
    Effect.gen(function*() {
      // The other's come first, and every one of them is an event.
      yield* entries("org_elsewhere", [announced, announced, announced, announced])
      yield* entries("org_default", [silent, announced, silent, announced])
      yield* seal
      const events = yield* EventReadRepo
      const read = Effect.all([events.latest, Effect.map(events.after(0, 9), ({ length }) => length)])
      assert.deepStrictEqual([yield* here(read), yield* elsewhere(read)], [[2, 2], [4, 4]])
      const both = [{ organizationId: "org_default", after: 1 }, { organizationId: "org_elsewhere", after: 3 }]
      assert.strictEqual((yield* events.afterAll(both, 9)).length, 2)

      // Entries without a place yet, too.
      yield* entries("org_elsewhere", [silent, silent])
      yield* entries("org_default", [silent, silent])
      const before = yield* journalOf("org_elsewhere")
      assert.strictEqual(yield* erased("org_default"), 6)
      assert.deepStrictEqual(yield* journalOf("org_elsewhere"), before)
      yield* seal
      assert.deepStrictEqual(yield* Effect.forEach(["org_default", "org_elsewhere"], placesOf), [
        [[1, null], [2, 1], [3, null], [4, 2], [5, null], [6, null]],
        [[1, 1], [2, 2], [3, 3], [4, 4], [5, null], [6, null]]
      ])
    }))

  it.effect("are purged each for itself", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* entries("org_young", [announced, announced, announced, announced])
      yield* seal
      yield* entries("org_old", [silent, announced, silent, announced], 100)
      yield* seal
      const before = yield* journalOf("org_young")
      assert.strictEqual(yield* (yield* JournalPurgeRepo).purge(100, 30), 4)
      assert.deepStrictEqual(yield* journalOf("org_young"), before)
      const heads = yield* sql`select purged_position::int4 as position, event_sequence::int4 as sequence
        from journal_heads where organization_id = 'org_old'`
      assert.deepStrictEqual(heads, [{ position: 4, sequence: 2 }])
    }))
})
