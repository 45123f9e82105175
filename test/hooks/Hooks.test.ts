import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { ValidationFailed } from "../../src/domain/platform/errors/ApiErrors.ts"
import {
  type AfterCall,
  type BeforeCall,
  type Hook,
  HookBroken,
  HookRefusal
} from "../../src/domain/platform/hooks/Hook.ts"
import { HookDepth, type HookError, tooDeep } from "../../src/domain/platform/hooks/HookRuns.ts"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"

const acting = Effect.provideService(CurrentActor, systemActor("org"))

const withHooks = (hooks: ReadonlyArray<Hook>) => <A, E>(body: Effect.Effect<A, E, Hooks | CurrentActor>) =>
  acting(body.pipe(Effect.provide(Hooks.layerOf(hooks))))

const before = (data: object) => Effect.flatMap(Hooks, (hooks) => hooks.before("acme.beforeRoast", data))
const after = (result: object) => Effect.flatMap(Hooks, (hooks) => hooks.after("acme.afterRoast", result))

const brokenBy = (exit: Exit.Exit<unknown, unknown>) => {
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  if (!(error instanceof Error)) throw new Error("expected the hook to be broken")
  return error
}

describe("before-hooks", () => {
  it.effect("hand the data on from one to the next in the order they were appended", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const step = (name: string): Hook => ({
        key: "acme.beforeRoast",
        before: ({ data }) =>
          Effect.sync(() => {
            seen.push({ name, ...data })
            return { ...data, [name]: true }
          })
      })

      const result = yield* before({ quantity: 1 }).pipe(withHooks([step("first"), step("second")]))

      assert.deepStrictEqual(result, { quantity: 1, first: true, second: true })
      assert.deepStrictEqual(seen, [{ name: "first", quantity: 1 }, { name: "second", quantity: 1, first: true }])
    }))

  it.effect("abort the operation with their message when they refuse, and later ones do not run", () =>
    Effect.gen(function*() {
      let ran = false
      const error = yield* before({}).pipe(
        withHooks([
          { key: "acme.beforeRoast", before: () => Effect.fail(new HookRefusal("Not on Sundays.")) },
          { key: "acme.beforeRoast", before: ({ data }) => Effect.sync(() => ((ran = true), data)) }
        ]),
        Effect.flip
      )

      assert.strictEqual(error.error.message, "Not on Sundays.")
      assert.isFalse(ran)
    }))

  it.effect("are stopped after twenty seconds", () =>
    Effect.gen(function*() {
      const waiting = yield* before({}).pipe(
        withHooks([{ key: "acme.beforeRoast", before: () => Effect.never }]),
        Effect.exit,
        Effect.forkChild
      )
      yield* TestClock.adjust("20 seconds")
      assert.instanceOf(brokenBy(yield* Fiber.join(waiting)), HookBroken)
    }))

  it.effect("refuse also by throwing or rejecting with their refusal; any other error is no answer to the client", () =>
    Effect.gen(function*() {
      const ways = [
        (error: Error) => () =>
          Effect.sync(() => {
            throw error
          }),
        (error: Error) => () => Promise.reject(error)
      ]
      for (const way of ways) {
        const failing = (error: Error) => before({}).pipe(withHooks([{ key: "acme.beforeRoast", before: way(error) }]))
        assert.strictEqual((yield* Effect.flip(failing(new HookRefusal("Closed.")))).error.message, "Closed.")
        const broken = brokenBy(yield* Effect.exit(failing(new Error("password=1"))))
        assert.instanceOf(broken, HookBroken)
        assert.notInclude(broken.message, "password")
      }
    }))

  it.effect("of other keys are left alone", () =>
    Effect.gen(function*() {
      const data = yield* before({ quantity: 2 }).pipe(
        withHooks([{ key: "acme.beforeGrind", before: () => Effect.fail(new HookRefusal("no")) }])
      )
      assert.deepStrictEqual(data, { quantity: 2 })
    }))
})

describe("after-hooks", () => {
  it.effect("report their failures, in words that were meant for the client, and change nothing", () =>
    Effect.gen(function*() {
      let last: unknown
      const sendMail = () => Effect.fail(new HookRefusal("mail is down"))
      const errors = yield* after({ id: 1 }).pipe(withHooks([
        { key: "acme.afterRoast", after: sendMail },
        { key: "acme.afterRoast", after: () => Effect.die(new Error("password=1")) },
        { key: "acme.afterRoast", after: () => Effect.fail(ValidationFailed.of("beans", "must be fresh.")) },
        { key: "acme.afterRoast", after: ({ result }) => Effect.sync(() => void (last = result)) }
      ]))

      assert.deepStrictEqual(errors, [
        { hookName: "sendMail", message: "mail is down" },
        { hookName: "(anonymous afterHook)", message: "The hook failed." },
        { hookName: "(anonymous afterHook)", message: "beans must be fresh." }
      ])
      assert.deepStrictEqual(last, { id: 1 })
    }))
})

