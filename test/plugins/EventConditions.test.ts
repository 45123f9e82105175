import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { boolean, definePlugin, group, rowIn, table, Text, text, uuid } from "stoa/plugin"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { waiting } from "../support/AtOnce.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, inOrganization, testAppLayer } from "../support/TestApp.ts"

const routes = group("Parcels", "/parcels")

/** Announces that a parcel moved. */
const parcels = definePlugin({
  id: "parcels",
  version: "1.0.0",
  events: ["parcel.moved"],
  routes: () => [
    routes.post("/moves", { auth: true, input: Schema.Struct({ id: Text, to: Text }) })
      .handle(({ db, input: { id, to } }) =>
        db.announce("parcel.moved", { entityType: "parcel", entityId: id, payload: { to } })
      )
  ]
})

const byText = table("watch_by_text", { parcelId: text.unique() })
const byId = table("watch_by_id", { parcelId: uuid.unique() })
const byName = table("watch_by_name", { event: text.unique(), isActive: boolean })

const seen: Array<string> = []
const noting = (name: string) => ({ event }: { readonly event: { readonly entityId: string } }) =>
  Effect.sync(() => void seen.push(`${name} ${event.entityId}`))

/** Plugins with one subscription each, which is concerned by some events. */
const watchers = [
  definePlugin({
    id: "row",
    version: "1.0.0",
    schema: () => [byText],
    onEvents: { "parcel.moved": { handler: noting("row"), only: { rowsIn: [rowIn(byText, { column: "parcelId" })] } } }
  }),
  definePlugin({
    id: "id",
    version: "1.0.0",
    schema: () => [byId],
    onEvents: { "*": { handler: noting("id"), only: { rowsIn: [rowIn(byId, { column: "parcelId" })] } } }
  }),
  definePlugin({
    id: "name",
    version: "1.0.0",
    schema: () => [byName],
    onEvents: {
      "*": {
        handler: noting("name"),
        only: { rowsIn: [rowIn(byName, { column: "event", equals: "type", where: { isActive: true } })] }
      }
    }
  }),
  definePlugin({
    id: "path",
    version: "1.0.0",
    onEvents: { "parcels/*": { handler: noting("path"), only: { record: `$.to ? (@ == "far")` } } }
  }),
  definePlugin({
    id: "strict",
    version: "1.0.0",
    onEvents: { "parcels/*": { handler: noting("strict"), only: { record: "strict $.weight" } } }
  })
]

const other = "org_conditions"
const move = (id: string, to = "near", as: object = asAdmin) =>
  api("POST", "/api/parcels/moves", { as, body: { id, to } })
const elsewhere = inOrganization(other, asAdmin)

const watch = (name: string, column: string, value: string, organization = "org_default") =>
  onDatabase((sql) =>
    sql`insert into ${sql(`watch_by_${name}`)} (organization_id, ${sql(column)}) values
      (${organization}, ${value}::text::${sql.literal(name === "id" ? "uuid" : "text")})`
  )

const relayed = eventually(
  "all events to have their place and to be handled",
  onDatabase((sql) =>
    Effect.map(
      sql`select 1 from outbox_events where position is null union all select 1 from event_dispatches`,
      ({ length }) => length === 0
    )
  )
)

/** Who handled events of the parcel; no other plugin got a job. */
const handledBy = (id: string) =>
  Effect.gen(function*() {
    yield* relayed
    const jobs = yield* onDatabase((sql) =>
      sql`select split_part(task_slug, '/', 1) as name from commerce_jobs where input->>'entityId' = ${id}`
    )
    const own = seen.filter((one) => one.endsWith(` ${id}`)).map((one) => one.split(" ")[0]).sort()
    assert.deepStrictEqual(jobs.map(({ name }) => name).sort(), own)
    // Without a value to look at, it is concerned.
    return own.filter((name) => name !== "strict")
  })

