import { assert, it } from "@effect/vitest"
import { Cause, Context, Deferred, Effect, Exit, Layer } from "effect"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { afterHook, beforeHook, type Hook } from "../../src/domain/platform/hooks/Hook.ts"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"

const asSystem = Effect.provideService(CurrentActor, systemActor("org"))

/** Writes its name behind those of the hooks before it. */
const naming = (name: string): Hook =>
  beforeHook("acme.beforeRoast", ({ data }) => ({ names: [...[Reflect.get(data, "names") ?? []].flat(), name] }))

const order = Effect.flatMap(Hooks, (hooks) => hooks.before("acme.beforeRoast", {}))

class Roastery extends Context.Service<Roastery, { readonly name: string }>()("stoa/test/hooks/Roastery") {}

it.effect("hooks run in the order prepended, configured, appended, in any order of registration", () =>
  Effect.gen(function*() {
    const hooks = yield* Hooks
    yield* hooks.register([naming("appended 1")])
    yield* hooks.register([naming("prepended 1"), naming("prepended 2")], "prepended")
    yield* hooks.register([naming("appended 2")])
    const names = ["prepended 1", "prepended 2", "configured 1", "configured 2", "appended 1", "appended 2"]
    assert.deepStrictEqual(yield* order, { names })
  }).pipe(Effect.provide(Hooks.layerOf([naming("configured 1"), naming("configured 2")])), asSystem))

it.effect("a module's layer adds hooks that use the module's services", () => {
  const module = Hooks.add(Effect.map(Roastery, ({ name }) => [naming(name)]))
  const app = module.pipe(
    Layer.provideMerge(Layer.merge(Hooks.layerNone, Layer.succeed(Roastery, { name: "a roastery" })))
  )
  return Effect.map(order, (data) => assert.deepStrictEqual(data, { names: ["a roastery"] })).pipe(
    Effect.provide(app),
    asSystem
  )
})

it.effect("hooks that come after the start are a mistake", () =>
  Effect.gen(function*() {
    const hooks = yield* Hooks
    yield* hooks.freeze
    const exit = yield* Effect.exit(hooks.register([naming("late")]))
    assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "while the process starts")
    assert.deepStrictEqual(yield* order, {})
  }).pipe(Effect.provide(Hooks.layerNone), asSystem))

it.effect("a plugin's `{ key, handler }` stands on the side that its key names", () =>
  Effect.gen(function*() {
    const seen: Array<string> = []
    const hooks: ReadonlyArray<Hook> = [
      { key: "acme.beforeRoast", handler: () => ({ changed: true }) },
      { key: "acme.afterRoast", handler: () => void seen.push("after") }
    ]
    const run = Effect.gen(function*() {
      const { after } = yield* Hooks
      assert.deepStrictEqual(yield* order, { changed: true })
      yield* after("acme.afterRoast", {})
    })
    yield* run.pipe(Effect.provide(Hooks.layerOf(hooks)), asSystem)
    assert.deepStrictEqual(seen, ["after"])
  }))

it.effect("a plugin that emits an event does not wait for its handlers, and does not receive their failures", () =>
  Effect.gen(function*() {
    const [goOn, heard] = [yield* Deferred.make<void>(), yield* Deferred.make<object>()]
    const hooks = [
      afterHook("acme.recalled", () => Effect.fail("broken")),
      afterHook(
        "acme.recalled",
        ({ result }) => Effect.andThen(Deferred.await(goOn), Deferred.succeed(heard, result))
      )
    ]
    yield* Effect.gen(function*() {
      yield* (yield* Hooks).emit("acme.recalled", { batch: 7 })
      yield* Deferred.succeed(goOn, undefined)
      assert.deepStrictEqual(yield* Deferred.await(heard), { batch: 7 })
    }).pipe(Effect.provide(Hooks.layerOf(hooks)), asSystem)
  }))
