import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Array, Deferred, Effect, Fiber, Layer, Queue } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { type EventNotice, EventSubscribers } from "../../src/domain/platform/events/EventSubscribers.ts"
import { Relay, RelayWake } from "../../src/domain/platform/events/Relay.ts"
import { RelayStatements } from "../../src/domain/platform/events/RelayStatements.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { placesOf, upTo, writeEntries } from "./ChangeLog.ts"

const Relays = Relay.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(RelayStatements.layer, RelayWake.layer, EventSubscribers.layer)),
  Layer.provideMerge(TestDatabase)
)

const assignPositions = (entries = 500, bytes = 1_000_000) =>
  Effect.flatMap(RelayStatements, ({ assignPositions }) => assignPositions({ entries, bytes }, () => Effect.void))

const relayAll = Effect.repeat(assignPositions(), { while: (count) => count > 0 })

it.layer(Relays, { excludeTestServices: true })("the relay", (it) => {
  it.effect("the relay numbers entries and events without gaps in each organization", () =>
    Effect.gen(function*() {
      for (const type of ["catalog.create", "cart.create", "catalog.update", "brands.create", "cart.afterAddItem"]) {
        yield* writeEntries(1, "org_a", type)
        yield* writeEntries(1, "org_b", type)
      }
      assert.strictEqual(yield* assignPositions(3), 3)
      assert.strictEqual(yield* assignPositions(), 7)
      assert.strictEqual(yield* assignPositions(), 0)
      const places = [[1, 1], [2, null], [3, 2], [4, null], [5, 3]] as const
      assert.deepStrictEqual(yield* placesOf("org_a"), [...places])
      assert.deepStrictEqual(yield* placesOf("org_b"), [...places])
    }))

  it.effect("an entry that was committed later comes later, even if its transaction began earlier", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [begun, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const slow = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
        yield* sql`select 1`
        yield* writeEntries(1, "org_order", "catalog.create")
        yield* Deferred.succeed(begun, undefined)
        yield* Deferred.await(go)
      })))
      yield* Deferred.await(begun)
      yield* writeEntries(1, "org_order", "catalog.update")
      yield* relayAll
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(slow)
      yield* relayAll
      assert.deepStrictEqual(yield* placesOf("org_order"), [[2, 2], [1, 1]])
    }))

  it.effect("many concurrent relays and writers leave no gap and assign no position twice", () =>
    Effect.gen(function*() {
      const writers = Effect.forEach(
        upTo(40),
        (n) => writeEntries(5, n % 2 === 0 ? "org_many" : "org_more"),
        { concurrency: 4, discard: true }
      )
      const relays = Effect.forEach(upTo(4), () => Effect.repeat(assignPositions(7), { times: 20 }), {
        concurrency: 4,
        discard: true
      })
      yield* Effect.all([writers, relays], { concurrency: 2 })
      yield* relayAll
      for (const organization of ["org_many", "org_more"]) {
        const places = (yield* placesOf(organization)).map((
          [position, sequence]
        ) => [Number(position), Number(sequence)])
        assert.deepStrictEqual(places.map(([position]) => position).sort((a = 0, b = 0) => a - b), [...upTo(100)])
        assert.deepStrictEqual(places.map(([, sequence]) => sequence).sort((a = 0, b = 0) => a - b), [...upTo(100)])
      }
    }))

  it.effect("every subscriber receives every event once and in order, even if one fails meanwhile", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const subscribers = yield* EventSubscribers
      const relay = yield* Relay
      yield* relayAll
      yield* sql`create table recorded (organization_id text, sequence bigint, unique (organization_id, sequence))`
      let failures = 3
      yield* subscribers.register((events) =>
        Effect.orDie(Effect.forEach(
          events,
          ({ organizationId, sequence }) => sql`insert into recorded values (${organizationId}, ${sequence})`,
          { discard: true }
        ))
      )
      yield* subscribers.register(() =>
        Effect.suspend(() => failures-- > 0 ? Effect.die(new Error("a subscriber that fails")) : Effect.void)
      )
      yield* writeEntries(5, "org_recorded")
      const running = yield* Effect.forkChild(relay.run)
      const recorded = Effect.map(
        sql<
          { sequence: number }
        >`select sequence::int as sequence from recorded where organization_id = 'org_recorded' order by ctid`,
        (rows) => rows.map(({ sequence }) => sequence)
      )
      yield* Effect.repeat(recorded, { until: (rows) => rows.length === 5 })
      yield* writeEntries(2, "org_recorded", "cart.create")
      yield* writeEntries(2, "org_recorded")
      assert.deepStrictEqual(yield* Effect.repeat(recorded, { until: (rows) => rows.length >= 7 }), upTo(7))
      assert.isBelow(failures, 0)
      yield* Fiber.interrupt(running)
    }))

  it.effect("writers notify a relay that rests, once their change is committed, and no other", () =>
    Effect.gen(function*() {
      const pg = yield* PgClient.PgClient
      const { rest } = yield* RelayStatements
      const heard = yield* pg.listen("stoa_change_log")
      yield* writeEntries(2, "org_notify")
      yield* rest(true)
      yield* writeEntries(3, "org_notify")
      yield* rest(false)
      yield* writeEntries(2, "org_notify")
      yield* pg.notify("stoa_change_log", "the end")
      const payloads = Array.map(yield* Queue.takeBetween(heard, 2, 9), ({ payload }) => payload)
      yield* relayAll
      assert.deepStrictEqual(payloads, ["", "the end"])
    }).pipe(Effect.scoped))

  it.effect("a subscriber receives the id, type and sequence of an event", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const heard: Array<EventNotice> = []
      yield* sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_id,
          actor_type, request_id, source, created_at)
        values ('0190163d-8694-739b-aea5-966c26f8ad91', 'org_one', 'orders.create', 'order', 'o-1', '{"id": "o-1"}',
          'u-1', 'user', 'r-1', 'rest', '2026-01-02T03:04:05.678Z')`
      yield* (yield* RelayStatements).assignPositions({ entries: 10, bytes: 1000 }, (events) =>
        Effect.sync(() => void heard.push(...events)))
      assert.deepStrictEqual(heard, [{
        organizationId: "org_one",
        sequence: 1,
        id: "0190163d-8694-739b-aea5-966c26f8ad91",
        type: "orders.create"
      }])
    }))

  it.effect("a batch ends at its limit in bytes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* writeEntries(1, "org_large")
      yield* sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, before,
          actor_type, source)
        select gen_random_uuid(), 'org_large', 'catalog.update', 'catalog_entity', n::text, random, random, 'user', 'rest'
        from generate_series(1, 5) n cross join lateral (select jsonb_build_object('n', n, 'text',
          (select string_agg(md5((n * 100 + m)::text), '') from generate_series(1, 600) m)) as random) records`
      yield* writeEntries(1, "org_large")
      const sizes = yield* Effect.forEach(upTo(6), () => assignPositions(500, 70_000))
      assert.deepStrictEqual(sizes, [3, 2, 2, 0, 0, 0])
      assert.deepStrictEqual(yield* placesOf("org_large"), upTo(7).map((n) => [n, n] as const))
    }))

  it.effect("a batch of a hundred entries takes as many statements as one entry", () =>
    Effect.gen(function*() {
      const statements = (count: number) =>
        Effect.andThen(
          writeEntries(count, "org_cost"),
          Effect.map(statementsOf(assignPositions()), (sent) => sent.length)
        )
      assert.deepStrictEqual([yield* statements(1), yield* statements(100)], [3, 3])
    }))
})

