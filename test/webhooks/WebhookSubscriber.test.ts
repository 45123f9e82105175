import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventTypes } from "../../src/domain/platform/events/Event.ts"
import { Webhooks } from "../../src/domain/webhooks/Webhooks.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { JobsDouble } from "./JobsDouble.ts"
import { anEvent, anOrganization, inside, relay, webhookWorld } from "./WebhookWorld.ts"

const register = (events: ReadonlyArray<string>) =>
  Effect.flatMap(Webhooks, (webhooks) => webhooks.register({ url: "http://127.0.0.1:9/", events }))

/** Endpoint and event type of every job that the batch led to. */
const enqueued = Effect.fnUntraced(function*(events: Parameters<typeof relay>[0]) {
  const { jobs } = yield* JobsDouble
  jobs.length = 0
  yield* relay(events)
  const types = new Map(events.map(({ id, type }) => [id, type]))
  return jobs.map(({ input, options }) => [
    options.organizationId,
    input["endpointId"],
    types.get(String(input["eventId"]))
  ])
})

it.layer(webhookWorld(), { excludeTestServices: true })("what is enqueued of a batch of events", (it) => {
  it.effect("a batch enqueues the events that each endpoint of their organization subscribes to, in order", () =>
    Effect.gen(function*() {
      yield* anOrganization("org_other")
      const all = yield* register(["*"])
      const orders = yield* register(["orders.create", "orders.statusChange"])
      const theirs = yield* inside("org_other")(register(["*"]))
      const found = yield* enqueued([
        anEvent({ type: "orders.create" }),
        anEvent({ type: "catalog.update" }),
        anEvent({ type: "orders.create", organizationId: "org_other" })
      ])
      assert.sameDeepMembers(found, [
        ["org_default", all.id, "orders.create"],
        ["org_default", orders.id, "orders.create"],
        ["org_default", all.id, "catalog.update"],
        ["org_other", theirs.id, "orders.create"]
      ])
      yield* (yield* Webhooks).remove(all.id)
      yield* (yield* Webhooks).remove(orders.id)
      yield* inside("org_other")((yield* Webhooks).remove(theirs.id))
    }))

  it.effect("each of the 14 events is enqueued", () =>
    Effect.gen(function*() {
      const { id } = yield* register(["*"])
      const found = yield* enqueued(eventTypes.map((type) => anEvent({ type })))
      assert.lengthOf(eventTypes, 14)
      assert.deepStrictEqual(found.map(([, , type]) => type), [...eventTypes])
      yield* (yield* Webhooks).remove(id)
    }))

  it.effect("a batch without subscribers enqueues and writes nothing", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const before = yield* sql`select 1 from webhook_messages`
      assert.deepStrictEqual(yield* enqueued([anEvent(), anEvent()]), [])
      assert.lengthOf(yield* sql`select 1 from webhook_messages`, before.length)
    }))

  it.effect("a rollback of the relay undoes the deliveries, and a repeated event is enqueued once", () =>
    Effect.gen(function*() {
      const { id } = yield* register(["*"])
      const sql = yield* SqlClient.SqlClient
      const event = anEvent()
      yield* Effect.ignoreCause(sql.withTransaction(Effect.andThen(relay([event]), Effect.die("the relay is gone"))))
      assert.lengthOf(yield* sql`select 1 from webhook_dispatches where event_id = ${event.id}::uuid`, 0)
      assert.lengthOf(yield* enqueued([event]), 1)
      assert.lengthOf(yield* enqueued([event]), 0, "a repeated event is enqueued once")
      yield* (yield* Webhooks).remove(id)
    }))

  it.effect("a batch of a hundred events takes as many statements as one event", () =>
    Effect.gen(function*() {
      const { id } = yield* register(["*"])
      const other = yield* register(["orders.create"])
      const statements = (count: number) =>
        Effect.map(statementsOf(enqueued(Array.from({ length: count }, () => anEvent()))), (sent) =>
          sent.filter(([text]) => text.includes("webhook_")).length)
      assert.deepStrictEqual([yield* statements(1), yield* statements(100)], [2, 2])
      assert.lengthOf((yield* JobsDouble).jobs, 200)
      yield* (yield* Webhooks).remove(id)
      yield* (yield* Webhooks).remove(other.id)
    }))
})
