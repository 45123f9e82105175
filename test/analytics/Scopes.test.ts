import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { AnalyticsModel } from "../../src/domain/platform/modules/AnalyticsModel.ts"
import { aKey, signIn } from "../access/People.ts"
import { buyAs, holding, refused } from "../checkout/CheckoutFixtures.ts"
import { anOrganization } from "../support/Organizations.ts"
import { aProduct } from "../support/Purchase.ts"
import {
  type Answer,
  api,
  asAdmin,
  asAnonymous,
  asCustomer,
  asStaff,
  inOrganization,
  live,
  testAppLayer
} from "../support/TestApp.ts"
import { anOrder, ask, rowsOf } from "./Questions.ts"

/** Stock as vendors see it: a vendor owns the warehouse that has the vendor's id as its code. */
const Shelves: AnalyticsModel = {
  name: "Shelves",
  table: "stock_levels",
  joins: [{ table: "warehouses", type: "inner", on: "warehouses.id = stock_levels.warehouse_id" }],
  measures: { units: { type: "sum", sql: "stock_levels.on_hand" } },
  dimensions: { code: { sql: "warehouses.code", type: "string" } },
  scopeRules: [{ role: "vendor", filter: "warehouses.code = :vendorId::text" }]
}

const withModels = layer(testAppLayer({ analytics: { models: [Shelves] } }), live)

const count = { measures: ["Orders.count"] }

const namesIn = (meta: Answer) => meta.list("data.models").map((model) => Object(model).name)