/** A change log with so many entries that wait, which counts how often it is looked at. */
const changeLogOf = (waiting: number) => {
  const changeLog = { waiting, looks: 0, resting: false }
  const repo = Layer.succeed(RelayStatements, {
    waits: Effect.sync(() => {
      changeLog.looks += 1
      return changeLog.waiting > 0
    }),
    rest: (resting) =>
      Effect.sync(() => {
        changeLog.resting = resting
      }),
    assignPositions: () =>
      Effect.sync(() => {
        const { waiting } = changeLog
        changeLog.waiting = 0
        return waiting
      })
  })
  return {
    changeLog,
    relay: Layer.provide(Layer.provideMerge(Relay.layer, RelayWake.layer), Layer.merge(repo, EventSubscribers.layer))
  }
}

/** How often it is looked at in so many milliseconds. */
const looksIn = (changeLog: { readonly looks: number }, ms: number) =>
  Effect.gen(function*() {
    const before = changeLog.looks
    yield* Effect.repeat(TestClock.adjust(5), { times: ms / 5 - 1 })
    return changeLog.looks - before
  })

it.effect("a relay that hears of writes rests after two quiet seconds, and writers notify it only then", () => {
  const { changeLog, relay } = changeLogOf(0)
  return Effect.gen(function*() {
    const { listening, wake } = yield* RelayWake
    yield* listening(true)
    yield* Effect.forkChild((yield* Relay).run, { startImmediately: true })
    yield* looksIn(changeLog, 1_200)
    assert.isTrue(changeLog.resting)
    assert.strictEqual(yield* looksIn(changeLog, 10_000), 2, "a lost notification costs five seconds")
    changeLog.waiting = 1
    yield* wake
    yield* TestClock.adjust(1)
    assert.deepInclude(changeLog, { waiting: 0, resting: false })
    yield* looksIn(changeLog, 900)
    assert.isFalse(changeLog.resting)
    yield* looksIn(changeLog, 1_500)
    assert.isTrue(changeLog.resting)
    yield* listening(false)
    assert.isAtLeast(yield* looksIn(changeLog, 1_000), 10, "without notifications it goes on to look")
  }).pipe(Effect.provide(relay))
})

it.effect("a relay looks forty times a second while changes come, and ten times after a second without any", () => {
  const { changeLog, relay } = changeLogOf(0)
  return Effect.gen(function*() {
    yield* Effect.forkChild((yield* Relay).run, { startImmediately: true })
    assert.strictEqual(yield* looksIn(changeLog, 1_000), 10)
    changeLog.waiting = 1
    yield* TestClock.adjust(100)
    assert.strictEqual(changeLog.waiting, 0, "the first change after a pause waits for a tenth of a second at most")
    assert.isAtLeast(yield* looksIn(changeLog, 900), 35)
    yield* looksIn(changeLog, 200)
    assert.strictEqual(yield* looksIn(changeLog, 1_000), 10)
  }).pipe(Effect.provide(relay))
})
