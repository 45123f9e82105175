import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { ratesOf } from "../../src/layers/config/RateLimitConfig.ts"
import { api, asAdmin } from "../support/TestApp.ts"
import { fetched, upload } from "./MediaCalls.ts"
import { withShelf } from "./Shelf.ts"

const strict = { rateLimits: ratesOf({ api: 20, media: 30 }, true, 1) }

withShelf({}, strict)("requests for files", (it) => {
  it.effect("count by address and apart from all others, whoever asks and whatever he gets", () =>
    Effect.gen(function*() {
      const url = (yield* upload({ fields: { isPublic: "true" } })).text("data.url")
      const first = yield* fetched(url)
      assert.deepStrictEqual(
        [first.headers.get("x-ratelimit-limit"), first.headers.get("x-ratelimit-remaining")],
        ["30", "29"]
      )
      for (let n = 0; n < 28; n++) {
        const [path, as] = n % 2 === 0
          ? [url, asAdmin] as const
          : ["/api/media/files/2026/none.png", undefined] as const
        yield* fetched(path, as)
      }
      assert.strictEqual((yield* fetched(url)).status, 200)
      const refused = yield* fetched(url, asAdmin)
      assert.strictEqual(refused.status, 429)
      assert.isTrue(refused.headers.has("retry-after"))
      const other = yield* api("GET", "/api/catalog/entities")
      assert.deepStrictEqual([other.status, other.headers.get("x-ratelimit-remaining")], [200, "19"])
    }))
})
