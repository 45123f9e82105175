import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { group, type RouteShape } from "stoa/plugin"
import { routeFlaws } from "../../src/plugins/kit/install/PluginRules.ts"

const routes = group("Notes", "/notes")

const flawOf = ({ described }: Pick<RouteShape<unknown, unknown, unknown, unknown>, "described">) =>
  routeFlaws([{ plugin: "notes", route: { described } }], new Set(), [])[0] ?? "none"

describe("a plugin's route", () => {
  it("is refused when it names a header that is not in small letters", () => {
    const reading = (name: string) =>
      routes.get("/x", { auth: true, headers: { [name]: Schema.optional(Schema.String) } })
    assert.match(flawOf(reading("X-Pos")), /GET \/api\/notes\/x of plugin "notes" reads the header "X-Pos": names have/)
    assert.match(flawOf(reading("x pos")), /"x pos"/)
    assert.strictEqual(flawOf(reading("x-pos-2")), "none")
  })
})
