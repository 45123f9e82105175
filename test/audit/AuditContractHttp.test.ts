import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { elsewhere, holding, onDatabase, openElsewhere, refused } from "../checkout/CheckoutFixtures.ts"
import { aDigitalCart, bringAbout, causes } from "../events/Causes.ts"
import { eventually } from "../support/Eventually.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { anOrganization } from "../support/Organizations.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { sharedClient } from "../support/SharedClients.ts"
import { api, asAdmin, asCustomer, asStaff, at, TestApp, theOrganization, withSharedApp } from "../support/TestApp.ts"
import { changeLogAtRest } from "../tenancy/Footprint.ts"
import { aNewcomer, assertEntry, audit, auditTable, doneBy, historyOf, trail } from "./Entries.ts"

const entities = "/api/catalog/entities"

/** Changes that the trail tells of beside the one that was asked for. */
const companions = new Set<unknown>(["payments.capture", "refunds.create", "refunds.complete"])

/** A payment that the provider reports for an order which waits for it. */
const aPaidOrder = Effect.gen(function*() {
  const { databaseUrl } = yield* TestApp
  const order = yield* Effect.provide(
    buildOrder({ captured: null }),
    sharedClient(databaseUrl)
  )
  const metadata = { orderId: order.id, organizationId: order.organizationId }
  const object = { id: order.intentId, amount: order.grandTotal, currency: "usd", metadata }
  const body = JSON.stringify({ id: newId(), type: "payment_intent.succeeded", data: { object } })
  const headers = { "x-payment-signature": signTestEvent("test", body), "x-request-id": `paid-${order.id}` }
  assert.strictEqual((yield* api("POST", "/api/payments/webhook", { body, headers })).status, 200)
  return order
})

