import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { EventReadRepo, eventReadRepoLayer } from "../../src/domain/events/EventReadRepo.ts"
import { JournalCheckRepo, journalCheckRepoLayer } from "../../src/domain/events/JournalCheckRepo.ts"
import { JournalPurgeRepo, journalPurgeRepoLayer } from "../../src/domain/events/JournalPurgeRepo.ts"
import { redactJournal } from "../../src/domain/events/RedactionRepo.ts"
import { RelayRepo, relayRepoLayer } from "../../src/domain/events/RelayRepo.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { elsewhere, here } from "./Strangers.ts"

const Repos = Layer.mergeAll(
  eventReadRepoLayer,
  journalCheckRepoLayer,
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

const flaws = Effect.flatMap(
  JournalCheckRepo,
  ({ verify }) =>
    Effect.map(
      verify,
      (all) => all.map(({ broken, entries: count, organizationId }) => [organizationId, count, broken])
    )
)

/** Takes a person out of an organization's journal; the entry that tells of it is in the name of one of them. */
const erased = Effect.fnUntraced(function*(organizationId: string, teller: string) {
  const sql = yield* SqlClient.SqlClient
  const entryId = newId()
  const about = {
    organizationId,
    entryId,
    customerId: "none",
    orderIds: [],
    cartIds: ["c1"],
    others: [],
    actorId: "ann"
  }
  yield* sql.withTransaction(Effect.gen(function*() {
    const redacted = yield* redactJournal(sql, about)
    yield* sql`insert into journal_entries (id, organization_id, type, entity_type, entity_id, payload, actor_type, source)
      values (${entryId}::uuid, ${teller}, 'customers.erase', 'customer', 'none',
        ${JSON.stringify({ redacted })}::jsonb, 'user', 'rest')`
  }))
})

const flawOf = (organization: string) => Effect.map(flaws, (all) => all.find(([of]) => of === organization)?.slice(1))

const announced = "catalog.create"
const silent = "cart.create"

it.layer(Repos, { excludeTestServices: true })("the journals of two organizations about the same things", (it) => {
  it.effect("are chained, read, and taken out of, each for itself", () =>
    Effect.gen(function*() {
      // The other's come first, and every one of them is an event.
      yield* entries("org_elsewhere", [announced, announced, announced, announced])
      yield* entries("org_default", [silent, announced, silent, announced])
      yield* seal
      assert.deepStrictEqual(yield* flaws, [["org_default", 4, null], ["org_elsewhere", 4, null]])
      const events = yield* EventReadRepo
      const read = Effect.all([events.latest, Effect.map(events.after(0, 9), ({ length }) => length)])
      assert.deepStrictEqual([yield* here(read), yield* elsewhere(read)], [[2, 2], [4, 4]])
      const both = [{ organizationId: "org_default", after: 1 }, { organizationId: "org_elsewhere", after: 3 }]
      assert.strictEqual((yield* events.afterAll(both, 9)).length, 2)

      // Entries without a place yet, too.
      yield* entries("org_elsewhere", [silent, silent])
      yield* entries("org_default", [silent, silent])
      const before = yield* journalOf("org_elsewhere")
      yield* erased("org_default", "org_default")
      assert.deepStrictEqual(yield* journalOf("org_elsewhere"), before)
      yield* seal
      assert.deepStrictEqual(yield* flaws, [["org_default", 7, null], ["org_elsewhere", 6, null]])
    }))

  it.effect("do not vouch for what was taken out of the other", () =>
    Effect.gen(function*() {
      yield* entries("org_ours", [silent, silent])
      yield* seal
      yield* erased("org_ours", "org_other")
      yield* seal
      assert.notDeepEqual(yield* flawOf("org_ours"), [2, null])
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
      const heads = yield* sql`select purged_position::int4 as position, purged_sequence::int4 as sequence
        from journal_heads where organization_id = 'org_old'`
      assert.deepStrictEqual(heads, [{ position: 4, sequence: 2 }])
      assert.deepStrictEqual([yield* flawOf("org_old"), yield* flawOf("org_young")], [[0, null], [4, null]])
    }))
})
