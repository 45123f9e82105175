import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { afterHook, beforeHook, type Hook, HookBroken } from "../../src/domain/platform/hooks/Hook.ts"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { Jobs, type NewJob } from "../../src/domain/platform/jobs/Jobs.ts"
import { ServiceRegistry } from "../../src/domain/platform/modules/ServiceRegistry.ts"
import { TestDatabase } from "../support/Postgres.ts"

const asSystem = Effect.provideService(CurrentActor, systemActor("org"))

const withHooks = (hooks: ReadonlyArray<Hook>) => <A, E>(body: Effect.Effect<A, E, Hooks | CurrentActor>) =>
  body.pipe(Effect.provide(Hooks.layerOf(hooks)), asSystem)

const roast = (data: object) => Effect.flatMap(Hooks, (hooks) => hooks.before("acme.beforeRoast", data))
const roasted = (result: object) => Effect.flatMap(Hooks, (hooks) => hooks.after("acme.afterRoast", result))

/** A promise that ends only through its signal, and what became of it. */
const endless = () => {
  const fate = { started: false, aborted: false }
  const work = (signal: AbortSignal) =>
    new Promise<never>(() => {
      fate.started = true
      signal.addEventListener("abort", () => {
        fate.aborted = true
      })
    })
  return { fate, work }
}

describe("a handler", () => {
  it.effect("may return a promise, or nothing at all", () =>
    Effect.gen(function*() {
      const hooks = [
        beforeHook("acme.beforeRoast", async ({ data }) => ({ ...data, promised: await Promise.resolve(1) })),
        beforeHook("acme.beforeRoast", () => undefined),
        beforeHook("acme.beforeRoast", () => ({ direct: 2 }))
      ]
      assert.deepStrictEqual(yield* roast({ beans: 3 }).pipe(withHooks(hooks)), { beans: 3, promised: 1, direct: 2 })
    }))

  it.effect("that returns a promise runs effects as the actor of the operation", () =>
    Effect.gen(function*() {
      const own = Effect.map(CurrentActor, ({ organizationId }) => organizationId)
      const hook = beforeHook("acme.beforeRoast", async ({ run }) => ({ organization: await run(own) }))
      assert.deepStrictEqual(yield* roast({}).pipe(withHooks([hook])), { organization: "org" })
    }))

  it.effect("that takes longer than twenty seconds is interrupted, for every kind of return value", () =>
    Effect.gen(function*() {
      const { fate, work } = endless()
      let interrupted = false
      const dawdle = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => (interrupted = true)))
      const waiting = yield* roasted({}).pipe(
        withHooks([
          afterHook("acme.afterRoast", function slowPromise({ signal }) {
            return work(signal)
          }),
          afterHook("acme.afterRoast", dawdle)
        ]),
        Effect.forkChild
      )
      yield* TestClock.adjust("19 seconds")
      assert.deepStrictEqual([fate, interrupted], [{ started: true, aborted: false }, false])
      yield* TestClock.adjust("1 seconds")
      assert.isTrue(fate.aborted)
      yield* TestClock.adjust("20 seconds")
      const errors = yield* Fiber.join(waiting)
      assert.isTrue(interrupted)
      const message = "The hook took too long."
      assert.deepStrictEqual(errors, [{ hookName: "slowPromise", message }, { hookName: "dawdle", message }])
    }))

  it.effect("ends with the request it stands in", () =>
    Effect.gen(function*() {
      const { fate, work } = endless()
      const hook = beforeHook("acme.beforeRoast", ({ signal }) => work(signal))
      const request = yield* roast({}).pipe(withHooks([hook]), Effect.forkChild({ startImmediately: true }))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(request)
      assert.deepStrictEqual(fate, { started: true, aborted: true })
    }))
})

/** A queue that only remembers what it was given. */
const remembering = () => {
  const jobs: Array<NewJob> = []
  const queue = Layer.succeed(Jobs, {
    enqueue: (task, input, options) =>
      Effect.sync(() => {
        jobs.push({ task, input, options })
        return newId()
      }),
    enqueueAll: () => Effect.succeed([])
  })
  return { jobs, queue }
}

/** What the hooks below may ask for; no service of the core is among it. */
const filled = Layer.effectDiscard(Effect.gen(function*() {
  const serviceRegistry = yield* ServiceRegistry
  const parts = { services: {}, jobs: yield* Jobs, database: yield* SqlClient.SqlClient }
  yield* Effect.suspend((): Effect.Effect<void> => Reflect.apply(serviceRegistry.fill, undefined, [parts]))
}))

/** A service with these hooks, a queue and a database. */
const appOf = (hooks: ReadonlyArray<Hook>, queue = remembering().queue) =>
  filled.pipe(
    Layer.provideMerge(Hooks.layerOf(hooks)),
    Layer.provideMerge(Layer.mergeAll(ServiceRegistry.layer, queue, TestDatabase))
  )

