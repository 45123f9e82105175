import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { modelCheckLayer } from "../../src/domain/analytics/AnalyticsRepo.ts"
import { analyticsModels as ofOrders } from "../../src/domain/orders/analytics.ts"
import {
  type AnalyticsModel,
  AnalyticsModels,
  broughtBy,
  BroughtModels,
  modelFlaws
} from "../../src/domain/platform/modules/AnalyticsModel.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { anOrganization } from "../support/Organizations.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { api, live, testAppLayer } from "../support/TestApp.ts"
import { anOrder, ask, rowsOf } from "./Questions.ts"

/** As the specification writes a custom model: `name`, `table`, `measures` and `dimensions`. */
const Refunds: AnalyticsModel = {
  name: "Refunds",
  table: "refunds",
  joins: [{ table: "orders", type: "left", on: "orders.id = refunds.order_id", model: "Orders" }],
  measures: { count: { type: "count" }, given: { type: "sum", sql: "refunds.amount" } },
  dimensions: {
    reason: { sql: "refunds.reason", type: "string" },
    amount: { sql: "refunds.amount", type: "number" },
    createdAt: { sql: "refunds.created_at", type: "time" }
  },
  segments: { settled: { sql: "refunds.status = 'completed' or refunds.status = 'undone'" } }
}

/** A model whose every row takes its time. */
const Slow: AnalyticsModel = {
  name: "Slow",
  table: "orders",
  measures: { count: { type: "count", filter: "pg_sleep(60) is not null" } },
  dimensions: {}
}

/** A join whose condition holds for every row there is. */
const Reckless: AnalyticsModel = {
  name: "Reckless",
  table: "customers",
  joins: [{ table: "orders", type: "left", on: "true or orders.organization_id <> customers.organization_id" }],
  measures: { orders: { type: "count", sql: "orders.id" } },
  dimensions: {},
  segments: { all: { sql: "false) or (true" } }
}

/** A model that would write, were it let. */
const Writing: AnalyticsModel = {
  name: "Writing",
  table: "orders",
  measures: { count: { type: "count", filter: "lo_create(0) is not null" } },
  dimensions: {}
}

const withModels = layer(
  testAppLayer({ analytics: { models: [Refunds, Slow, Reckless, Writing], timeoutMs: 2000 } }),
  live
)

withModels("a model of the deployment's own", (it) => {
  it.effect("a model of the deployment's own is listed and asked like those of the core, with the dimensions of the model it joins", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const order = yield* anOrder({ organizationId: as.organizationId, orderNumber: "ORD-2026-000042" })
      yield* api("POST", `/api/orders/${order.id}/refund`, { as, body: { amount: 300, reason: "torn" } })
      const meta = yield* api("GET", "/api/analytics/meta", { as })
      assert.deepInclude(meta.list("data.models"), {
        name: "Refunds",
        source: "custom-schema",
        measures: ["Refunds.count", "Refunds.given"],
        dimensions: ["Refunds.reason", "Refunds.amount", "Refunds.createdAt"],
        segments: ["Refunds.settled"]
      })
      const rows = yield* rowsOf({
        measures: ["Refunds.given"],
        dimensions: ["Refunds.reason", "Refunds.amount", "Orders.orderNumber"],
        filters: [{ member: "Refunds.amount", operator: "gte", values: [300] }]
      }, as)
      assert.deepStrictEqual(rows, [{
        "Refunds.reason": "torn",
        "Refunds.amount": 300,
        "Orders.orderNumber": "ORD-2026-000042",
        "Refunds.given": 300
      }])
      // Another store is not reached through a condition of the model that holds for it too.
      const elsewhere = yield* anOrganization
      const settled = { measures: ["Refunds.count"], segments: ["Refunds.settled"] }
      assert.deepStrictEqual(yield* rowsOf(settled, elsewhere), [{ "Refunds.count": 0 }])
    }))

  it.effect("reaches no other store, however its join and its segments are written", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* anOrganization, yield* anOrganization]
      for (const as of [one, other]) yield* api("POST", "/api/customers", { as, body: {} })
      yield* anOrder({ organizationId: other.organizationId })
      const query = { measures: ["Reckless.orders"], segments: ["Reckless.all"] }
      assert.deepStrictEqual(yield* rowsOf(query, one), [{ "Reckless.orders": 0 }])
      assert.deepStrictEqual(yield* rowsOf(query, other), [{ "Reckless.orders": 1 }])
    }))

  it.effect("writes nothing, even if its expressions call functions that write", () =>
    Effect.gen(function*() {
      yield* anOrder({})
      assert.strictEqual((yield* ask({ measures: ["Writing.count"] })).status, 500)
      assert.deepStrictEqual(yield* onDatabase((sql) => sql`select oid from pg_largeobject_metadata`), [])
    }))

  it.effect("a model of the deployment's own that takes too long is given up, and the next question is answered", () =>
    Effect.gen(function*() {
      yield* anOrder({})
      const answer = yield* ask({ measures: ["Slow.count"] })
      assert.deepStrictEqual([answer.status, answer.at("error.code")], [503, "SERVICE_UNAVAILABLE"])
      assert.strictEqual(answer.headers.get("retry-after"), "1")
      assert.match(answer.text("error.message"), /takes too long/)
      assert.strictEqual((yield* ask({ measures: ["Orders.count"] })).status, 200)
    }))
})

