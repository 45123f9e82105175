import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { group, type RouteShape } from "stoa/plugin"
import { routeFlaws } from "../../src/plugins/kit/install/RouteRules.ts"

const routes = group("Notes", "/notes")

const flawOf = ({ described }: Pick<RouteShape<unknown, unknown, unknown, unknown>, "described">) =>
  routeFlaws([{ plugin: "notes", route: { described } }], new Set(), [])[0] ?? "none"

const placed = (prefix: string, path = "") =>
  flawOf(group("Notes", prefix, { outsideApi: true }).get(path, { public: "for the test" }))

describe("a plugin's route", () => {
  it("outside /api is refused at an address of the core, in any way to write it", () => {
    for (
      const prefix of ["/health/live", "/HEALTH", "/metrics", "/rpc", "/admin/x", "/console", "/api/x", "//health//a"]
    ) {
      assert.match(placed(prefix), /of plugin "notes" stands in "\/\w+", which belongs to the core\.$/, prefix)
    }
    assert.match(placed("/%68ealth"), /has other signs than letters/)
    assert.match(placed("/*"), /has other signs than letters/)
    assert.match(placed("/"), /has other signs than letters/)
    assert.match(placed("/:shop"), /begins with a parameter/)
    for (const prefix of ["/.well-known/ucp", "/mcp", "/healthy", "/ucp/v1.0/:id"]) {
      assert.strictEqual(placed(prefix), "none")
    }
  })

  it("under /api is refused at an address of sign-ins, and outside it nowhere", () => {
    const { described } = group("Notes", "/auth").get("/saml", { public: "for the test" })
    assert.match(flawOf({ described }), /\/api\/auth\/saml of plugin "notes" stands in "\/api\/auth"/)
    assert.strictEqual(placed("/auth"), "none")
  })

  it("of JSON is refused in a group with a shape of refusals", () => {
    const { described } = routes.get("/x", { auth: true })
    const shaped = { ...described, failed: () => ({ body: "" }) }
    assert.match(flawOf({ described: shaped }), /answers JSON in a group with `failed`: make it a raw route/)
    const bytes = group("Notes", "/notes", { failed: () => ({}) })
    const isTypeError: "get" extends keyof typeof bytes ? false : true = true
    assert.isTrue(isTypeError)
  })

  it("is refused when it names a header that is not in small letters", () => {
    const reading = (name: string) =>
      routes.get("/x", { auth: true, headers: { [name]: Schema.optional(Schema.String) } })
    assert.match(flawOf(reading("X-Pos")), /GET \/api\/notes\/x of plugin "notes" reads the header "X-Pos": names have/)
    assert.match(flawOf(reading("x pos")), /"x pos"/)
    assert.strictEqual(flawOf(reading("x-pos-2")), "none")
  })
})
