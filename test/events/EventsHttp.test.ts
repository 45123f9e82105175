import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { eventTypes } from "../../src/domain/events/Event.ts"
import { holding, onDatabase } from "../checkout/CheckoutFixtures.ts"
import { api, asAdmin, asStaff, inOrganization, TestApp, testAppLayer, withApp } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"
import { changeLogAtRest } from "../tenancy/Footprint.ts"
import { askerOf, filled, writes } from "../tenancy/Probes.ts"
import { aStore } from "../tenancy/Stores.ts"
import { upTo } from "./ChangeLog.ts"
import { openStream } from "./EventStreams.ts"

/** Somebody who may read the events of an organization. */
const listener = (organization: string) => inOrganization(organization, holding("webhooks:manage"))

const open = (organization: string) =>
  onDatabase((sql) =>
    sql`insert into organizations (id, slug, name) values (${organization}, ${organization}, ${organization})
      on conflict do nothing`
  )

let brands = 0

/** So many new things of an organization, each of them an event. */
const things = Effect.fnUntraced(function*(organization: string, count: number) {
  yield* open(organization)
  const as = inOrganization(organization, asAdmin)
  for (const _ of upTo(count)) {
    yield* api("POST", "/api/catalog/entities", { as, body: { type: "product", slug: `thing-${brands++}` } })
  }
  yield* changeLogAtRest
})

/** All events of an organization, page by page. */
const allEvents = Effect.fnUntraced(function*(organization: string) {
  yield* changeLogAtRest
  const found: Array<{ readonly type: string; readonly sequence: number }> = []
  for (let after = 0;;) {
    const page = yield* api("GET", `/api/events?after=${after}&limit=50`, { as: listener(organization) })
    const events = page.list("data").map((event) => event as { readonly type: string; readonly sequence: number })
    if (events.length === 0) return found
    found.push(...events)
    after = page.number("meta.next")
  }
})

/** A stream of an organization's events. */
const listen = Effect.fnUntraced(function*(organization: string, query = "", headers = {}) {
  const { url } = yield* TestApp
  return yield* openStream(`${url}/api/events${query}`, {
    "x-test-actor": JSON.stringify(listener(organization)),
    ...headers
  })
})

withApp("GET /api/events", (it) => {
  it.effect(
    "tells every event of the specification that a route can cause, in order and without gaps",
    () =>
      Effect.gen(function*() {
        const store = yield* aStore("org_all")
        for (const probe of writes) {
          const { body, method, path } = filled(probe, store)
          yield* api(method, path, { as: askerOf(probe, store), ...(body === undefined ? {} : { body }) })
        }
        const doomed = yield* api("POST", "/api/catalog/entities", {
          as: store.as,
          body: { type: "product", slug: "doomed" }
        })
        yield* api("DELETE", `/api/catalog/entities/${doomed.text("data.id")}`, { as: store.as })
        const file = yield* api("POST", "/api/catalog/entities", {
          as: store.as,
          body: { type: "digitalDownload", slug: "file", status: "active", attributes: { title: "File" } }
        })
        const item = { entityId: file.text("data.id") }
        yield* api("POST", "/api/pricing/prices", { as: store.as, body: { ...item, currency: "USD", amount: 100 } })
        yield* api("POST", "/api/inventory/adjust", { as: store.as, body: { ...item, type: "restock", quantity: 5 } })
        const cart = yield* api("POST", "/api/carts", { as: store.as, body: { currency: "USD" } })
        const cartId = cart.text("data.id")
        yield* api("POST", `/api/carts/${cartId}/items`, { as: store.as, body: { ...item, quantity: 1 } })
        const bought = yield* api("POST", "/api/checkout", {
          as: store.as,
          body: { cartId, paymentMethodId: "test", currency: "USD" }
        })
        assert.strictEqual(bought.status, 201, JSON.stringify(bought.body))
        const events = yield* allEvents("org_all")
        assert.deepStrictEqual(events.map(({ sequence }) => sequence), upTo(events.length))
        const silent = eventTypes.filter((type) => !events.some((event) => event.type === type))
        assert.deepStrictEqual(silent, [])
      }),
    60_000
  )

  it.effect("goes on behind a cursor, and shows what webhooks tell", () =>
    Effect.gen(function*() {
      yield* things("org_pages", 3)
      const as = listener("org_pages")
      const first = yield* api("GET", "/api/events?limit=2", { as })
      assert.deepStrictEqual([first.list("data").length, first.at("meta.next")], [2, 2])
      assert.hasAllKeys(first.at("data.0"), [
        "id",
        "sequence",
        "type",
        "timestamp",
        "entityType",
        "entityId",
        "data",
        "actorId",
        "requestId"
      ])
      assert.strictEqual(first.at("data.0.data.id"), first.at("data.0.entityId"))
      const second = yield* api("GET", "/api/events?after=2", { as })
      assert.deepStrictEqual(second.list("data").map((event) => Reflect.get(Object(event), "sequence")), [3])
      const end = yield* api("GET", "/api/events?after=3", { as })
      assert.deepStrictEqual([end.at("data"), end.at("meta.next")], [[], 3])
    }))

  it.effect("tells of one type when asked to, and its cursor passes over the others", () =>
    Effect.gen(function*() {
      yield* things("org_types", 3)
      const as = listener("org_types")
      const none = yield* api("GET", "/api/events?type=catalog.delete", { as })
      assert.deepStrictEqual([none.at("data"), none.at("meta.next")], [[], 3])
      const some = yield* api("GET", "/api/events?type=catalog.create&limit=2", { as })
      assert.deepStrictEqual([some.list("data").length, some.at("meta.next")], [2, 2])
    }))

  it.effect("wants its permission, a cursor that is one, and an event that there is", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* api("GET", "/api/events", { as: asStaff })).status, 403)
      assert.strictEqual((yield* api("GET", "/api/events")).status, 401)
      for (const query of ["after=x", "after=-1", "after=1.5", "type=cart.create"]) {
        assert.strictEqual((yield* api("GET", `/api/events?${query}`, { as: asAdmin })).status, 422, query)
      }
    }))
})