type AnalyticsOptions = NonNullable<DeploymentConfig["analytics"]>

const starting = (analytics: AnalyticsOptions) =>
  Effect.provideService(readSettings({ analytics }), ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({}))

/** The models with one thing about the first of them changed. */
const changed = (change: Partial<AnalyticsModel>): AnalyticsOptions => ({ models: [{ ...Refunds, ...change }] })

/** As a file that is not checked by the compiler may have it. */
const untyped = (change: string): AnalyticsOptions => changed(JSON.parse(change))

describe("what a deployment says of analytics", () => {
  it.effect("what a deployment says of analytics is refused at the start when it cannot be", () =>
    Effect.gen(function*() {
      const measure = { type: "count" } as const
      const wrong: ReadonlyArray<readonly [AnalyticsOptions, RegExp]> = [
        [{ timeoutMs: 99 }, /analytics\.timeoutMs="99"/],
        [{ timeoutMs: 300_001 }, /analytics\.timeoutMs/],
        [{ connections: 0 }, /analytics\.connections/],
        [{ connections: 1.5 }, /analytics\.connections/],
        [{ models: [Refunds, Refunds] }, /"Refunds": another model has this name/],
        [changed({ name: "My model" }), /letters, digits and underscores/],
        [changed({ table: "orders; drop table orders" }), /not the plain name of a table/],
        [changed({ table: "Orders" }), /not the plain name of a table/],
        [changed({ measures: {} }), /it has no measures/],
        [changed({ measures: { "a.b": measure } }), /"a\.b" is not a name/],
        [changed({ measures: { reason: measure } }), /"reason" is named twice/],
        [changed({ measures: { given: { type: "sum" } } }), /measure "given" needs sql/],
        [changed({ measures: { given: { type: "sum", sql: " " } } }), /sql of measure "given" is empty/],
        [changed({ measures: { given: { ...measure, filter: "" } } }), /filter of measure "given" is empty/],
        [changed({ measures: { given: { type: "avg", sql: "1", decimals: 7 } } }), /decimals of measure "given"/],
        [untyped("{\"measures\":{\"given\":{\"type\":\"median\",\"sql\":\"1\"}}}"), /type "median"/],
        [untyped("{\"dimensions\":{\"worth\":{\"type\":\"money\",\"sql\":\"1\"}}}"), /type "money"/],
        [changed({ dimensions: { at: { type: "time", sql: "" } } }), /dimension "at" needs sql/],
        [changed({ segments: { big: { sql: "" } } }), /segment "big" needs sql/],
        [changed({ joins: [{ table: "a b", type: "left", on: "true" }] }), /joined table "a b"/],
        [changed({ joins: [{ table: "orders", type: "left", on: "" }] }), /has no condition/],
        [changed({ joins: [{ table: "refunds", type: "left", on: "true" }] }), /joined twice/],
        [untyped("{\"joins\":[{\"table\":\"orders\",\"type\":\"full\",\"on\":\"true\"}]}"), /type "full"/],
        [untyped("{\"scopeRules\":[{\"role\":\"staff\",\"filter\":\"true\"}]}"), /for "staff"/],
        [changed({ scopeRules: [{ role: "vendor", filter: "true" }] }), /does not name :vendorId/],
        [changed({ scopeRules: [{ role: "customer", filter: "x = :vendorId" }] }), /does not name :customerId/]
      ]
      for (const [analytics, message] of wrong) {
        assert.match((yield* Effect.flip(starting(analytics))).message, message)
      }
      yield* starting({ models: [Refunds], timeoutMs: 100, connections: 20 })
    }))

  it.effect(
    "what a deployment says of analytics ends the start when the database knows no such column",
    () =>
      Effect.gen(function*() {
        const dimensions = { total: { sql: "refunds.total", type: "number" } } as const
        const app = testAppLayer({ analytics: { models: [{ ...Refunds, dimensions }] } })
        const started = yield* Effect.exit(Effect.scoped(Layer.build(app)))
        assert.match(JSON.stringify(started), /analytics model.*Refunds.*column refunds\.total does not exist/)
      })
  )
})

