import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { api, withApp } from "../support/TestApp.ts"

const ofABrowser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" }

withApp("the front page", (it) => {
  it.effect("tells a browser what this is, and every link on it leads somewhere", () =>
    Effect.gen(function*() {
      const page = yield* api("GET", "/", { headers: ofABrowser })
      assert.strictEqual(page.status, 200)
      assert.match(page.headers.get("content-type") ?? "", /^text\/html/)
      const text = String(page.body)
      assert.match(text, /<h1>Stoa<\/h1>\s*<p>A headless commerce backend, version \d/)
      const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, path = ""]) => path)
      assert.includeMembers(links, ["/api/reference", "/api/doc"])
      for (const path of links) assert.strictEqual((yield* api("GET", path)).status, 200, path)
    }))

  it.effect("tells everybody else the same as JSON", () =>
    Effect.gen(function*() {
      for (const headers of [{}, { accept: "application/json" }, { accept: "*/*" }]) {
        const answer = yield* api("GET", "/", { headers })
        assert.strictEqual(answer.status, 200)
        assert.strictEqual(answer.at("data.name"), "Stoa")
        assert.strictEqual(answer.at("data.reference"), "/api/reference")
        assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      }
    }))

  it.effect("takes no changes", () =>
    Effect.gen(function*() {
      const answer = yield* api("POST", "/")
      assert.deepStrictEqual([answer.status, answer.headers.get("allow")], [405, "GET, HEAD"])
    }))
})
