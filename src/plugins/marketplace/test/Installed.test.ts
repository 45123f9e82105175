import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readFile } from "node:fs/promises"
import { optionsTable } from "stoa/plugin/testing"
import { freshDatabase } from "../../../../test/support/Postgres.ts"
import { api, asAdmin, testAppOn } from "../../../../test/support/TestApp.ts"
import { marketplace } from "../index.ts"

// Other files begin with the tables of the plugin.
const installed = Layer.unwrap(Effect.map(freshDatabase, ({ url }) => testAppOn(url, { plugins: [marketplace()] })))

layer(installed, { excludeTestServices: true, timeout: "60 seconds" })(
  "the marketplace",
  (it) => {
    it("has its options in its README", async () => {
      const readme = await readFile(new URL("../README.md", import.meta.url), "utf8")
      assert.include(readme, optionsTable(marketplace()))
    })

    it.effect("brings its permissions", () =>
      Effect.gen(function*() {
        const { body } = yield* api("GET", "/api/admin/permissions", { as: asAdmin })
        assert.include(JSON.stringify(body), "marketplace:vendor")
      }))
  }
)
