import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import type { Who } from "../events/Causes.ts"
import { aProduct, aWarehouse } from "../support/Purchase.ts"
import { api, asAdmin, at, type TestApp, theOrganization, withSharedApp } from "../support/TestApp.ts"
import { aNewcomer, assertEntry, doneBy, trail } from "./Entries.ts"

/** A change of something that announces no event, and must be on record all the same (contract, platform §23, 21). */
interface Mutation {
  readonly name: string
  readonly prepare: Effect.Effect<Request, never, TestApp>
}

interface Request {
  readonly method: string
  readonly path: string
  readonly body?: object
  /** The record it is about, where it is there before the request and named by it alone. */
  readonly about?: string
}

const made = Effect.fnUntraced(function*(path: string, body: object, as: Who = asAdmin) {
  const answer = yield* api("POST", path, { as, body })
  if (answer.status >= 300) return yield* Effect.die(new Error(`${path}: ${JSON.stringify(answer.body)}`))
  return answer.text("data.id")
})

const entities = "/api/catalog/entities"
const categories = "/api/catalog/categories"
const brands = "/api/catalog/brands"
const webhooks = "/api/webhooks"

const anEntity = Effect.suspend(() => made(entities, { type: "product", slug: newId() }))
const aCategory = Effect.suspend(() => made(categories, { slug: newId() }))
const aBrand = Effect.suspend(() => made(brands, { slug: newId(), displayName: "Maker" }))
const anEndpoint = Effect.suspend(() => made(webhooks, { url: "https://hooks.example.com/", events: ["*"] }))

const creation = (name: string, path: string, body: () => object): Mutation => ({
  name,
  prepare: Effect.sync(() => ({ method: "POST", path, body: body() }))
})

/** A request about a record that is there. */
const on = (
  name: string,
  record: Effect.Effect<string, never, TestApp>,
  request: (id: string) => Omit<Request, "about">
): Mutation => ({ name, prepare: Effect.map(record, (id) => ({ ...request(id), about: id })) })

const link = (
  name: string,
  record: Effect.Effect<string, never, TestApp>,
  kind: string,
  remove: boolean
): Mutation => ({
  name,
  prepare: Effect.gen(function*() {
    const path = `${entities}/${yield* anEntity}/${kind}/${yield* record}`
    if (remove) yield* api("POST", path, { as: asAdmin })
    return { method: remove ? "DELETE" : "POST", path }
  })
})

const aCartLine = Effect.gen(function*() {
  const entityId = yield* aProduct()
  const cart = yield* made("/api/carts", { currency: "USD" })
  return `/api/carts/${cart}/items/${yield* made(`/api/carts/${cart}/items`, { entityId, quantity: 1 })}`
})

const stock = Effect.fnUntraced(function*(verb: "reserve" | "release") {
  const entityId = yield* aProduct()
  const body = { entityId, warehouseId: yield* aWarehouse(), quantity: 1, orderId: newId() }
  if (verb === "release") yield* api("POST", "/api/inventory/reserve", { as: asAdmin, body })
  return { method: "POST", path: `/api/inventory/${verb}`, body }
})

const catalog: ReadonlyArray<Mutation> = [
  creation("making a category", categories, () => ({ slug: newId() })),
  on(
    "changing a category",
    aCategory,
    (id) => ({ method: "PATCH", path: `${categories}/${id}`, body: { sortOrder: 3 } })
  ),
  on("archiving a category", aCategory, (id) => ({ method: "POST", path: `${categories}/${id}/archive` })),
  on("deleting a category", aCategory, (id) => ({ method: "DELETE", path: `${categories}/${id}` })),
  link("putting an entity into a category", aCategory, "categories", false),
  link("taking an entity out of a category", aCategory, "categories", true),
  creation("making a brand", brands, () => ({ slug: newId(), displayName: "Maker" })),
  on(
    "changing a brand",
    aBrand,
    (id) => ({ method: "PATCH", path: `${brands}/${id}`, body: { displayName: "Other" } })
  ),
  on("deleting a brand", aBrand, (id) => ({ method: "DELETE", path: `${brands}/${id}` })),
  link("giving an entity a brand", aBrand, "brands", false),
  link("taking a brand from an entity", aBrand, "brands", true),
  {
    name: "giving an entity an option",
    prepare: Effect.map(
      anEntity,
      (id) => ({ method: "POST", path: `${entities}/${id}/options`, body: { name: "Size" } })
    )
  },
  {
    name: "giving an option a value",
    prepare: Effect.gen(function*() {
      const option = yield* made(`${entities}/${yield* anEntity}/options`, { name: "Size" })
      return { method: "POST", path: `/api/catalog/options/${option}/values`, body: { value: "S" } }
    })
  },
  {
    name: "making a variant",
    prepare: Effect.gen(function*() {
      const path = `${entities}/${yield* anEntity}`
      yield* made(`${path}/options`, { name: "Size", values: ["S"] })
      return { method: "POST", path: `${path}/variants`, body: { options: { Size: "S" }, sku: newId() } }
    })
  }
]

