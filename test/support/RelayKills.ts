import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { onDatabase } from "./Audit.ts"
import { eventually } from "./Eventually.ts"
import { freshDatabase } from "./Postgres.ts"
import { placeOf, startService, talkingTo } from "./Service.ts"
import { persistently } from "./ServiceCalls.ts"
import { api, asAdmin, inOrganization } from "./TestApp.ts"

const organizations = ["org_default", "org_second", "org_third"] as const

/** The process of a connection, which every process says when it connects. */
const nameOf = (n: number) => `runner-${n}`
const connectingAs = (url: string, name: string) => `${url}?options=${encodeURIComponent(`-c stoa.process=${name}`)}`

/**
 * Records which process relayed which event, in the transaction of the relay, and makes that transaction last a tenth of a
 * second behind its writes, under the name of its process: so that a kill can hit it there.
 */
const watchRelay = (url: string) =>
  onDatabase(url, (sql) =>
    Effect.all([
      sql`create table recorded (event_id uuid not null, process text not null)`,
      sql`create function note_recorded() returns trigger language plpgsql as $$ begin
        insert into recorded select event_id, current_setting('stoa.process') from opened;
        perform set_config('application_name', 'relay ' || current_setting('stoa.process'), true);
        perform pg_sleep(0.1);
        return null;
      end $$`,
      sql`create trigger relayed after insert on webhook_messages referencing new table as opened
        for each statement execute function note_recorded()`,
      ...organizations.map((id) =>
        sql`insert into organizations (id, slug, name) values (${id}, ${id}, ${id}) on conflict do nothing`
      )
    ], { discard: true }))

/** The name of the process whose relay is in the middle of a transaction. */
const relaying = (url: string) =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql<{ name: string }>`select substr(application_name, 7) as name from pg_stat_activity
        where datname = current_database() and application_name like 'relay %' and wait_event = 'PgSleep'`,
      ([row]) => row?.name
    ))

/** Changes a product of an organization again and again until `done`. */
const changing = Effect.fnUntraced(function*(organization: string, done: () => boolean) {
  const as = inOrganization(organization, asAdmin)
  const body = { type: "product", slug: "changing", status: "active", attributes: { title: "Changing" } }
  const made = yield* persistently(api("POST", "/api/catalog/entities", { as, body }))
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  for (let change = 1; !done(); change++) {
    const body = { metadata: { change } }
    const changed = yield* persistently(api("PATCH", `/api/catalog/entities/${made.text("data.id")}`, { as, body }))
    assert.strictEqual(changed.status, 200, JSON.stringify(changed.body))
  }
})

/** Asserts that the change log and what was relayed from it keep all rules. */
const auditRelay = Effect.fnUntraced(function*(url: string) {
  const found = yield* onDatabase(
    url,
    (sql) =>
      sql`select 'positions' as rule, organization_id as example from outbox_events group by organization_id
      having count(*) <> max(position) or count(distinct position) <> count(*)
    union all
    select 'sequences', organization_id from outbox_events where event_sequence is not null group by organization_id
      having count(*) <> max(event_sequence) or count(distinct event_sequence) <> count(*)
    union all
    select 'relayed once', e.id::text from outbox_events e where event_sequence is not null
      and (select count(*) from recorded t where t.event_id = e.id) <> 1
    union all
    select 'one dispatch', e.id::text from outbox_events e where event_sequence is not null
      and (select count(*) from webhook_dispatches d where d.event_id = e.id) <> 1
    union all
    select 'one job', e.id::text from outbox_events e where event_sequence is not null
      and (select count(*) from commerce_jobs j where j.task_slug = 'webhooks/deliver' and j.input->>'eventId' = e.id::text) <> 1
    union all
    select 'nothing else relayed', t.event_id::text from recorded t
      where not exists (select 1 from outbox_events e where e.id = t.event_id and e.event_sequence is not null)`
  )
  assert.deepStrictEqual(found, [])
})

/** Sequences of an organization's events as the API returns them, page by page. */
const sequencesOf = Effect.fnUntraced(function*(organization: string) {
  const all: Array<unknown> = []
  for (let after = 0;;) {
    const page = yield* api("GET", `/api/events?after=${after}&limit=100`, {
      as: inOrganization(organization, asAdmin)
    })
    const events = page.list("data")
    if (events.length === 0) return all
    all.push(...events.map((_, n) => page.at(`data.${n}.sequence`)))
    after = page.number("meta.next")
  }
})

const counts = (url: string) =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql<{ entries: number; waiting: number; recorded: number; by: number }>`select count(*)::int4 as entries,
        (count(*) filter (where position is null))::int4 as waiting, (select count(*)::int4 from recorded) as recorded,
        (select count(distinct process)::int4 from recorded) as by from outbox_events`,
      ([row]) => row ?? { entries: 0, waiting: -1, recorded: 0, by: 0 }
    ))

/**
 * Whichever of two processes runs the relay is killed in the middle of one of its transactions, so many times, while
 * three organizations make changes; then what it wrote is audited.
 */
export const relayUnderKills = Effect.fnUntraced(function*(kills: number) {
  const { url } = yield* freshDatabase
  yield* watchRelay(url)
  const environment = { STOA_WEBHOOKS_ALLOW_PRIVATE: "true", STOA_JOBS_AUTORUN: "false" }
  const [edge, ...places] = yield* Effect.all([
    startService({ databaseUrl: url, role: "api", environment }),
    placeOf({ databaseUrl: connectingAs(url, nameOf(0)), role: "runner", environment }),
    placeOf({ databaseUrl: connectingAs(url, nameOf(1)), role: "runner", environment })
  ], { concurrency: 3 })
  const app = talkingTo(edge, url)
  return yield* Effect.gen(function*() {
    for (const organization of organizations) {
      const body = { url: "https://shop.invalid/hook", events: ["*"] }
      yield* api("POST", "/api/webhooks", { as: inOrganization(organization, asAdmin), body })
    }
    let closing = false
    const load = yield* Effect.forkChild(
      Effect.forEach(organizations, (organization) => changing(organization, () => closing), {
        concurrency: "unbounded",
        discard: true
      })
    )
    for (let kill = 0; kill < kills; kill++) {
      const before = (yield* counts(url)).recorded
      const name = yield* eventually(
        "a relay in the middle of a batch, after others went well",
        Effect.gen(function*() {
          return (yield* counts(url)).recorded > before ? yield* relaying(url) : undefined
        })
      )
      const place = places.find((_, n) => nameOf(n) === name)
      assert.isDefined(place)
      // In turn the other process has to take over, and the successor has to go on, which is there much earlier.
      if (kill % 2 === 1) yield* place.strike
      else {
        yield* place.kill
        const recorded = (yield* counts(url)).recorded
        yield* eventually("a takeover", Effect.map(counts(url), (now) => now.recorded > recorded))
        yield* place.replace
      }
    }
    closing = true
    yield* Fiber.join(load)
    yield* eventually("all to have their places", Effect.map(counts(url), ({ waiting }) => waiting === 0))
    yield* auditRelay(url)
    for (const organization of organizations) {
      const sequences = yield* sequencesOf(organization)
      assert.deepStrictEqual(sequences, Array.from({ length: sequences.length }, (_, n) => n + 1))
    }
    return yield* counts(url)
  }).pipe(Effect.provide(app))
})
