import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { anOrder, rowsOf } from "../analytics/Questions.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { counts, exported, imported } from "../import-export/ImportFixtures.ts"
import { aPromotion, changePromotion } from "../promotions/PromotionBuilder.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

const zurich = testAppLayer({ store: { timeZone: "Europe/Zurich" } })

layer(zurich, live)("a store with a time zone", (it) => {
  it.effect("reads dates and local times of promotions in it, and shows the instants", () =>
    Effect.gen(function*() {
      const body = { name: "Day", type: "percentage_off_order", value: 10, code: "DAY" }
      const made = yield* api("POST", "/api/promotions", {
        as: asAdmin,
        body: { ...body, validFrom: "2026-10-25", validUntil: "2026-10-25" }
      })
      assert.strictEqual(made.status, 201)
      assert.strictEqual(made.text("data.validFrom"), "2026-10-24T22:00:00.000Z")
      assert.strictEqual(made.text("data.validUntil"), "2026-10-25T23:00:00.000Z")
      const local = yield* changePromotion(made.text("data.id"), { validUntil: "2026-12-24T18:00" })
      assert.strictEqual(local.text("data.validUntil"), "2026-12-24T17:00:00.000Z")
    }))

  it.effect("refuses an end that is not after its beginning, the stored one too", () =>
    Effect.gen(function*() {
      const { id } = yield* aPromotion({ validFrom: "2026-12-02", validUntil: "2026-12-03" })
      for (
        const change of [{ validUntil: "2026-12-01" }, { validFrom: "2026-12-04" }, { validFrom: "2026-12-04T00:00" }]
      ) {
        const refused = yield* changePromotion(id, change)
        assert.strictEqual(refused.status, 422)
        assert.deepStrictEqual(refused.at("error.details.issues"), [
          { path: "validUntil", message: "validUntil must be after validFrom.", code: "invalid" }
        ])
      }
    }))

  it.effect("reads days of imported prices and of list filters in it, and counts by them", () =>
    Effect.gen(function*() {
      const product = { type: "product", slug: "days", status: "active" }
      const { id } = Object((yield* api("POST", "/api/catalog/entities", { as: asAdmin, body: product })).at("data"))
      const file = "slug,currency,amount,validFrom,validUntil\ndays,USD,100,2026-10-25,2026-10-25"
      assert.deepStrictEqual(counts(yield* imported(file, { query: "kind=prices" })), [1, 0, 0, 0])
      const [price] = yield* onDatabase((sql) =>
        sql`select valid_from, valid_until from prices where entity_id = ${id}`
      )
      assert.deepStrictEqual(Object.values(Object(price)).map((at) => new Date(String(at)).toISOString()), [
        "2026-10-24T22:00:00.000Z",
        "2026-10-25T23:00:00.000Z"
      ])
      const whole = yield* exported("prices")
      assert.deepStrictEqual(counts(yield* imported(whole, { query: "kind=prices" })), [0, 0, 1, 0])
      const backwards = yield* api("GET", "/api/audit?from=2026-10-26&to=2026-10-25", { as: asAdmin })
      assert.strictEqual(backwards.text("error.details.issues.0.message"), "to must be after from.")
      yield* anOrder({ placedAt: new Date("2026-10-24T22:30:00Z") })
      const days = { dimension: "Orders.placedAt", granularity: "day", dateRange: ["2026-10-25", "2026-10-25"] }
      assert.deepStrictEqual(yield* rowsOf({ measures: ["Orders.count"], timeDimensions: [days] }), [
        { "Orders.placedAt": "2026-10-25", "Orders.count": 1 }
      ])
    }))
})
