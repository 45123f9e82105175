import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { lastingRates } from "../support/LastingRates.ts"
import { api, asAdmin } from "../support/TestApp.ts"
import { fetched, upload, withShelf } from "./MediaFixtures.ts"

const strict = { rateLimits: lastingRates({ api: 20, media: 30 }) }

withShelf({}, strict)("requests for files", (it) => {
  it.effect("requests for files have a rate limit by address, separate from other requests and for any caller and answer", () =>
    Effect.gen(function*() {
      const url = (yield* upload({ fields: { isPublic: "true" } })).text("data.url")
      const first = yield* fetched(url)
      assert.deepStrictEqual(
        [first.headers.get("x-ratelimit-limit"), first.headers.get("x-ratelimit-remaining")],
        ["30", "29"]
      )
      const next = (n: number) =>
        n % 2 === 0 ? fetched(url, asAdmin) : fetched("/api/media/files/2026/none.png", undefined)
      let [allowed, refused] = [1, yield* next(0)]
      for (; refused.status !== 429 && allowed < 100; allowed++) refused = yield* next(allowed)
      assert.deepStrictEqual([allowed, refused.status], [30, 429])
      assert.isTrue(refused.headers.has("retry-after"))
      const other = yield* api("GET", "/api/catalog/entities")
      assert.deepStrictEqual([other.status, other.headers.get("x-ratelimit-remaining")], [200, "19"])
    }))
})