layer(testAppLayer({ plugins: [parcels, ...watchers] }), { excludeTestServices: true, timeout: "60 seconds" })(
  "a condition of a subscription",
  (it) => {
    it.effect("that is false makes no job, and one that is true makes one", () =>
      Effect.gen(function*() {
        const [none, one, far] = [randomUUID(), randomUUID(), randomUUID()]
        yield* watch("text", "parcel_id", one)
        yield* watch("id", "parcel_id", one)
        for (const id of [none, one]) yield* move(id)
        yield* move(far, "far")
        assert.deepStrictEqual(yield* handledBy(none), [])
        assert.deepStrictEqual(yield* handledBy(one), ["id", "row"])
        assert.deepStrictEqual(yield* handledBy(far), ["path"])
      }))

    it.effect("about ids meets records whose ids are texts, and fails for none", () =>
      Effect.gen(function*() {
        yield* watch("text", "parcel_id", "crate 7")
        yield* move("crate 7")
        assert.deepStrictEqual(yield* handledBy("crate 7"), ["row"])
      }))

    it.effect("that cannot be evaluated on a record makes a job", () =>
      Effect.gen(function*() {
        const id = randomUUID()
        yield* move(id)
        yield* handledBy(id)
        assert.include(seen, `strict ${id}`)
      }))

    it.effect("counts a row that is there when the event is relayed, and none that comes later", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const [early, late] = [randomUUID(), randomUUID()]
        yield* move(late)
        assert.deepStrictEqual(yield* handledBy(late), [])
        yield* watch("text", "parcel_id", late)
        const [held, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        // The relay waits for the cursor of the organization.
        const holding = yield* Effect.forkChild(sql.withTransaction(
          sql`select 1 from outbox_cursors where organization_id = 'org_default' for update`.pipe(
            Effect.andThen(Deferred.succeed(held, undefined)),
            Effect.andThen(Deferred.await(goOn))
          )
        ))
        yield* Deferred.await(held)
        yield* move(early)
        yield* waiting(1)
        yield* watch("text", "parcel_id", early)
        yield* Deferred.succeed(goOn, undefined)
        yield* Fiber.join(holding)
        assert.deepStrictEqual(yield* handledBy(early), ["row"])
        assert.deepStrictEqual(yield* handledBy(late), [], "the event of before")
        yield* move(late)
        assert.deepStrictEqual(yield* handledBy(late), ["row"])
      }).pipe(Effect.orDie))

    it.effect("of one organization concerns no other", () =>
      Effect.gen(function*() {
        yield* onDatabase((sql) =>
          sql`insert into organizations (id, slug, name) values (${other}, 'conditions', 'Other')`
        )
        yield* onDatabase((sql) =>
          sql`insert into watch_by_name (organization_id, event, is_active)
            values (${other}, 'parcel.moved', true), ('org_default', 'parcel.moved', false)`
        )
        const [here, there] = [randomUUID(), randomUUID()]
        yield* watch("text", "parcel_id", here, other)
        yield* move(here)
        yield* move(there, "near", elsewhere)
        assert.deepStrictEqual(yield* handledBy(here), [])
        assert.deepStrictEqual(yield* handledBy(there), ["name"])
      }))

    it.effect("leaves what an older version had to handle to be handled", () =>
      Effect.gen(function*() {
        const id = randomUUID()
        yield* move(id)
        assert.deepStrictEqual(yield* handledBy(id), [])
        yield* onDatabase((sql) =>
          sql`insert into event_dispatches (organization_id, subscription, entity_type, entity_id, sequence, event_id,
              touched_at)
            select organization_id, 'row/on/parcel.moved', entity_type, entity_id, event_sequence, id,
              now() - interval '1 day' from outbox_events where entity_id = ${id}`
        )
        yield* onDatabase((sql) =>
          sql`with made as (insert into commerce_jobs (id, organization_id, task_slug, max_attempts)
              values (${newId()}::uuid, 'org_default', 'events/dispatches', 1) returning queue)
            select pg_notify('stoa_jobs', queue) from made`
        )
        yield* eventually("the event", Effect.sync(() => seen.includes(`row ${id}`)))
        yield* relayed
      }))
  }
)
