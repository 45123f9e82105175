import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import {
  definePlugin,
  group,
  integer,
  PluginContext,
  type PluginDatabase,
  type RateRequest,
  table,
  type TaxRequest
} from "stoa/plugin"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

const duties = table("duties", { rateBps: integer })

/** Tax from a table of the plugin. */
class Duties extends Context.Service<Duties, { readonly rateBps: ReturnType<typeof rateOf> }>()("test/plugins/Duties") {
  static readonly layer = Layer.effect(Duties, Effect.map(PluginContext, ({ db }) => ({ rateBps: rateOf(db) })))
}

const rateOf = (db: PluginDatabase) => Effect.map(db.table(duties).first({}), (found) => found?.rateBps ?? 0)

const taxed: Array<TaxRequest> = []
const shipped: Array<RateRequest> = []
const routes = group("Customs", "/customs")

const customs = definePlugin({
  id: "customs",
  version: "1.0.0",
  permissions: [{ scope: "customs:write", description: "Change duties" }],
  schema: () => [duties],
  layer: Duties.layer,
  keyScopes: { kiosk: { prefix: "kiosk_", permissions: { customs: ["write"] } } },
  routes: () => [
    routes.post("/duties", { permission: "customs:write", input: Schema.Struct({ rateBps: Schema.Int }) })
      .handle(({ db, input }) => db.table(duties).insert(input))
  ],
  taxAdapters: () =>
    Effect.map(Duties, ({ rateBps }) => [{
      id: "customs",
      calculate: (request) => {
        taxed.push(request)
        return Effect.map(rateBps, (bps) => ({ lineTaxes: request.lines.map(({ amount }) => amount * bps / 10_000) }))
      }
    }]),
  shippingAdapters: () => [{
    rates: (request) => {
      shipped.push(request)
      return Promise.resolve([{ id: "sea", name: "By sea", amount: 300 }])
    }
  }]
})

const shippingAddress = { line1: "1 Main St", city: "Town", postalCode: "1000 AA", country: "NL" }

layer(testAppLayer({ plugins: [customs] }), live)(
  "an adapter of a plugin",
  (it) => {
    it.effect("taxes and ships orders by the plugin's own tables, and receives the organization and the actor", () =>
      Effect.gen(function*() {
        const key = yield* api("POST", "/api/admin/api-keys", { as: asAdmin, body: { name: "Kiosk", scope: "kiosk" } })
        assert.match(key.text("data.key"), /^kiosk_/)
        const headers = { "x-api-key": key.text("data.key") }
        const made = yield* api("POST", "/api/customs/duties", { headers, body: { rateBps: 1000 } })
        assert.strictEqual(made.status, 201)
        const cart = yield* aCartWith(yield* aProduct({ price: 700 }), 2)
        const order = yield* checkOut(cart, { shippingAddress })
        assert.deepStrictEqual(
          ["subtotal", "taxTotal", "shippingTotal"].map((field) => order.at(`data.${field}`)),
          [1400, 140, 300]
        )
        for (const { actor, organizationId } of [...taxed, ...shipped]) {
          assert.deepStrictEqual([organizationId, actor], ["org_default", {
            type: "user",
            userId: null,
            role: "customer"
          }])
        }
        assert.isAbove(taxed.length * shipped.length, 0)
      }))
  }
)