it.effect("hooks act for the actor of the request, and what they change does not bear the mark of its key", () =>
  Effect.gen(function*() {
    const seen: Array<unknown> = []
    const look = Effect.map(
      CurrentActor,
      ({ organizationId, executionId }) => void seen.push([organizationId, executionId])
    )
    const hooks: ReadonlyArray<Hook> = [
      { key: "acme.beforeRoast", before: ({ data }) => Effect.as(look, data) },
      { key: "acme.afterRoast", after: () => look }
    ]
    yield* Effect.andThen(before({}), after({})).pipe(
      Effect.provide(Hooks.layerOf(hooks)),
      Effect.provideService(CurrentActor, { ...systemActor("org"), executionId: "work" })
    )
    assert.deepStrictEqual(seen, [["org", undefined], ["org", undefined]])
  }))

describe("a hook that causes the operation it is called for", () => {
  const listening = Effect.fnUntraced(function*(hook: (hooks: Hooks["Service"]) => Hook) {
    const hooks = Context.get(yield* Layer.build(Hooks.layerNone), Hooks)
    yield* hooks.register([hook(hooks)])
    return hooks
  })

  it.effect("is called five times, and the last call receives the error", () =>
    Effect.gen(function*() {
      const recorded: Array<ReadonlyArray<HookError>> = []
      const hooks = yield* listening(({ after }) => ({
        key: "acme.afterRoast",
        after: async function roastAgain({ run }) {
          recorded.push(await run(after("acme.afterRoast", {})))
        }
      }))
      assert.deepStrictEqual(yield* acting(hooks.after("acme.afterRoast", {})), [])
      const [last, ...outer] = recorded
      assert.deepStrictEqual(outer, [[], [], [], []])
      assert.deepStrictEqual(last, [{ hookName: "roastAgain", message: tooDeep("acme.afterRoast") }])
      assert.match(tooDeep("acme.afterRoast"), /acme\.afterRoast .* inside of 5 others/)
    }))

  it.effect("is broken when it would have to be asked", () =>
    Effect.gen(function*() {
      let calls = 0
      const hooks = yield* listening(({ before }) => ({
        key: "acme.beforeRoast",
        before: ({ data }) => Effect.suspend(() => (calls++, before("acme.beforeRoast", data)))
      }))
      assert.instanceOf(brokenBy(yield* Effect.exit(acting(hooks.before("acme.beforeRoast", {})))), HookBroken)
      assert.strictEqual(calls, 5)
    }))

  it.effect("is one level deeper than the hook that emitted its event without waiting", () =>
    Effect.gen(function*() {
      const calls: Array<number> = []
      const ended = yield* Deferred.make<void>()
      const hooks = yield* listening(({ emit }) => ({
        key: "acme.afterRoast",
        after: () =>
          Effect.gen(function*() {
            const depth = yield* HookDepth
            calls.push(depth)
            yield* depth === 5 ? Deferred.succeed(ended, undefined) : emit("acme.afterRoast", {})
          })
      }))
      yield* acting(hooks.emit("acme.afterRoast", {}))
      yield* Deferred.await(ended)
      assert.deepStrictEqual(calls, [1, 2, 3, 4, 5])
    }))
})

describe("hooks", () => {
  it.effect("receive the actor and the operation, and share a context with the others of their key", () =>
    Effect.gen(function*() {
      const calls: Array<object> = []
      const marking = (call: BeforeCall | AfterCall) =>
        Effect.sync(() => {
          const { context: { actor, context, origin, requestId }, run: _, signal, ...recorded } = call
          assert.isFalse(signal.aborted)
          calls.push({ ...recorded, context: { actor, context, origin, requestId } })
          call.context.context["marks"] = Number(call.context.context["marks"] ?? 0) + 1
          return { more: true }
        })
      const hooks: ReadonlyArray<Hook> = [
        { key: "acme.beforeRoast", before: marking },
        { key: "acme.beforeRoast", before: marking },
        { key: "acme.afterRoast", after: marking }
      ]
      yield* before({ quantity: 1 }).pipe(withHooks(hooks))
      yield* Effect.flatMap(Hooks, ({ after }) => after("acme.afterRoast", { id: 1 }, { quantity: 1 })).pipe(
        withHooks(hooks)
      )
      const context = { actor: systemActor("org"), requestId: null, origin: "local" } as const
      const recorded = (marks: number) => ({
        operation: "roast",
        context: { ...context, context: { moduleName: "acme", marks } }
      })
      assert.deepStrictEqual(calls, [
        { data: { quantity: 1 }, ...recorded(2) },
        { data: { quantity: 1, more: true }, ...recorded(2) },
        { data: { quantity: 1 }, result: { id: 1 }, ...recorded(1) }
      ])
    }))
})