const shop: ReadonlyArray<Mutation> = [
  creation("making a warehouse", "/api/inventory/warehouses", () => ({ name: "Depot", code: newId() })),
  { name: "reserving stock", prepare: stock("reserve") },
  { name: "releasing stock", prepare: stock("release") },
  creation("opening a cart", "/api/carts", () => ({ currency: "USD" })),
  {
    name: "changing a line of a cart",
    prepare: Effect.map(aCartLine, (path) => ({ method: "PATCH", path, body: { quantity: 3 } }))
  },
  { name: "removing a line of a cart", prepare: Effect.map(aCartLine, (path) => ({ method: "DELETE", path })) }
]

const destinations: ReadonlyArray<Mutation> = [
  creation("registering a webhook", webhooks, () => ({ url: "https://hooks.example.com/", events: ["*"] })),
  on("changing a webhook", anEndpoint, (id) => ({
    method: "PATCH",
    path: `${webhooks}/${id}`,
    body: { isActive: false }
  })),
  on("rotating a webhook's secret", anEndpoint, (id) => ({
    method: "POST",
    path: `${webhooks}/${id}/rotate-secret`,
    body: {}
  })),
  on("deleting a webhook", anEndpoint, (id) => ({ method: "DELETE", path: `${webhooks}/${id}` }))
]

withSharedApp("the audit trail", (it) => {
  describe("of what causes no event", () => {
    for (const { name, prepare } of [...catalog, ...shop, ...destinations]) {
      it.effect(`has one entry of ${name}`, () =>
        Effect.gen(function*() {
          const request = yield* prepare
          // A key: a user who opens a cart gets a profile, which is another entry.
          const actor = aNewcomer("api_key")
          const headers = { "x-request-id": `req-${newId()}` }
          const answer = yield* api(request.method, request.path, {
            as: actor,
            headers,
            ...(request.body && { body: request.body })
          })
          assert.isBelow(answer.status, 300, JSON.stringify(answer.body))
          const entries = yield* doneBy(actor)
          assert.strictEqual(entries.length, 1, JSON.stringify(entries))
          const [entry] = entries
          assertEntry(entry)
          assert.deepInclude(entry, {
            organizationId: yield* theOrganization,
            actorId: actor.userId,
            actorType: "api_key",
            requestId: headers["x-request-id"]
          })
          if (request.about !== undefined) assert.strictEqual(at(entry, "entityId"), request.about)
          else if (answer.status === 201 && /^making|^registering|^opening/.test(name)) {
            assert.strictEqual(at(entry, "entityId"), answer.at("data.id"))
          }
        }))
    }
  })

  describe("keeps no secret", () => {
    it.effect("of a webhook, first or rotated", () =>
      Effect.gen(function*() {
        const actor = aNewcomer()
        const own = `own-secret-${newId()}`
        const made = yield* api("POST", webhooks, {
          as: actor,
          body: { url: "https://hooks.example.com/", events: ["*"], secret: own }
        })
        const rotated = yield* api("POST", `${webhooks}/${made.text("data.id")}/rotate-secret`, { as: actor, body: {} })
        const kept = JSON.stringify(yield* doneBy(actor))
        assert.strictEqual((yield* doneBy(actor)).length, 2)
        for (const secret of [own, rotated.text("data.secret")]) assert.notInclude(kept, secret)
      }))

    it.effect("that somebody wrote where free text goes, and shortens long lists", () =>
      Effect.gen(function*() {
        const actor = aNewcomer()
        const metadata = {
          password: "hunter2-a",
          secret: "hunter2-b",
          bankAccount: "hunter2-c",
          inside: { password: "hunter2-d" },
          numbers: Array.from({ length: 11 }, (_, n) => n),
          few: [1, 2]
        }
        yield* api("POST", entities, { as: actor, body: { type: "product", slug: newId(), metadata } })
        const [entry] = yield* doneBy(actor)
        assert.notInclude(JSON.stringify(entry), "hunter2")
        assert.strictEqual(at(entry, "payload.metadata.numbers"), "[11 items]")
        assert.deepStrictEqual(at(entry, "payload.metadata.few"), [1, 2])
      }))

    it.effect("of a cart: what opens it is in no entry", () =>
      Effect.gen(function*() {
        const cart = yield* api("POST", "/api/carts", { body: { currency: "USD" } })
        const headers = { "x-cart-secret": cart.text("data.secret") }
        const body = { entityId: yield* aProduct(), quantity: 1 }
        yield* api("POST", `/api/carts/${cart.text("data.id")}/items`, { headers, body })
        const entries = yield* trail({ entityType: "cart", entityId: cart.text("data.id") })
        assert.isAbove(entries.list("data").length, 0)
        assert.notInclude(JSON.stringify(entries.body), cart.text("data.secret"))
      }))
  })
})
