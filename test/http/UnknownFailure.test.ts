import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { api, asAdmin, withApp } from "../support/TestApp.ts"

withApp("an unexpected failure", (it) => {
  it.effect("is a 500 with the request's id and without details", () =>
    Effect.gen(function*() {
      yield* onDatabase((sql) => sql`alter table brands rename to brands_away`)
      const answer = yield* api("GET", "/api/catalog/brands", { as: asAdmin })
      yield* onDatabase((sql) => sql`alter table brands_away rename to brands`)
      assert.strictEqual(answer.status, 500)
      assert.deepStrictEqual(answer.body, {
        error: { code: "INTERNAL_ERROR", message: "An unexpected error occurred." }
      })
      assert.match(answer.headers.get("x-request-id") ?? "", /^[\w-]{8,}$/)
      assert.isTrue(Number(answer.headers.get("x-ratelimit-remaining")) > 0, "counts like any other")
      assert.strictEqual((yield* api("GET", "/api/catalog/brands", { as: asAdmin })).status, 200)
    }))
})