withApp("the stream of events", (it) => {
  it.effect("tells what was, then what comes, in order and once", () =>
    Effect.gen(function*() {
      yield* things("org_stream", 3)
      const stream = yield* listen("org_stream", "?after=1")
      assert.strictEqual(stream.response.headers.get("content-type"), "text/event-stream")
      yield* stream.until(2)
      yield* things("org_stream", 3)
      yield* things("org_elsewhere", 1)
      yield* stream.until(5)
      assert.deepStrictEqual(stream.messages.map(({ id }) => id), [2, 3, 4, 5, 6])
      const [message] = stream.messages
      assert.strictEqual(message?.event, "catalog.create")
      assert.deepInclude(message?.data, { sequence: 2, type: "catalog.create" })
    }))

  it.effect("goes on where its reader has been, and tells of one type when asked to", () =>
    Effect.gen(function*() {
      yield* things("org_again", 4)
      const again = yield* listen("org_again", "?after=1", { "last-event-id": "3" })
      yield* again.until(1)
      assert.deepStrictEqual(again.messages.map(({ id }) => id), [4])
      const other = yield* listen("org_again", "?type=catalog.delete")
      yield* things("org_again", 1)
      yield* again.until(2)
      assert.deepStrictEqual(other.messages, [])
      const { response } = yield* listen("org_again", "", { "last-event-id": "three" })
      assert.strictEqual(response.status, 422)
    }))

  it.effect("leaves nothing out for a reader who comes while much happens", () =>
    Effect.gen(function*() {
      yield* open("org_much")
      const write = onDatabase((sql) =>
        sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_type, source)
          select gen_random_uuid(), 'org_much', 'catalog.update', 'catalog_entity', 'e', '{}', 'user', 'rest'
          from generate_series(1, 500)`
      )
      yield* Effect.forkChild(Effect.forEach(upTo(6), () => write, { discard: true }))
      const streams = yield* Effect.forEach(upTo(3), () => listen("org_much"))
      for (const stream of streams) {
        yield* stream.until(3_000)
        assert.deepStrictEqual(stream.messages.map(({ id }) => id), upTo(3_000))
      }
    }))
})

describe("a process that ends", () => {
  it.live("ends its streams, and waits for none of them", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const app = yield* Layer.buildWithScope(testAppLayer(), scope)
      const stream = yield* Effect.provideContext(Effect.andThen(things("org_end", 1), listen("org_end")), app)
      yield* stream.until(1)
      assert.isFalse(stream.ended())
      const began = performance.now()
      yield* Scope.close(scope, Exit.void)
      assert.isBelow(performance.now() - began, 5_000, "the server waits ten seconds for what is being answered")
      yield* Effect.promise(() => waitFor("the end of the stream", stream.ended))
    }), 30_000)
})
