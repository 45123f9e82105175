import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { childOf, Conflict, CurrentActor, definePlugin, defineTask, group, table, Text, text, uuid } from "stoa/plugin"
import { anOrganization } from "../support/Organizations.ts"
import { api, asAdmin, at, live, testAppLayer } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"

const stores = table("channel_stores", { name: text })
const deliveries = childOf(stores, "storeId", "channel_deliveries", { storeId: uuid.references(stores), body: text })
const foreign = table("channel_foreign", { name: text })
const routes = group("Channels", "/channels")
const Body = Schema.Struct({ name: Text })

/** Organizations in which the task has run. */
const ran: Array<string> = []

const channels = definePlugin({
  id: "channels",
  version: "1.0.0",
  schema: () => [stores, deliveries],
  tasks: () => [
    defineTask({ slug: "channels/read", handler: ({ ctx }) => Effect.sync(() => void ran.push(ctx.organizationId)) })
  ],
  routes: ({ ofRecord }) => [
    routes.post("/stores", { auth: true, input: Body }).handle(({ db, input }) =>
      Effect.gen(function*() {
        const store = yield* db.table(stores).insert(input)
        const delivery = yield* db.table(deliveries).insert({ storeId: store.id, body: "first" })
        return { ...store, deliveryId: delivery.id }
      })
    ),
    // Any text: providers choose the addresses that they call.
    routes.post("/:id/webhook", { public: "signed", params: { id: Schema.String } }).handle(({ params: { id } }) =>
      ofRecord(stores, id)(({ actor, db, organizationId, jobs }) =>
        Effect.gen(function*() {
          yield* jobs.enqueue("channels/read", {})
          const { name } = yield* db.table(stores).update(id, { name: "synchronized" })
          return { name, organizationId, actor: actor.userId, current: (yield* CurrentActor).organizationId }
        })
      )
    ),
    routes.get("/deliveries/:id", { public: "signed" }).handle(({ params: { id } }) =>
      ofRecord(deliveries, id)(({ db }) => db.table(deliveries).get(id))
    ),
    routes.get("/:id/after", { public: "signed" }).handle(({ organizationId, params: { id } }) =>
      Effect.gen(function*() {
        yield* Effect.ignore(ofRecord(stores, id)(() => Conflict.of("The store is busy.")))
        return { before: organizationId, after: (yield* CurrentActor).organizationId }
      })
    ),
    routes.get("/foreign/:id", { public: "signed" }).handle(({ params: { id } }) =>
      ofRecord(foreign, id)(() => Effect.succeed(null))
    )
  ]
})

/** The plugin whose table `foreign` is. */
const other = definePlugin({
  id: "other",
  version: "1.0.0",
  schema: () => [foreign],
  routes: () => [
    group("Other", "/other").post("/rows", { auth: true, input: Body })
      .handle(({ db, input }) => db.table(foreign).insert(input))
  ]
})

const aStore = Effect.gen(function*() {
  const owner = yield* anOrganization
  const made = yield* api("POST", "/api/channels/stores", { as: owner, body: { name: "Shop" } })
  return { owner, id: made.text("data.id"), deliveryId: made.text("data.deliveryId") }
})
const webhook = (id: string) => api("POST", `/api/channels/${encodeURIComponent(id)}/webhook`, { body: {} })

layer(testAppLayer({ plugins: [channels, other] }), live)("ofRecord of a plugin", (it) => {
  it.effect("works as the service itself in the organization of the row, with a call of that organization", () =>
    Effect.gen(function*() {
      const { id, owner } = yield* aStore
      const { organizationId } = owner
      const answer = yield* webhook(id)
      const system = "system:internal"
      assert.deepStrictEqual(answer.at("data"), {
        name: "synchronized",
        organizationId,
        actor: system,
        current: organizationId
      })
      const trail = yield* api("GET", `/api/audit/channels%2Fchannel_stores/${id}`, { as: owner })
      const change = trail.list("data").find((entry) => at(entry, "event") === "channels/channel_stores.update")
      assert.deepInclude(change, { actorId: system, requestId: answer.headers.get("x-request-id"), source: "rest" })
      yield* Effect.promise(() => waitFor("the task", () => ran.length > 0))
      assert.deepStrictEqual(ran, [organizationId])
    }))

  it.effect("finds the organization of a child row through its parent", () =>
    Effect.gen(function*() {
      const { deliveryId, id } = yield* aStore
      assert.strictEqual((yield* api("GET", `/api/channels/deliveries/${deliveryId}`)).at("data.storeId"), id)
      assert.strictEqual((yield* api("GET", `/api/channels/deliveries/${id}`)).status, 404)
    }))

  it.effect("is 404 for an id that no row has, and for what is no id", () =>
    Effect.gen(function*() {
      const { deliveryId } = yield* aStore
      for (const id of [randomUUID(), deliveryId, "1", "' or true --", "x".repeat(300)]) {
        const answer = yield* webhook(id)
        assert.deepStrictEqual([answer.status, answer.at("error.code")], [404, "NOT_FOUND"], id)
      }
    }))

  it.effect("leaves the organization of the request as it was, also when its work fails", () =>
    Effect.gen(function*() {
      const { id } = yield* aStore
      const answer = yield* api("GET", `/api/channels/${id}/after`)
      assert.deepStrictEqual(answer.at("data"), { before: "org_default", after: "org_default" })
    }))

  it.effect("takes tables of the plugin alone", () =>
    Effect.gen(function*() {
      const row = yield* api("POST", "/api/other/rows", { as: asAdmin, body: { name: "theirs" } })
      const answer = yield* api("GET", `/api/channels/foreign/${row.text("data.id")}`)
      assert.deepStrictEqual([answer.status, answer.at("error.code")], [500, "INTERNAL_ERROR"])
    }))
})
