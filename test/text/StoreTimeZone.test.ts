import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
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
})