describe("a handler before an operation whose statement fails", () => {
  /** How the operation ends when this statement is all that its hook does. */
  const endOf = (hook: Hook) => {
    return Effect.exit(roast({})).pipe(
      Effect.map((exit) => Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined),
      Effect.provide(appOf([hook])),
      asSystem
    )
  }

  it.effect("is not to blame when the database ended its connection, be it an effect or a promise", () =>
    Effect.gen(function*() {
      const effect = beforeHook(
        "acme.beforeRoast",
        ({ context }) => Effect.asVoid(context.db`select pg_terminate_backend(pg_backend_pid())`)
      )
      const promise = beforeHook("acme.beforeRoast", async ({ context, run }) => {
        await run(context.db`select pg_terminate_backend(pg_backend_pid())`)
      })
      assert.instanceOf(yield* endOf(effect), SqlError.SqlError)
      assert.instanceOf(yield* endOf(promise), SqlError.SqlError)
    }))

  it.effect("is broken when it takes longer than the database allows, since it would so again", () =>
    Effect.gen(function*() {
      const slow = beforeHook("acme.beforeRoast", ({ context: { db } }) =>
        db`set local statement_timeout = 1`.pipe(
          Effect.andThen(db`select pg_sleep(1)`),
          db.withTransaction,
          Effect.asVoid
        ))
      assert.instanceOf(yield* endOf(slow), HookBroken)
    }))
})

describe("the context of a hook", () => {
  it.effect("enqueues jobs of the actor's organization", () => {
    const { jobs, queue } = remembering()
    const hook = afterHook(
      "acme.afterRoast",
      ({ context }) => context.jobs.enqueue("acme/ship", { beans: 1 }, { queue: "slow" })
    )
    return Effect.gen(function*() {
      assert.deepStrictEqual(yield* roasted({}), [])
      assert.deepStrictEqual(jobs, [
        { task: "acme/ship", input: { beans: 1 }, options: { queue: "slow", organizationId: "org" } }
      ])
    }).pipe(Effect.provide(appOf([hook], queue)), asSystem)
  })

  it.effect("never drops a job silently where there is no queue", () =>
    Effect.gen(function*() {
      const enqueue = afterHook("acme.afterRoast", ({ context }) => context.jobs.enqueue("acme/ship", {}))
      const [error] = yield* roasted({}).pipe(withHooks([enqueue]))
      assert.strictEqual(error?.message, "The hook failed.")
    }))

  it.effect("lets a promise that outlives its handler run nothing more in the transaction, which may be another's", () => {
    const late: Array<() => Promise<unknown>> = []
    const left: Array<Promise<unknown>> = []
    const hook = afterHook("acme.afterRoast", async ({ context, run }) => {
      late.push(() => run(context.db`insert into roasts values ('late')`))
      left.push(run(Effect.never).catch(() => "ended"))
    })
    return Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`create table roasts (name text)`
      assert.deepStrictEqual(yield* sql.withTransaction(roasted({})), [])
      assert.deepStrictEqual(yield* Effect.promise(() => Promise.all(left)), ["ended"])
      const exit = yield* Effect.exit(Effect.tryPromise(() => late[0]?.() ?? Promise.resolve()))
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(yield* sql`select name from roasts`, [])
    }).pipe(Effect.provide(appOf([hook])), asSystem)
  })

  it.effect("has the caller's transaction, and a statement that fails there leaves it whole", () => {
    const seen: Array<boolean> = []
    const hooks = [
      afterHook("acme.afterRoast", ({ context }) => {
        seen.push(context.tx !== null)
        return context.db`insert into roasts values ('kept')`
      }),
      afterHook("acme.afterRoast", ({ context }) => context.db`insert into no_such_table values (1)`),
      afterHook("acme.afterRoast", async ({ context, run }) => {
        await run(context.db`insert into roasts values ('by promise')`)
      })
    ]
    return Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`create table roasts (name text)`
      const names = Effect.map(
        sql<{ name: string }>`select name from roasts order by name`,
        (rows) => rows.map(({ name }) => name)
      )
      const errors = yield* sql.withTransaction(roasted({}))
      assert.strictEqual(errors.length, 1)
      assert.deepStrictEqual(yield* names, ["by promise", "kept"])
      yield* Effect.exit(sql.withTransaction(Effect.andThen(roasted({}), Effect.fail("undo"))))
      assert.deepStrictEqual(yield* names, ["by promise", "kept"])
      yield* roasted({})
      assert.deepStrictEqual(seen, [true, true, false])
      assert.strictEqual((yield* names).length, 4)
    }).pipe(Effect.provide(appOf(hooks)), asSystem)
  })
})
