import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import { make, onDatabase, searching } from "../catalog/CatalogCalls.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

const deployment = { search: { defaultFacets: ["status", "color"] } }

layer(testAppLayer(deployment), live)(
  "search of a deployment",
  (it) => {
    it.effect("counts the facets that the deployment names", () =>
      Effect.gen(function*() {
        yield* make({ slug: "lamp", status: "active", metadata: { color: "red" } })
        const { facets } = yield* searching("q=lamp")
        assert.deepStrictEqual(facets, { status: { active: 1 }, color: { red: 1 } })
        assert.deepStrictEqual((yield* searching("")).facets, { status: {}, color: {} })
      }))

    // The last one of this file: the index is gone then.
    it.effect("a search that fails is an error, not an empty result", () =>
      Effect.gen(function*() {
        yield* onDatabase((sql) => sql`alter table search_documents rename to search_documents_gone`)
        for (const path of ["/api/search?q=lamp", "/api/search?type=product"]) {
          const answer = yield* api("GET", path, { as: asAdmin })
          assert.deepStrictEqual([answer.status, answer.at("error.code")], [500, "INTERNAL_ERROR"], path)
        }
        // Nor does a change of the catalog leave the index behind: it does not happen.
        const body = { type: "product", slug: "orphan" }
        assert.strictEqual((yield* api("POST", "/api/catalog/entities", { as: asAdmin, body })).status, 500)
        assert.strictEqual((yield* api("GET", "/api/catalog/entities/orphan", { as: asAdmin })).status, 404)
      }))
  }
)

describe("settings of search", () => {
  it.effect.each([[["a b"]], [["type", "type"]], [Array.from({ length: 21 }, (_, n) => `f${n}`)], [["a,b"]]])(
    "%j are refused",
    ([defaultFacets = []]) =>
      Effect.map(
        Effect.flip(readSettings({ search: { defaultFacets } })),
        ({ message }) => assert.match(message, /^search\.defaultFacets=".*" is not allowed: expected at most 20 names/)
      )
  )

  it.effect("settings of search may be left out, or name entities' own facets and attributes", () =>
    readSettings({ search: { defaultFacets: ["type", "attr.color", "size"] } }))
})
