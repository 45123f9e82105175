import { assert, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Schema } from "effect"
import {
  afterHook,
  definePlugin,
  defineTask,
  type ExtensionPoint,
  extensionPoint,
  group,
  HookRefusal
} from "stoa/plugin"
import { eventually } from "../support/Eventually.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
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

/** Says what speaks against a bill, if anything does. */
class BillChecks extends Context.Service<BillChecks, ExtensionPoint<() => string>>()("test/plugins/BillChecks") {
  static readonly layer = Layer.effect(BillChecks, extensionPoint<() => string>())
}

const routes = (name: string) => group(name, `/${name}`)

const pos = definePlugin({
  id: "pos",
  version: "1.0.0",
  layer: Layer.mergeAll(Till.layer, Drawer.layer, BillChecks.layer),
  exports: [Till, BillChecks],
  routes: () => [
    routes("pos").get("/checks", { auth: true, success: Schema.Array(Schema.String) }).handle(() =>
      BillChecks.use(({ all }) => Effect.succeed(all().map((check) => check())))
    ),
    routes("pos").post("/checks", { auth: true }).handle(() =>
      BillChecks.use(({ add }) => Effect.map(Effect.exit(add(() => "too late")), Exit.isFailure))
    ),
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

/** What a service gives while the plugin is built. */
let usedTooEarly: unknown

const tellKitchen = () => Effect.andThen(BillChecks, Effect.fail(new HookRefusal("The kitchen is closed.")))

const restaurant = definePlugin({
  id: "restaurant",
  version: "1.0.0",
  requires: ["pos"],
  uses: [Till, BillChecks],
  layer: Layer.mergeAll(
    Kitchen.layer,
    Layer.effectDiscard(BillChecks.use(({ add }) => add(() => "the checklist is open")))
  ),
  routes: ({ services }) => [
    routes("restaurant").list("/brands", { auth: true }).handle(({ page }) => services.brands.list(page)),
    routes("restaurant").post("/cook", { auth: true, success: Schema.Array(Schema.String) }).handle(() =>
      Kitchen.use(({ cook }) => cook)
    ),
    routes("restaurant").post("/ring", { auth: true, success: Schema.Array(Schema.String) }).handle(() =>
      Till.use(({ ring }) => ring("restaurant"))
    )
  ],
  hooks: () => [
    afterHook("customers.afterCreate", () => Till.use(({ ring }) => ring("hook"))),
    afterHook("orders.afterCreate", tellKitchen)
  ],
  tasks: ({ services }) => {
    try {
      usedTooEarly = services.brands
    } catch (error) {
      usedTooEarly = error
    }
    return [defineTask({ slug: "restaurant/ring", handler: () => Till.use(({ ring }) => Effect.asVoid(ring("task"))) })]
  },
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

    it.effect("is asked by a hook that fails, which the answer names by its function", () =>
      Effect.gen(function*() {
        const cart = yield* aCartWith(yield* aProduct())
        const bought = yield* checkOut(cart)
        const hookErrors = bought.list("meta.hookErrors")
        assert.deepStrictEqual(hookErrors, [{ hookName: "tellKitchen", message: "The kitchen is closed." }])
      }))

    it.effect("collects what others add while the process starts, and nothing later", () =>
      Effect.gen(function*() {
        const checks = Effect.map(api("GET", "/api/pos/checks", { as: asAdmin }), (answer) => answer.list("data"))
        assert.deepStrictEqual(yield* checks, ["the checklist is open"])
        const late = yield* api("POST", "/api/pos/checks", { as: asAdmin })
        assert.deepStrictEqual([late.at("data"), yield* checks], [true, ["the checklist is open"]])
      }))

    it.effect("of the core can be taken before the process has started, and is looked up when it is used", () =>
      Effect.gen(function*() {
        const brands = yield* api("GET", "/api/restaurant/brands", { as: asAdmin })
        assert.deepStrictEqual([brands.status, brands.at("data")], [200, []])
        const sentence = "Use services inside of handlers: they exist once the process has started."
        assert.deepStrictEqual(usedTooEarly, new Error(sentence))
      }))
  }
)
