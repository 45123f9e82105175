import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Schema } from "effect"
import { group, option, pluginWith } from "stoa/plugin"
import { optionsTable } from "stoa/plugin/testing"
import { checkPlugins } from "../../src/plugins/kit/install/PluginCheck.ts"
import type { Plugin } from "../../src/plugins/kit/Plugin.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { api, asAdmin, testAppOn } from "../support/TestApp.ts"

const routes = group("Parking", "/parking")

const parking = pluginWith(
  "parking",
  Schema.Struct({
    places: option(Schema.Int.check(Schema.isGreaterThan(0)), { default: 10, description: "Cars that fit" }),
    gate: option<() => string>({ description: "What opens it" }),
    fees: option(Schema.Struct({ hour: option(Schema.Int, { default: 200, description: "An hour" }) }), {
      default: {},
      description: "Prices"
    })
  }),
  (options) => ({
    version: "1.0.0",
    routes: () => [
      routes.get("/", { auth: true }).handle(() => Effect.succeed({ ...options, gate: options.gate?.() ?? null }))
    ]
  })
)

const refusalOf = (plugin: Plugin) => Effect.map(Effect.flip(checkPlugins([plugin], {})), ({ message }) => message)

describe("options of a plugin", () => {
  it.live("have defaults, and reach the plugin", () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const asked = api("GET", "/api/parking", { as: asAdmin })
      const given = yield* Effect.provide(asked, testAppOn(url, { plugins: [parking({ gate: () => "open" })] }))
      assert.deepStrictEqual(given.at("data"), { places: 10, gate: "open", fees: { hour: 200 } })
    })))

  it.live("end the start when one is wrong", () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const started = Layer.build(testAppOn(url, { plugins: [parking({ places: 0 })] }))
      const exit = yield* Effect.exit(started)
      assert.include(Exit.isFailure(exit) ? String(exit.cause) : "", `Plugin "parking": places must be`)
    })))

  it.effect("are refused with the name of a field inside, and of one that does not exist", () =>
    Effect.gen(function*() {
      const inside = yield* refusalOf(parking({ fees: { hour: 0.5 } }))
      assert.include(inside, `Plugin "parking": fees.hour must be a`)
      const misspelt: object = { place: 3 }
      assert.include(yield* refusalOf(parking(misspelt)), `Plugin "parking": place `)
    }))

  it("are listed with their defaults", () => {
    assert.include(optionsTable(parking()), "| `places` | `10` | Cars that fit |")
    assert.include(optionsTable(parking()), "| `gate` | none | What opens it |")
  })
})
