import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { EventRepo } from "../../src/domain/platform/events/EventRepo.ts"
import { RelayStatements } from "../../src/domain/platform/events/RelayStatements.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { placesOf, upTo, writeEntries } from "./ChangeLog.ts"

const Repos = Layer.mergeAll(RelayStatements.layer, EventRepo.layer).pipe(Layer.provideMerge(TestDatabase))

const assignPositions = Effect.flatMap(
  RelayStatements,
  ({ assignPositions }) => assignPositions({ entries: 500, bytes: 1_000_000 }, () => Effect.void)
)

/** What the database says to a statement that it refuses; "done" to one that it carries out. */
const answerTo = (statement: Effect.Effect<unknown, SqlError.SqlError>) =>
  Effect.match(statement, {
    onSuccess: () => "done",
    onFailure: ({ reason }) =>
      /the change log [^"]*refused|purged from its beginning/.exec(String(reason.cause))?.[0] ?? String(reason.cause)
  })

it.layer(Repos, { excludeTestServices: true })("the change log", (it) => {
  it.effect("the change log refuses to change, delete or truncate entries, with or without a position", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* writeEntries(2)
      yield* assignPositions
      yield* writeEntries(1)
      for (const where of [sql`position is null`, sql`position = 1`]) {
        const changes = [
          sql`payload = '{}'`,
          sql`type = 'catalog.delete'`,
          sql`before = '{}'`,
          sql`actor_id = 'somebody'`,
          sql`actor_type = 'api_key'`,
          sql`request_id = 'another'`,
          sql`ip = '::1'`,
          sql`user_agent = 'another'`,
          sql`source = 'job'`,
          sql`organization_id = 'org_other'`,
          sql`entity_type = 'order'`,
          sql`entity_id = 'another'`,
          sql`created_at = now()`,
          sql`id = gen_random_uuid()`
        ]
        for (const change of changes) {
          const answer = yield* answerTo(sql`update outbox_events set ${change} where ${where}`)
          assert.strictEqual(answer, "the change log only grows: UPDATE of outbox_events is refused")
          const sealing = yield* answerTo(
            sql`update outbox_events set ${change}, position = 99 where ${where}`
          )
          assert.strictEqual(sealing, "the change log only grows: UPDATE of outbox_events is refused")
        }
        const deleting = yield* answerTo(sql`delete from outbox_events where ${where}`)
        assert.strictEqual(deleting, "the change log only grows: DELETE of outbox_events is refused")
      }
      const moved = yield* answerTo(sql`update outbox_events set position = 9, event_sequence = 9 where position = 1`)
      assert.strictEqual(moved, "the change log only grows: UPDATE of outbox_events is refused")
      // A redaction may take out what names a person, and change nothing else.
      const redaction = (set: string) =>
        answerTo(sql.withTransaction(Effect.andThen(
          sql`select set_config('stoa.outbox_redaction', 'on', true)`,
          sql`update outbox_events set ip = null, user_agent = null, ${sql.literal(set)}
            where position = 1`
        )))
      const refused = [
        `payload = '{"n": 9}'`,
        `payload = payload || '{"added": null}'`,
        "payload = payload - 'n'",
        "payload = 'null'",
        "before = '{}'",
        "actor_id = 'x'",
        "position = 9"
      ]
      for (const set of refused) {
        assert.strictEqual(yield* redaction(set), "the change log only grows: UPDATE of outbox_events is refused", set)
      }
      assert.strictEqual(yield* redaction("payload = outbox_anonymous(payload)"), "done")
      assert.strictEqual(yield* redaction("payload = outbox_blanked(payload, array['n'])"), "done")
      const truncated = yield* answerTo(sql`truncate outbox_events`)
      assert.strictEqual(truncated, "the change log only grows: TRUNCATE of outbox_events is refused")
    }))

  it.effect("a cursor of the change log never moves back", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* writeEntries(1)
      yield* assignPositions
      for (const change of [sql`position = 0`, sql`event_sequence = 0`, sql`organization_id = 'org_other'`]) {
        const answer = yield* answerTo(sql`update outbox_cursors set ${change}`)
        assert.strictEqual(answer, "the change log only grows: UPDATE of outbox_cursors is refused")
      }
      assert.strictEqual(
        yield* answerTo(sql`delete from outbox_cursors`),
        "the change log only grows: DELETE of outbox_cursors is refused"
      )
      assert.strictEqual(
        yield* answerTo(sql`truncate outbox_cursors`),
        "the change log only grows: TRUNCATE of outbox_cursors is refused"
      )
    }))

  it.effect("the change log is purged from its beginning only", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* writeEntries(5, "org_purged")
      yield* assignPositions
      const purging = (statement: Effect.Effect<unknown, SqlError.SqlError>) =>
        answerTo(
          sql.withTransaction(Effect.andThen(sql`select set_config('stoa.outbox_purge', 'on', true)`, statement))
        )
      const middle = yield* purging(
        sql`delete from outbox_events where organization_id = 'org_purged' and position = 3`
      )
      assert.strictEqual(middle, "purged from its beginning")
      const first = yield* purging(
        sql`delete from outbox_events where organization_id = 'org_purged' and position = 1`
      )
      assert.strictEqual(first, "purged from its beginning", "its head does not say so")
      const hole = yield* purging(Effect.andThen(
        sql`update outbox_cursors set purged_position = 3 where organization_id = 'org_purged'`,
        sql`delete from outbox_events where organization_id = 'org_purged' and position in (1, 3)`
      ))
      assert.strictEqual(hole, "purged from its beginning", "an older one would stay")
      assert.deepStrictEqual((yield* placesOf("org_purged")).map(([position]) => position), [...upTo(5)])
    }))

  it.effect("the purge stops at the first recent entry, even if older ones follow", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { purge } = yield* EventRepo
      const aged = (organization: string, days: number) =>
        sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_type, source,
            created_at)
          values (gen_random_uuid(), ${organization}, 'cart.create', 'cart', 'c', '{}', 'user', 'rest',
            now() - make_interval(days => ${days}))`
      for (const days of [100, 90, 80, 1, 70, 60]) yield* aged("org_old", days)
      for (const days of [100, 90]) yield* aged("org_older", days)
      yield* aged("org_young", 2)
      yield* assignPositions
      yield* aged("org_waiting", 100)
      assert.strictEqual(yield* purge(2, 30), 2)
      assert.strictEqual(yield* purge(100, 30), 3)
      assert.strictEqual(yield* purge(100, 30), 0)
      const left = (organization: string) => Effect.map(placesOf(organization), (rows) => rows.map(([place]) => place))
      assert.deepStrictEqual(yield* left("org_old"), [4, 5, 6])
      assert.deepStrictEqual(yield* left("org_older"), [])
      assert.deepStrictEqual(yield* left("org_young"), [1])
      assert.deepStrictEqual(yield* left("org_waiting"), [null])
    }))

  it.effect("the change log drops values under secret keys, for every writer", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const record = {
        title: "kept",
        password: "p",
        nested: [{ apiKey: "k", api_key: "k", name: "kept" }],
        metadata: {
          "paymentMethodToken": "t",
          cardNumber: "4",
          cvc: "1",
          "a\"secret": 1,
          cartSecretHash: "h",
          deep: { iban: "i" }
        },
        list: []
      }
      yield* sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, before,
          actor_type, source)
        values (gen_random_uuid(), 'org_secret', 'cart.create', 'cart', 'c', ${JSON.stringify(record)}::jsonb,
          ${JSON.stringify(record)}::jsonb, 'user', 'rest')`
      const rows = yield* sql`select payload, before from outbox_events where organization_id = 'org_secret'`
      const clean = { title: "kept", nested: [{ name: "kept" }], metadata: { deep: {} }, list: [] }
      assert.deepStrictEqual(rows, [{ payload: clean, before: clean }])
    }))

  it.effect("each value under a secret key is dropped where it is the only one, and null is none", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const records = [
        { secret: "s" },
        { before: 1, "my secret": 0 },
        { "a\"secret": [1] },
        { "secret\"b": { c: 1 } },
        { "\\": "x", deep: [{ "api_key\\": true, name: "null" }] },
        { payment: { clientSecret: null }, title: "A token: null" },
        { payment: { clientSecret: null }, token: "t" }
      ]
      const stored = yield* Effect.forEach(
        records,
        (record) =>
          sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_type, source)
          values (gen_random_uuid(), 'org_one_secret', 'cart.create', 'cart', 'c', ${JSON.stringify(record)}::jsonb,
            'user', 'rest') returning payload`
      )
      assert.deepStrictEqual(stored.map(([row]) => row?.["payload"]), [
        {},
        { before: 1 },
        {},
        {},
        { "\\": "x", deep: [{ name: "null" }] },
        { payment: { clientSecret: null }, title: "A token: null" },
        { payment: { clientSecret: null } }
      ])
    }))

  it.effect("an organization has no position and no sequence twice, for every writer", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const placed = (organization: string, position: number, sequence: number | null) =>
        answerTo(
          sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_type,
            source, position, event_sequence)
          values (gen_random_uuid(), ${organization}, 'cart.create', 'cart', 'c', '{}', 'user', 'rest', ${position}, ${sequence}::bigint)`
        )
      assert.strictEqual(yield* placed("org_twice", 1, 1), "done")
      assert.strictEqual(yield* placed("org_beside", 1, 1), "done")
      assert.include(yield* placed("org_twice", 1, null), "outbox_events_position")
      assert.include(yield* placed("org_twice", 2, 1), "outbox_events_sequence")
      assert.strictEqual(yield* placed("org_twice", 2, 2), "done")
    }))
})