withSharedApp("the audit trail", (it) => {
  describe("of what causes an event", () => {
    for (const cause of causes) {
      it.effect(`has one entry of ${cause.name}: who, in which request, what, and how it was before`, () =>
        Effect.gen(function*() {
          const ready = yield* cause.prepare(asAdmin)
          const actor = aNewcomer(cause.by)
          const requestId = `req-${newId()}`
          const { entityId } = yield* bringAbout(cause, ready, actor, requestId)
          const entries = yield* doneBy(actor)
          const recorded = entries.filter((one) => !companions.has(at(one, "event")))
          assert.strictEqual(recorded.length, 1, JSON.stringify(entries))
          const [entry] = recorded
          assertEntry(entry)
          assert.deepInclude(entry, {
            organizationId: yield* theOrganization,
            entityType: cause.entityType,
            entityId,
            event: cause.event,
            actorId: actor.userId,
            actorType: actor.type,
            requestId
          })
          if (cause.changes !== undefined) {
            const { after, before, field } = cause.changes
            assert.deepStrictEqual([at(entry, `before.${field}`), at(entry, `payload.${field}`)], [before, after])
          }
          if (cause.event.endsWith(".create")) {
            assert.strictEqual(at(entry, "before") ?? null, null)
            assert.strictEqual(at(entry, "payload.id"), entityId)
          }
          if (cause.event === "catalog.delete") assert.strictEqual(at(entry, "before.id"), entityId)
          const history = yield* historyOf(cause.entityType, entityId)
          // The relay gives an entry its place in the chain meanwhile.
          const same = history.list("data").find((one) => at(one, "id") === at(entry, "id"))
          assert.deepStrictEqual({ ...Object(same), position: null }, { ...Object(entry), position: null })
        }))
    }

    it.effect("has a new customer's profile, and what was handed over by download, beside the rest of the request", () =>
      Effect.gen(function*() {
        const customer = { ...asCustomer(`c-${newId()}`) }
        const cart = yield* api("POST", "/api/carts", { as: customer, body: { currency: "USD" } })
        const [profile] = (yield* historyOf("customer", cart.text("data.customerId"))).list("data")
        assert.deepInclude(profile, { event: "customers.create", actorId: customer.userId, actorType: "user" })

        const ready = yield* aDigitalCart(asAdmin)
        const actor = aNewcomer()
        const headers = { "x-request-id": `req-${newId()}` }
        const order = yield* api("POST", ready.path, { as: actor, headers, ...(ready.body && { body: ready.body }) })
        const entries = yield* eventually(
          "the delivery to be on record",
          Effect.map(doneBy(actor), (all) => all.some((one) => at(one, "event") === "fulfillment.create") && all)
        )
        const of = (event: string) => entries.filter((one) => at(one, "event") === event)
        assert.deepStrictEqual([of("orders.create").length, of("fulfillment.create").length], [1, 1])
        assert.strictEqual(at(of("orders.create")[0], "entityId"), order.at("data.id"))
        assert.deepInclude(of("fulfillment.create")[0], { entityType: "fulfillment" })
        assert.deepStrictEqual([...new Set(entries.map((one) => at(one, "requestId")))], [headers["x-request-id"]])
      }))

    it.effect("has what the payment provider's report changed, in the provider's name", () =>
      Effect.gen(function*() {
        const order = yield* aPaidOrder
        const { list } = yield* historyOf("order", order.id, { ...asAdmin, organizationId: order.organizationId })
        const confirmed = list("data").filter((one) => at(one, "event") === "orders.statusChange")
        assert.strictEqual(confirmed.length, 1)
        assert.deepInclude(confirmed[0], {
          actorId: "test-webhook",
          actorType: "api_key",
          requestId: `paid-${order.id}`
        })
        assert.deepStrictEqual([at(confirmed[0], "before.status"), at(confirmed[0], "payload.status")], [
          "pending",
          "confirmed"
        ])
      }))

    it.effect("says of whom it does not know that it does not, and of a key that it is one", () =>
      Effect.gen(function*() {
        const cart = yield* aCartWith(yield* aProduct())
        const made = yield* checkOut(cart)
        const order = (yield* historyOf("order", made.text("data.id"))).list("data").at(-1)
        assert.deepInclude(order, { event: "orders.create", actorId: null })
        assert.strictEqual(at(order, "requestId"), made.headers.get("x-request-id"))

        const key = aNewcomer("api_key")
        yield* api("POST", entities, { as: key, body: { type: "product", slug: newId() } })
        assert.deepStrictEqual((yield* doneBy(key)).map((one) => at(one, "actorType")), ["api_key"])
      }))

    it.effect("says from where the request came", () =>
      Effect.gen(function*() {
        const actor = aNewcomer()
        const headers = { "user-agent": "a-test/1.0" }
        yield* api("POST", entities, { as: actor, headers, body: { type: "product", slug: newId() } })
        const [entry] = yield* doneBy(actor)
        assert.deepInclude(entry, { source: "rest", userAgent: "a-test/1.0" })
        assert.match(String(at(entry, "ip")), /127\.0\.0\.1$/)
      }))

    it.effect("has nothing of a request that was refused, and one entry of one that was repeated", () =>
      Effect.gen(function*() {
        const actor = aNewcomer()
        const slug = newId()
        yield* api("POST", entities, { as: asAdmin, body: { type: "product", slug } })
        refused(yield* api("POST", entities, { as: actor, body: { type: "product", slug } }), 409, "CONFLICT")
        refused(yield* api("POST", entities, { as: actor, body: { slug: "" } }), 422, "VALIDATION_FAILED")
        refused(yield* api("DELETE", `${entities}/${newId()}`, { as: actor }), 404, "NOT_FOUND")
        const powerless = { ...actor, permissions: [] }
        refused(
          yield* api("POST", entities, { as: powerless, body: { type: "product", slug: newId() } }),
          403,
          "FORBIDDEN"
        )
        assert.deepStrictEqual(yield* doneBy(actor), [])

        const headers = { "idempotency-key": newId() }
        const body = { type: "product", slug: newId() }
        for (const _ of [1, 2]) yield* api("POST", entities, { as: actor, headers, body })
        assert.strictEqual((yield* doneBy(actor)).length, 1)
      }))

    it.effect("has one entry of a change that many asked for at once and one was granted", () =>
      Effect.gen(function*() {
        const ready = yield* (causes.find(({ name }) => name === "an order becoming cancelled") ?? causes[0])
          ?.prepare(asAdmin) ?? Effect.die("no such cause")
        const answers = yield* Effect.all(
          Array.from({ length: 5 }, () => api(ready.method, ready.path, { as: asAdmin, body: ready.body })),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(answers.filter(({ status }) => status === 200).length, 1)
        const history = yield* historyOf("order", ready.about ?? "")
        const events = history.list("data").map((one) => at(one, "event"))
        assert.deepStrictEqual(events, ["orders.statusChange", "payments.capture", "orders.create"])
      }))
  })

  describe("GET /api/audit", () => {
    it.effect("filters by kind, record, event, actor and time, each alone and together", () =>
      Effect.gen(function*() {
        const actor = aNewcomer()
        const made = yield* api("POST", entities, { as: actor, body: { type: "product", slug: newId() } })
        const entityId = made.text("data.id")
        yield* api("POST", `${entities}/${entityId}/publish`, { as: actor })
        yield* api("POST", "/api/promotions", {
          as: actor,
          body: { code: newId(), name: "x", type: "percentage_off_order", value: 5 }
        })
        const actorId = actor.userId
        const eventsWith = (query: Readonly<Record<string, string>>) =>
          Effect.map(trail({ actorId, ...query }), (answer) => answer.list("data").map((one) => at(one, "event")))
        const all = ["promotions.create", "catalog.update", "catalog.create"]
        assert.deepStrictEqual(yield* eventsWith({}), all)
        assert.deepStrictEqual(yield* eventsWith({ entityType: "catalog_entity" }), all.slice(1))
        assert.deepStrictEqual(yield* eventsWith({ entityId }), all.slice(1))
        assert.deepStrictEqual(yield* eventsWith({ event: "catalog.update" }), ["catalog.update"])
        assert.deepStrictEqual(yield* eventsWith({ event: "catalog.create", entityType: "promotion" }), [])
        assert.deepStrictEqual(yield* eventsWith({ event: "orders.create" }), [])
        // The short names of the older interface mean the events of their kind.
        assert.deepStrictEqual(yield* eventsWith({ event: "created" }), [all[0], all[2]])
        assert.deepStrictEqual(yield* eventsWith({ event: "updated" }), [all[1]])
        assert.deepStrictEqual(yield* eventsWith({ event: "created", entityType: "promotion" }), [all[0]])
        const byId = yield* trail({ entityId })
        assert.strictEqual(byId.list("data").length, 2)

        const time = Date.parse(String(at((yield* trail({ actorId })).list("data")[0], "createdAt")))
        const at_ = (shift: number) => new Date(time + shift).toISOString()
        assert.deepStrictEqual(yield* eventsWith({ from: at_(-60_000), to: at_(60_000) }), all)
        assert.deepStrictEqual(yield* eventsWith({ from: at_(60_000) }), [])
        assert.deepStrictEqual(yield* eventsWith({ to: at_(-60_000) }), [])
        assert.deepStrictEqual((yield* eventsWith({ from: at_(0) }))[0], all[0])
      }))

    it.effect("knows the short names for a change of status and of stock", () =>
      Effect.gen(function*() {
        for (
          const [name, event, alias] of [
            ["an order becoming confirmed", "orders.statusChange", "status_changed"],
            ["adjusting stock", "inventory.afterAdjust", "adjusted"]
          ] as const
        ) {
          const cause = causes.find((one) => one.name === name)
          assert.isDefined(cause)
          if (cause === undefined) continue
          const actor = aNewcomer()
          yield* bringAbout(cause, yield* cause.prepare(asAdmin), actor, `req-${newId()}`)
          const found = yield* trail({ actorId: actor.userId, event: alias })
          assert.deepStrictEqual(found.list("data").map((one) => at(one, "event")), [event])
        }
      }))

    it.effect("is paged, fifty at a time unless told otherwise and at most a hundred, newest first", () =>
      Effect.gen(function*() {
        const as = yield* anOrganization
        for (let n = 0; n < 5; n++) yield* api("POST", entities, { as, body: { type: "product", slug: newId() } })
        const paging = (query: string) =>
          Effect.map(api("GET", `${audit}?${query}`, { as }), (page) => page.at("meta.pagination"))
        assert.deepStrictEqual(yield* paging(""), { page: 1, limit: 50, total: 5, totalPages: 1 })
        assert.deepStrictEqual(yield* paging("limit=2&page=3"), { page: 3, limit: 2, total: 5, totalPages: 3 })
        assert.deepStrictEqual(yield* paging("limit=101"), { page: 1, limit: 100, total: 5, totalPages: 1 })
        for (const query of ["limit=0", "limit=-1", "limit=x&page=x"]) {
          assert.deepStrictEqual(yield* paging(query), { page: 1, limit: 50, total: 5, totalPages: 1 }, query)
        }
        const whole = (yield* api("GET", audit, { as })).list("data").map((one) => at(one, "id"))
        const parts: Array<unknown> = []
        for (const page of [1, 2, 3]) {
          const part = yield* api("GET", `${audit}?limit=2&page=${page}`, { as })
          parts.push(...part.list("data").map((one) => at(one, "id")))
        }
        assert.deepStrictEqual(parts, whole)
        const times = (yield* api("GET", audit, { as })).list("data").map((one) => String(at(one, "createdAt")))
        assert.deepStrictEqual(times, [...times].sort().reverse())
      }))

    it.effect("refuses times that are none", () =>
      Effect.gen(function*() {
        const routes = [audit, `${audit}/order/${newId()}`]
        for (const route of routes) {
          for (const [query, path] of [["from=zzz", "from"], ["to=2026-13-45", "to"], ["from=%00", "from"]] as const) {
            const answer = yield* api("GET", `${route}?${query}`, { as: asAdmin })
            refused(answer, 422, "VALIDATION_FAILED", `${route}?${query}`)
            assert.strictEqual(answer.at("error.details.issues.0.path"), path)
          }
        }
      }))

    it.effect("takes filters that nothing fits and never fails on them", () =>
      Effect.gen(function*() {
        for (const query of [{ entityId: "not an id" }, { event: "no.such" }, { entityType: "?" }, { actorId: "'" }]) {
          const answer = yield* trail(query)
          assert.deepStrictEqual([answer.status, answer.at("data")], [200, []], JSON.stringify(query))
          assert.deepStrictEqual(answer.at("meta.pagination"), { page: 1, limit: 50, total: 0, totalPages: 1 })
        }
      }))
  })

  describe("GET /api/audit/:entityType/:entityId", () => {
    it.effect("tells a record's history, newest first, by time and limit", () =>
      Effect.gen(function*() {
        const made = yield* api("POST", entities, { as: asAdmin, body: { type: "product", slug: newId() } })
        const id = made.text("data.id")
        for (const verb of ["publish", "archive"]) yield* api("POST", `${entities}/${id}/${verb}`, { as: asAdmin })
        // Entries get their places a moment later, and show them.
        yield* changeLogAtRest
        const whole = yield* historyOf("catalog_entity", id)
        assert.deepStrictEqual(whole.list("data").map((one) => at(one, "payload.status")), [
          "archived",
          "active",
          "draft"
        ])
        assert.deepStrictEqual(whole.at("meta.pagination"), { page: 1, limit: 50, total: 3, totalPages: 1 })
        const short = yield* historyOf("catalog_entity", id, asAdmin, "?limit=1")
        assert.deepStrictEqual(short.at("data"), whole.list("data").slice(0, 1))
        const future = encodeURIComponent(new Date(Date.now() + 3_600_000).toISOString())
        assert.deepStrictEqual((yield* historyOf("catalog_entity", id, asAdmin, `?from=${future}`)).at("data"), [])
        const past = yield* historyOf("catalog_entity", id, asAdmin, `?to=${future}`)
        assert.strictEqual(past.list("data").length, 3)
      }))

    it.effect("is empty for a record that there is not, and for one of another kind", () =>
      Effect.gen(function*() {
        const made = yield* api("POST", entities, { as: asAdmin, body: { type: "product", slug: newId() } })
        for (
          const [kind, id] of [["order", newId()], ["order", made.text("data.id")], ["catalog_entity", "x"]] as const
        ) {
          const answer = yield* historyOf(kind, id)
          assert.deepStrictEqual([answer.status, answer.at("data")], [200, []])
        }
      }))
  })

  describe("access", () => {
    it.effect("needs audit:read", () =>
      Effect.gen(function*() {
        for (const path of [audit, `${audit}/order/${newId()}`]) {
          for (const as of [asStaff, asCustomer("c"), holding("webhooks:manage", "jobs:admin", "orders:read")]) {
            refused(yield* api("GET", path, { as }), 403, "FORBIDDEN")
          }
          refused(yield* api("GET", path), 401, "UNAUTHORIZED")
          assert.strictEqual((yield* api("GET", path, { as: holding("audit:read") })).status, 200)
        }
      }))

    it.effect("shows an organization its own trail only", () =>
      Effect.gen(function*() {
        yield* openElsewhere
        const ours = yield* api("POST", entities, { as: asAdmin, body: { type: "product", slug: newId() } })
        const theirs = yield* api("POST", entities, { as: elsewhere, body: { type: "product", slug: newId() } })
        assert.deepStrictEqual((yield* historyOf("catalog_entity", ours.text("data.id"), elsewhere)).at("data"), [])
        assert.deepStrictEqual((yield* historyOf("catalog_entity", theirs.text("data.id"))).at("data"), [])
        const whole = yield* trail({ limit: "100" }, elsewhere)
        assert.deepStrictEqual([...new Set(whole.list("data").map((one) => at(one, "organizationId")))], ["org_other"])
        assert.notInclude(JSON.stringify(whole.body), ours.text("data.id"))
      }))
  })

  describe("is append-only", () => {
    it.effect("over HTTP: reading is all there is", () =>
      Effect.gen(function*() {
        for (const path of [audit, `${audit}/order/${newId()}`]) {
          for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
            const answer = yield* api(method, path, { as: asAdmin, ...(method !== "DELETE" && { body: {} }) })
            refused(answer, 405, "METHOD_NOT_ALLOWED", `${method} ${path}`)
            assert.strictEqual(answer.headers.get("allow"), "GET, HEAD")
          }
        }
      }))

    it.effect("in the database: an entry is neither changed nor removed", () =>
      Effect.gen(function*() {
        yield* api("POST", entities, { as: asAdmin, body: { type: "product", slug: newId() } })
        const table = yield* auditTable
        yield* changeLogAtRest
        const before = yield* trail({ limit: "100" })
        for (const change of ["update", "delete"] as const) {
          const refusedBy = yield* onDatabase((sql) =>
            Effect.map(
              Effect.exit(
                change === "update"
                  ? sql`update ${sql(table)} set entity_type = 'forged'`
                  : sql`delete from ${sql(table)}`
              ),
              (exit) => exit._tag
            )
          )
          assert.strictEqual(refusedBy, "Failure", change)
        }
        assert.deepStrictEqual((yield* trail({ limit: "100" })).body, before.body)
      }))
  })

  it.effect("an operation whose entry cannot be written does not happen", () =>
    Effect.gen(function*() {
      const table = yield* auditTable
      const slug = newId()
      const answer = yield* onDatabase((sql) =>
        sql`alter table ${sql(table)} add constraint no_more_entries check (false) not valid`
      ).pipe(
        Effect.andThen(api("POST", entities, { as: asAdmin, body: { type: "product", slug } })),
        Effect.ensuring(
          onDatabase((sql) => sql`alter table ${sql(table)} drop constraint if exists no_more_entries`)
        )
      )
      refused(answer, 500, "INTERNAL_ERROR")
      refused(yield* api("GET", `${entities}/${slug}`, { as: asAdmin }), 404, "NOT_FOUND")
      assert.strictEqual((yield* api("POST", entities, { as: asAdmin, body: { type: "product", slug } })).status, 201)
    }))
})
