import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { api, asAdmin, testAppLayer } from "../../../test/support/TestApp.ts"
import { marketplace } from "../index.ts"

layer(testAppLayer({ plugins: [marketplace()] }), { excludeTestServices: true, timeout: "60 seconds" })(
  "the marketplace",
  (it) => {
    it.effect("brings its permissions", () =>
      Effect.gen(function*() {
        const { body } = yield* api("GET", "/api/admin/permissions", { as: asAdmin })
        assert.include(JSON.stringify(body), "marketplace:vendor")
      }))
  }
)
