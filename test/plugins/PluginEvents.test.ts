import { assert, layer } from "@effect/vitest"
import { Context, Data, Deferred, Effect, Fiber, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import {
  type Conflict,
  CurrentActor,
  definePlugin,
  type EventCall,
  group,
  PluginContext,
  table,
  Text,
  text,
  type ValidationFailed
} from "stoa/plugin"
import { EventDispatchRepo } from "../../src/domain/platform/events/EventDispatchRepo.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, at, live, testAppLayer } from "../support/TestApp.ts"

const routes = group("Boxes", "/boxes")

/** Announces that a box moved, as often as it is asked. */
const boxes = definePlugin({
  id: "boxes",
  version: "1.0.0",
  events: ["box.moved", "box.lost"],
  routes: () => [
    routes.post("/:id/moves", {
      auth: true,
      input: Schema.Struct({ to: Schema.Array(Text).check(Schema.isMaxLength(10)) })
    })
      .handle(({ db, input, params }) =>
        Effect.forEach(
          input.to,
          (to) => db.announce("box.moved", { entityType: "box", entityId: params.id, payload: { to } }),
          { discard: true }
        )
      )
  ]
})

const places = table("places", { boxId: text, place: text })

/** What handlers were given, `box:place`, and how they fail: so many times for a place. */
const seen: Array<string> = []
const failures = new Map<string, number>()
const given: Array<EventCall & { readonly role: string }> = []

class Unreachable extends Data.TaggedError("Unreachable")<{ readonly message: string }> {}

class Places extends Context.Service<Places, {
  readonly note: (box: string, place: string) => Effect.Effect<unknown, Conflict | ValidationFailed, CurrentActor>
}>()("test/plugins/Places") {
  static readonly layer = Layer.effect(
    Places,
    Effect.map(PluginContext, ({ db }) => ({
      note: (boxId: string, place: string) => db.transaction(db.table(places).insert({ boxId, place }))
    }))
  )
}

const tracker = definePlugin({
  id: "tracker",
  version: "1.0.0",
  requires: ["boxes"],
  schema: () => [places],
  layer: Places.layer,
  onEvents: {
    "customers.create": (call) =>
      Effect.map(CurrentActor, ({ role }) => {
        given.push({ ...call, role })
      }),
    "boxes/*": {
      retries: { attempts: 3, backoff: { type: "fixed", delay: 20 } },
      handler: ({ event }) =>
        Effect.gen(function*() {
          const place = String(event.data["to"])
          seen.push(`${event.entityId}:${place}`)
          const left = failures.get(place) ?? 0
          failures.set(place, left - 1)
          if (left > 0) return yield* new Unreachable({ message: `${place} cannot be reached` })
          return yield* Effect.flatMap(Places, ({ note }) => note(event.entityId, place))
        })
    }
  }
})

const move = (id: string, ...to: ReadonlyArray<string>) =>
  api("POST", `/api/boxes/${id}/moves`, { as: asAdmin, body: { to } })
const seenOf = (id: string) => seen.filter((one) => one.startsWith(id)).map((one) => one.slice(id.length + 1))
const settled = eventually(
  "all events to be handled",
  onDatabase((sql) => Effect.map(sql`select 1 from event_dispatches`, ({ length }) => length === 0))
)

const withPlugins = layer(testAppLayer({ plugins: [boxes, tracker] }), live)

withPlugins("a handler of events", (it) => {
  it.effect("gets an event of the core, as the service itself in its organization", () =>
    Effect.gen(function*() {
      const customer = yield* api("POST", "/api/customers", { as: asAdmin, body: { email: "a@example.com" } })
      yield* eventually("the event", Effect.sync(() => given.length === 1))
      const [call] = given
      assert.deepInclude(call, { role: "system", organizationId: "org_default", attemptNumber: 1 })
      assert.deepInclude(call?.event, { type: "customers.create", entityId: customer.text("data.id") })
      assert.strictEqual(call?.event.data["email"], "a@example.com")
      assert.instanceOf(call?.event.timestamp, Date)
    }))

  it.effect("gets a record's events of another plugin in order, and one that fails keeps no other record waiting", () =>
    Effect.gen(function*() {
      const [slow, other] = [randomUUID(), randomUUID()]
      failures.set("a", 2)
      yield* move(slow, "a", "b", "c")
      yield* move(other, "x", "y")
      yield* eventually("the last events", Effect.sync(() => seenOf(slow).includes("c") && seenOf(other).includes("y")))
      yield* settled
      assert.deepStrictEqual(seenOf(slow), ["a", "a", "a", "b", "c"])
      assert.deepStrictEqual(seenOf(other), ["x", "y"])
      const rows = yield* onDatabase((sql) =>
        sql`select place from places where box_id = ${slow} order by created_at, id`
      )
      assert.deepStrictEqual(rows.map(({ place }) => place).sort(), ["a", "b", "c"])
    }))

  it.effect("gives an event up after its tries: later ones follow, and an operator has it tried again", () =>
    Effect.gen(function*() {
      const id = randomUUID()
      failures.set("far", 3)
      yield* move(id, "far", "near")
      yield* eventually("the later event", Effect.sync(() => seenOf(id).includes("near")))
      assert.deepStrictEqual(seenOf(id), ["far", "far", "far", "near"])
      const failed = (yield* api("GET", "/api/admin/jobs/failed", { as: asAdmin })).list("data")
      const [job] = failed.filter((one) => at(one, "input.entityId") === id)
      assert.deepStrictEqual([at(job, "taskSlug"), at(job, "error")], ["tracker/on/boxes/*", "far cannot be reached"])
      yield* api("POST", `/api/admin/jobs/${String(at(job, "id"))}/retry`, { as: asAdmin })
      yield* settled
      assert.deepStrictEqual(seenOf(id), ["far", "far", "far", "near", "far"])
    }))

  it.effect("gets an event again when its process ends before the end is recorded", () =>
    Effect.gen(function*() {
      const id = randomUUID()
      yield* onDatabase((sql) =>
        Effect.all([
          // A sequence is not rolled back: the first end alone fails.
          sql`create sequence ends_so_far`,
          sql`create function ends() returns trigger language plpgsql as $$ begin
            if nextval('ends_so_far') = 1 then raise exception 'the connection is gone'; end if; return old; end $$`,
          sql`create trigger ends before delete on event_dispatches for each row execute function ends()`
        ])
      )
      yield* move(id, "here")
      yield* eventually("the second try", Effect.sync(() => seenOf(id).length === 2))
      yield* settled
    }))

  it.effect("gets an event whose job was lost", () =>
    Effect.gen(function*() {
      const before = seen.length
      yield* onDatabase((sql) =>
        sql`insert into event_dispatches (organization_id, subscription, entity_type, entity_id, sequence, event_id,
            touched_at)
          select organization_id, 'tracker/on/boxes/*', 'box', 'b', event_sequence, id, now() - interval '1 day'
          from outbox_events where type = 'box.moved' order by event_sequence limit 1`
      )
      yield* onDatabase((sql) =>
        sql`with made as (insert into commerce_jobs (id, organization_id, task_slug, max_attempts)
            values (${newId()}::uuid, 'org_default', 'events/dispatches', 1) returning queue)
          select pg_notify('stoa_jobs', queue) from made`
      )
      yield* eventually("the event", Effect.sync(() => seen.length > before))
      yield* settled
    }))

  it.effect("is woken for an event that is written while the one before it ends", () =>
    Effect.gen(function*() {
      const [repo, sql] = [yield* EventDispatchRepo, yield* SqlClient.SqlClient]
      const [id, at, woken] = [randomUUID(), new Date(), new Array<number>()]
      yield* move(id, "p", "q")
      yield* eventually("both events", Effect.sync(() => seenOf(id).length === 2))
      const rows = yield* sql<
        { id: string }
      >`select id from outbox_events where entity_id = ${id} order by event_sequence`
      const open = (n: number) => repo.open([{ eventId: rows[n]?.id ?? "", subscriptions: ["other/on/*"] }], at)
      const [first] = yield* open(0)
      if (first === undefined) return assert.fail("the first one has a job")
      const [written, committing] = [yield* Deferred.make<number>(), yield* Deferred.make<void>()]
      const relay = Effect.gen(function*() {
        yield* Deferred.succeed(written, (yield* open(1)).length)
        yield* Deferred.await(committing)
      })
      const relaying = yield* Effect.forkChild(sql.withTransaction(relay))
      assert.strictEqual(yield* Deferred.await(written), 0)
      const wake: Parameters<typeof repo.end>[2] = (next) =>
        Effect.sync(() => void woken.push(...next.map(({ sequence }) => sequence)))
      const ending = yield* Effect.forkChild(repo.end(first, "handled", wake))
      yield* eventually(
        "the end to wait",
        onDatabase((own) => Effect.map(own`select 1 from pg_locks where not granted`, ({ length }) => length > 0))
      )
      yield* Deferred.succeed(committing, undefined)
      yield* Effect.all([Fiber.join(relaying), Fiber.join(ending)])
      assert.strictEqual(woken.length, 1)
    }).pipe(Effect.orDie))
})