/** What is said of models that a deployment adds to those of orders. */
const failureOf = Effect.fnUntraced(function*(...models: ReadonlyArray<AnalyticsModel>) {
  const brought = BroughtModels.layerOf(broughtBy([{ analyticsModels: ofOrders }], []))
  const all = AnalyticsModels.layerOf(models).pipe(Layer.provide(brought))
  return (yield* Effect.flip(Effect.scoped(Layer.build(Layer.provide(modelCheckLayer, all))))).message
})

it.layer(TestDatabase, { excludeTestServices: true })("the check of models on the tables", (it) => {
  it.effect("says which one cannot be asked, and why", () =>
    Effect.gen(function*() {
      const bare = { measures: { count: { type: "count" } }, dimensions: {} } as const
      assert.match(yield* failureOf({ ...bare, name: "Users", table: "users" }), /"Users".*organization_id/)
      assert.match(yield* failureOf({ ...bare, name: "None", table: "nothing" }), /"None".*"nothing" does not exist/)
      const nowhere = [{ table: "orders", type: "left", on: "orders.id = refunds.order_id", model: "Nothing" }] as const
      assert.match(yield* failureOf({ ...Refunds, joins: nowhere }), /names the model "Nothing"/)
      const open = [{ role: "customer", filter: "refunds.customer_id = :customerId" }] as const
      assert.match(yield* failureOf({ ...Refunds, scopeRules: open }), /refunds\.customer_id does not exist/)
    }))
})

describe("models of modules and plugins", () => {
  it.effect("models of modules and plugins stand beside each other under the names of where they come from", () =>
    Effect.gen(function*() {
      const plugin = { analyticsModels: () => [{ ...Refunds, name: "VendorRefunds" }] }
      const brought = broughtBy([{ analyticsModels: ofOrders }, { analyticsModels: () => [] }], [plugin])
      const all = AnalyticsModels.layerOf([Refunds]).pipe(Layer.provide(BroughtModels.layerOf(brought)))
      const models = yield* Effect.provide(AnalyticsModels, all)
      assert.deepStrictEqual(models.map(({ model, source }) => `${model.name} ${source}`), [
        "Orders builtin",
        "OrderLineItems builtin",
        "Tenders builtin",
        "VendorRefunds plugin",
        "Refunds custom-schema"
      ])
      const twice = AnalyticsModels.layerOf(ofOrders()).pipe(Layer.provide(BroughtModels.layerOf(brought)))
      const refusal = yield* Effect.flip(Effect.provide(AnalyticsModels, twice))
      assert.match(refusal.message, /"Orders": another model has this name/)
    }))

  it("models of modules and plugins of the core have no flaws", () => {
    assert.deepStrictEqual(modelFlaws(ofOrders()), [])
  })
})
