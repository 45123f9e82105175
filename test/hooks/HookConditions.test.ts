import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type Actor, CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { EntityTables, entityTables } from "../../src/domain/platform/hooks/EntityTables.ts"
import { afterHook, beforeHook, type Hook, type HookCondition } from "../../src/domain/platform/hooks/Hook.ts"
import type { Extra } from "../../src/domain/platform/hooks/HookRuns.ts"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"
import { EntityId } from "../../src/domain/platform/ids/Id.ts"
import { idOf, table } from "../../src/plugins/kit/StoaPlugin.ts"

const beans = table("acme_beans", { entityId: idOf(EntityId).unique() })
const ofBeans = { entitiesIn: beans }

/** Runs hooks of both kinds with one condition, for an operation that passes `extra`; the kinds that ran. */
const ranWith = Effect.fnUntraced(
  function*(condition: HookCondition, extra: Extra, others: ReadonlyArray<Hook> = [], actor: Partial<Actor> = {}) {
    const ran: Array<string> = []
    const hooks = [
      ...others,
      beforeHook("acme.beforeRoast", () => void ran.push("before"), condition),
      afterHook("acme.afterRoast", () => void ran.push("after"), condition)
    ]
    const roast = Effect.flatMap(
      Hooks,
      ({ after, before }) =>
        Effect.andThen(before("acme.beforeRoast", { entity: 1 }, extra), after("acme.afterRoast", {}, undefined, extra))
    )
    yield* roast.pipe(
      Effect.provide(Hooks.layerOf(hooks)),
      Effect.provideService(CurrentActor, { ...systemActor("org"), ...actor })
    )
    return ran
  }
)
const both = ["before", "after"]

it.effect("a hook for entities in a table runs for these, and where the operation does not know", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* ranWith(ofBeans, { inTables: [] }), [])
    assert.deepStrictEqual(yield* ranWith(ofBeans, { inTables: ["acme_cups"] }), [])
    assert.deepStrictEqual(yield* ranWith(ofBeans, { inTables: ["acme_cups", "acme_beans"] }), both)
    assert.deepStrictEqual(yield* ranWith(ofBeans, {}), both)
  }))

it.effect("a hook before runs when one before it has replaced what the tables were read for", () =>
  Effect.gen(function*() {
    const replacing = beforeHook("acme.beforeRoast", () => ({ entity: 2 }))
    const looking = beforeHook("acme.beforeRoast", () => undefined)
    assert.deepStrictEqual(yield* ranWith(ofBeans, { inTables: [] }, [replacing]), ["before"])
    assert.deepStrictEqual(yield* ranWith(ofBeans, { inTables: [] }, [looking]), [])
  }))

it.effect("a hook for some actors runs for these, and when its condition fails", () =>
  Effect.gen(function*() {
    const ofVendors = { onlyFor: ({ vendorId }: Actor) => vendorId !== null }
    assert.deepStrictEqual(yield* ranWith(ofVendors, {}), [])
    assert.deepStrictEqual(yield* ranWith(ofVendors, {}, [], { vendorId: "kiln" }), both)
    const broken = () => {
      throw new Error("broken")
    }
    assert.deepStrictEqual(yield* ranWith({ onlyFor: broken }, {}), both)
  }))

it.effect("the table of a hook is one that statements look into", () =>
  Effect.gen(function*() {
    const { column } = yield* entityTables
    const text = column("e.organization_id", "array[e.id]")
    assert.include(text, "from acme_beans a where a.organization_id = e.organization_id")
    assert.include(text, `then 'acme_beans' end], null) as "inTables"`)
  }).pipe(
    Effect.provide(
      Layer.provideMerge(Hooks.layerOf([beforeHook("acme.beforeRoast", () => undefined, ofBeans)]), EntityTables.layer)
    )
  ))
