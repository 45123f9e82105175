import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { afterHook, definePlugin, defineTask, group } from "stoa/plugin"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

/** A till that counts what is rung up. */
class Till extends Context.Service<Till, {
  readonly ring: (by: string) => Effect.Effect<ReadonlyArray<string>>
}>()("test/plugins/Till") {
  static readonly layer = Layer.sync(Till, () => {
    const rung: Array<string> = []
    return {
      ring: (by: string) =>
        Effect.sync(() => {
          rung.push(by)
          return [...rung]
        })
    }
  })
}

/** Not exported. */
class Drawer extends Context.Service<Drawer, { readonly open: Effect.Effect<void> }>()("test/plugins/Drawer") {
  static readonly layer = Layer.succeed(Drawer, { open: Effect.void })
}

const routes = (name: string) => group(name, `/${name}`)

const pos = definePlugin({
  id: "pos",
  version: "1.0.0",
  layer: Layer.mergeAll(Till.layer, Drawer.layer),
  exports: Till,
  routes: () => [
    routes("pos").post("/ring", { auth: true, success: Schema.Array(Schema.String) }).handle(() =>
      Till.use(({ ring }) => ring("pos"))
    )
  ]
})

class Kitchen extends Context.Service<Kitchen, {
  readonly cook: Effect.Effect<ReadonlyArray<string>>
}>()("test/plugins/Kitchen") {
  static readonly layer = Layer.effect(Kitchen, Effect.map(Till, ({ ring }) => ({ cook: ring("kitchen") })))
}

const restaurant = definePlugin({
  id: "restaurant",
  version: "1.0.0",
  requires: ["pos"],
  uses: [Till],
  layer: Kitchen.layer,
  routes: () => [
    routes("restaurant").post("/cook", { auth: true, success: Schema.Array(Schema.String) }).handle(() =>
      Kitchen.use(({ cook }) => cook)
    ),
    routes("restaurant").post("/ring", { auth: true, success: Schema.Array(Schema.String) }).handle(() =>
      Till.use(({ ring }) => ring("restaurant"))
    )
  ],
  hooks: () => Effect.map(Till, ({ ring }) => [afterHook("customers.afterCreate", () => ring("hook"))]),
  tasks: () =>
    Effect.map(Till, ({ ring }) => [
      defineTask({ slug: "restaurant/ring", handler: () => Effect.asVoid(ring("task")) })
    ]),
  onEvents: { "customers.create": () => Till.use(({ ring }) => ring("event")) }
})

layer(testAppLayer({ plugins: [pos, restaurant] }), live)(
  "a service that a plugin exports",
  (it) => {
    it.effect("is the same instance in the layer, routes, hooks and event handlers of plugins that use it", () =>
      Effect.gen(function*() {
        yield* api("POST", "/api/pos/ring", { as: asAdmin })
        yield* api("POST", "/api/restaurant/cook", { as: asAdmin })
        yield* api("POST", "/api/customers", { as: asAdmin, body: { email: "a@example.com" } })
        const rung = yield* eventually(
          "the event",
          Effect.map(api("POST", "/api/restaurant/ring", { as: asAdmin }), (answer) => {
            const all = answer.list("data")
            return all.includes("event") ? all : undefined
          })
        )
        assert.deepStrictEqual(rung.filter((by) => by !== "restaurant"), ["pos", "kitchen", "hook", "event"])
      }))
  }
)