withModels("who asks", (it) => {
  it.effect("staff sees all rows of the store, by role or by permission", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      yield* anOrder({ organizationId: as.organizationId })
      const roles = ["owner", "admin", "staff", "ai_agent"].map((role) => ({ ...asAnonymous, role }))
      for (const person of [...roles, holding("analytics:read"), { ...holding("analytics:*"), role: "manager" }]) {
        const asker = inOrganization(as.organizationId, person)
        assert.deepStrictEqual(yield* rowsOf(count, asker), [{ "Orders.count": 1 }])
        assert.strictEqual(namesIn(yield* api("GET", "/api/analytics/meta", { as: asker })).length, 8)
      }
    }))

  it.effect("shows customers their orders, lines and profile, and no other model", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ price: 700 })
      yield* buyAs(asCustomer("ann"), entityId)
      yield* buyAs(asCustomer("ann"), entityId)
      yield* buyAs(asCustomer("bob"), entityId)
      const own = (measures: ReadonlyArray<string>, userId: string, more: object = {}) =>
        rowsOf({ measures, ...more }, asCustomer(userId))
      assert.deepStrictEqual(yield* own(["Orders.count", "Orders.revenue"], "ann"), [{
        "Orders.count": 2,
        "Orders.revenue": 1_400
      }])
      assert.deepStrictEqual(yield* own(["OrderLineItems.itemsSold"], "bob"), [{ "OrderLineItems.itemsSold": 1 }])
      assert.deepStrictEqual(yield* own(["Tenders.captured"], "bob", { dimensions: ["Tenders.method"] }), [{
        "Tenders.method": "test",
        "Tenders.captured": 700
      }])
      assert.deepStrictEqual(yield* own(["Customers.customerCount"], "bob"), [{ "Customers.customerCount": 1 }])
      // A filter that is always true widens nothing.
      const always = { or: [{ member: "Orders.id", operator: "set" }, { member: "Orders.id", operator: "notSet" }] }
      assert.deepStrictEqual(yield* own(["Orders.count"], "bob", { filters: [always] }), [{ "Orders.count": 1 }])
      assert.deepStrictEqual(yield* own(["Orders.count"], "who-never-bought"), [{ "Orders.count": 0 }])
      assert.deepStrictEqual(yield* own(["Customers.customerCount"], "who-never-bought"), [{
        "Customers.customerCount": 0
      }])
      for (const measure of ["Inventory.totalOnHand", "Shelves.units"]) {
        refused(yield* ask({ measures: [measure] }, asCustomer("ann")), 403, "FORBIDDEN")
      }
      const meta = yield* api("GET", "/api/analytics/meta", { as: asCustomer("ann") })
      assert.sameMembers(namesIn(meta), ["Orders", "OrderLineItems", "Tenders", "Returns", "Customers"])
      assert.notMatch(JSON.stringify(meta.body), /Inventory|Shelves/)
      // A refusal does not list models that the customer may not see.
      const unknown = yield* ask({ measures: ["Orders.none"] }, asCustomer("ann"))
      assert.notMatch(JSON.stringify((yield* ask({ measures: ["None.none"] }, asCustomer("ann"))).body), /Inventory/)
      refused(unknown, 422, "VALIDATION_FAILED")
    }))

  it.effect("shows vendors their rows of models that have a rule for vendors", () =>
    Effect.gen(function*() {
      const organization = yield* anOrganization
      const as = { ...organization, userId: "boss" }
      for (const [code, quantity] of [["V1", 3], ["V2", 4]] as const) {
        const made = yield* api("POST", "/api/inventory/warehouses", { as, body: { name: code, code } })
        const body = { type: "product", slug: `of-${code.toLowerCase()}` }
        const entity = yield* api("POST", "/api/catalog/entities", { as, body })
        yield* api("POST", "/api/inventory/adjust", {
          as,
          body: { entityId: entity.text("data.id"), warehouseId: made.text("data.id"), type: "restock", quantity }
        })
      }
      const vendor = inOrganization(organization.organizationId, { ...asAnonymous, vendorId: "V2" })
      assert.deepStrictEqual(yield* rowsOf({ measures: ["Shelves.units"], dimensions: ["Shelves.code"] }, vendor), [{
        "Shelves.code": "V2",
        "Shelves.units": 4
      }])
      assert.deepStrictEqual(namesIn(yield* api("GET", "/api/analytics/meta", { as: vendor })), ["Shelves"])
      for (const measure of ["Orders.count", "Inventory.totalOnHand", "Customers.customerCount"]) {
        refused(yield* ask({ measures: [measure] }, vendor), 403, "FORBIDDEN")
      }
      assert.deepStrictEqual(yield* rowsOf({ measures: ["Shelves.units"] }, as), [{ "Shelves.units": 7 }])
      const hostile = { ...vendor, vendorId: "' or true --" }
      assert.deepStrictEqual(yield* rowsOf({ measures: ["Shelves.units"] }, hostile), [{ "Shelves.units": 0 }])
    }))

  it.effect("refuses all other actors before it reads the query", () =>
    Effect.gen(function*() {
      const manager = { ...asAnonymous, role: "manager", permissions: ["orders:read", "inventory:read"] }
      const key = { ...asStaff, type: "api_key" as const }
      for (const body of [count, {}, { measures: ["None.none"] }]) {
        for (const as of [manager, key]) refused(yield* ask(body, as), 403, "FORBIDDEN")
        refused(yield* api("POST", "/api/analytics/query", { body }), 401, "UNAUTHORIZED")
      }
      refused(yield* api("GET", "/api/analytics/meta", { as: manager }), 403, "FORBIDDEN")
      refused(yield* api("GET", "/api/analytics/meta"), 401, "UNAUTHORIZED")
    }))

  it.effect("keys go by their permissions, and people by who they are signed in as", () =>
    Effect.gen(function*() {
      const statusWith = (headers: Readonly<Record<string, string>>) =>
        Effect.map(api("POST", "/api/analytics/query", { headers, body: count }), ({ status }) => status)
      assert.strictEqual(yield* statusWith({ "x-api-key": "dev-admin-key" }), 200)
      assert.strictEqual(yield* statusWith((yield* aKey({ role: "staff", organization: "org_default" })).headers), 403)
      const organization = yield* anOrganization
      const at = organization.organizationId
      assert.strictEqual(
        yield* statusWith((yield* signIn({ active: at, organization: at, role: "staff" })).bearer),
        200
      )
      const shopper = yield* signIn({ active: at })
      const answer = yield* api("POST", "/api/analytics/query", { headers: shopper.bearer, body: count })
      assert.deepStrictEqual(answer.at("data.rows"), [{ "Orders.count": 0 }])
    }))

  it.effect("leaves rows of another store out of all figures", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* anOrganization, yield* anOrganization]
      const mine = yield* anOrder({ organizationId: one.organizationId, onHand: 5 })
      yield* anOrder({ organizationId: other.organizationId, onHand: 9 })
      yield* anOrder({ organizationId: other.organizationId })
      const measures: ReadonlyArray<readonly [string, number]> = [
        ["Orders.count", 1],
        ["OrderLineItems.count", 1],
        ["Inventory.totalOnHand", 5],
        ["Customers.customerCount", 0],
        ["Shelves.units", 5]
      ]
      for (const [measure, value] of measures) {
        assert.deepStrictEqual(yield* rowsOf({ measures: [measure] }, one), [{ [measure]: value }])
      }
      const ids = yield* rowsOf({ measures: ["Orders.count"], dimensions: ["Orders.id"] }, one)
      assert.deepStrictEqual(ids, [{ "Orders.id": mine.id, "Orders.count": 1 }])
      assert.isAtLeast((yield* rowsOf(count, asAdmin)).length, 1)
    }))
})
