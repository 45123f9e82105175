import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { JournalCheckRepo, journalCheckRepoLayer } from "../../src/domain/events/JournalCheckRepo.ts"
import { JournalPurgeRepo, journalPurgeRepoLayer } from "../../src/domain/events/JournalPurgeRepo.ts"
import { redactJournal } from "../../src/domain/events/RedactionRepo.ts"
import { RelayRepo, relayRepoLayer } from "../../src/domain/events/RelayRepo.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { writeEntries } from "./Journal.ts"

const Repos = Layer.mergeAll(relayRepoLayer, journalPurgeRepoLayer, journalCheckRepoLayer).pipe(
  Layer.provideMerge(TestDatabase)
)

/** An organization with a journal of six entries, the odd ones of them events. */
const aJournal = (organization: string) =>
  Effect.gen(function*() {
    for (
      const type of ["catalog.create", "cart.create", "catalog.update", "cart.create", "catalog.update", "cart.create"]
    ) {
      yield* writeEntries(1, organization, type)
    }
    yield* (yield* RelayRepo).seal({ entries: 500, bytes: 1_000_000 }, () => Effect.void)
  })

/** What only somebody with all rights on the database can do: past the triggers. */
const behindTheTriggers = (change: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError.SqlError>) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql.withTransaction(Effect.andThen(sql`set local session_replication_role = replica`, change(sql)))
  )

const flawOf = (organization: string) =>
  Effect.flatMap(JournalCheckRepo, ({ verify }) =>
    Effect.map(verify, (all) => {
      const report = all.find(({ organizationId }) => organizationId === organization)
      return report?.broken?.replace(/ \(.*\)/, "") ?? `${report?.entries} entries hold`
    }))

it.layer(Repos, { excludeTestServices: true })("verifying the journal", (it) => {
  it.effect("holds for what was written, and says where it ends", () =>
    Effect.gen(function*() {
      yield* aJournal("org_whole")
      const [report] = yield* (yield* JournalCheckRepo).verify
      assert.deepInclude(report, { organizationId: "org_whole", entries: 6, broken: null })
      assert.deepInclude(report?.end, { position: 6, sequence: 3 })
      assert.match(report?.end.hash ?? "", /^[0-9a-f]{64}$/)
    }))

  it.effect("holds for entries that were redacted, those too that had no place yet", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [organizationId, entryId] = ["org_redacted", newId()]
      const aCart = sql`insert into journal_entries (id, organization_id, type, entity_type, entity_id, payload,
          actor_type, source, ip)
        values (gen_random_uuid(), ${organizationId}, 'cart.create', 'cart', 'c1', '{"email": "ann@example.test"}',
          'user', 'rest', '10.0.0.1')`
      yield* aCart
      yield* aJournal(organizationId)
      yield* aCart
      const about = { customerId: "none", orderIds: [], cartIds: ["c1"], actorId: "nobody" }
      yield* sql.withTransaction(Effect.gen(function*() {
        const redacted = yield* redactJournal(sql, { organizationId, entryId, others: [], ...about })
        assert.strictEqual(redacted.length, 2)
        yield* sql`insert into journal_entries (id, organization_id, type, entity_type, entity_id, payload, actor_type,
            source)
          values (${entryId}::uuid, ${organizationId}, 'customers.erase', 'customer', 'none',
            ${JSON.stringify({ redacted })}::jsonb, 'user', 'rest')`
      }))
      yield* (yield* RelayRepo).seal({ entries: 500, bytes: 1_000_000 }, () => Effect.void)
      const left = yield* sql`select 1 from journal_entries where ip is not null or payload::text like '%ann@%'`
      assert.deepStrictEqual(left, [])
      assert.strictEqual(yield* flawOf(organizationId), "9 entries hold")
    }))

  const tampered = (
    what: string,
    expected: string,
    change: (sql: SqlClient.SqlClient, organization: string) => Effect.Effect<unknown, SqlError.SqlError>
  ) =>
    it.effect(`finds ${what}`, () =>
      Effect.gen(function*() {
        const organization = `org_${what.replaceAll(" ", "_")}`
        yield* aJournal(organization)
        assert.strictEqual(yield* flawOf(organization), "6 entries hold")
        yield* behindTheTriggers((sql) => change(sql, organization))
        assert.strictEqual(yield* flawOf(organization), expected)
      }))

  tampered(
    "a changed record",
    "position 3 is not what was written",
    (sql, organization) =>
      sql`update journal_entries set payload = '{"n": 2}' where organization_id = ${organization} and position = 3`
  )
  tampered(
    "another actor",
    "position 2 is not what was written",
    (sql, organization) =>
      sql`update journal_entries set actor_id = 'somebody else' where organization_id = ${organization} and position = 2`
  )
  tampered(
    "another time",
    "position 5 is not what was written",
    (sql, organization) =>
      sql`update journal_entries set created_at = created_at - interval '1 microsecond'
      where organization_id = ${organization} and position = 5`
  )
  tampered(
    "a missing entry",
    "position 4 is missing",
    (sql, organization) => sql`delete from journal_entries where organization_id = ${organization} and position = 4`
  )
  tampered(
    "a missing end",
    "position 6 is missing: the chain ends at 6",
    (sql, organization) => sql`delete from journal_entries where organization_id = ${organization} and position = 6`
  )
  tampered(
    "a missing head",
    "the head of the chain is missing",
    (sql, organization) => sql`delete from journal_heads where organization_id = ${organization}`
  )
  tampered(
    "an event that was hushed up",
    "position 3 is not what was written",
    (sql, organization) =>
      sql`update journal_entries set event_sequence = null where organization_id = ${organization} and position = 3`
  )
  tampered(
    "entries that changed places",
    "position 1 has event sequence 2 where 1 is next",
    (sql, organization) =>
      Effect.andThen(
        sql`update journal_entries set position = -position where organization_id = ${organization} and position in (1, 3)`,
        sql`update journal_entries set position = 4 + position where organization_id = ${organization} and position < 0`
      )
  )

  it.effect("holds after a purge from where the journal begins then, and finds what is changed behind it", () =>
    Effect.gen(function*() {
      yield* aJournal("org_purged")
      yield* behindTheTriggers((sql) =>
        sql`update journal_entries set created_at = now() where organization_id <> 'org_purged'`
      )
      const { purge } = yield* JournalPurgeRepo
      assert.isAbove(yield* purge(3, 0), 0)
      const { verify } = yield* JournalCheckRepo
      const left = (yield* verify).find(({ organizationId }) => organizationId === "org_purged")
      assert.isNull(left?.broken)
      yield* behindTheTriggers((sql) =>
        sql`update journal_entries set payload = '{}' where organization_id = 'org_purged' and position = 6`
      )
      assert.strictEqual(yield* flawOf("org_purged"), "position 6 is not what was written")
    }))
})
