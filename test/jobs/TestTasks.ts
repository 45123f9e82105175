import { Deferred, Effect } from "effect"
import { type Actor, CurrentActor } from "../../src/domain/access/Actor.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { type EnqueueOptions, Jobs } from "../../src/domain/jobs/Jobs.ts"
import { defineTask, GiveUp, type Task, type TaskCall } from "../../src/domain/jobs/Task.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, at } from "../support/TestApp.ts"

/** A run of a job: what its handler was given, as whom it acted, and when it began and ended (ms since 1970). */
export interface Run {
  readonly slug: string
  readonly mark: string
  readonly call: TaskCall
  readonly actor: Actor | undefined
  readonly began: number
  ended?: number
}

/** Every run of this process, oldest first. */
export const runs: Array<Run> = []

/** The runs of jobs whose input carries this mark. */
export const runsOf = (mark: string) => runs.filter((run) => run.mark === mark)

/** A text that no other test uses. */
export const aMark = () => `mark-${newId()}`

const gates = new Map<string, Deferred.Deferred<void>>()

/** Jobs of the task `test/gate` with this gate end when it is opened. */
export const openGate = (name: string) => Deferred.succeed(gateOf(name), undefined)

const gateOf = (name: string) => {
  const gate = gates.get(name) ?? Deferred.makeUnsafe<void>()
  gates.set(name, gate)
  return gate
}

/** What a handler of the tests fails with. */
class HandlerFailed extends Error {
  readonly _tag = "HandlerFailed"
}

/** A handler that takes turns with others, so that two that run at the same time are seen doing so. */
const severalTurns = Effect.promise(async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
})

const textIn = (call: TaskCall, name: string): string => String(call.input[name] ?? "")

const recorded = (slug: string, call: TaskCall, actor: Actor | undefined): Run => {
  const run: Run = { slug, mark: textIn(call, "mark"), call, actor, began: Date.now() }
  runs.push(run)
  return run
}

/** Ends as the input says: `fail`, `throw`, `giveUp` with its text, and at a `gate` when that opens. */
const effect = (slug: string, policies: Partial<Task> = {}): Task =>
  defineTask({
    slug,
    handler: (call) =>
      Effect.gen(function*() {
        const run = recorded(slug, call, yield* CurrentActor)
        if (call.input["gate"] !== undefined) yield* Deferred.await(gateOf(textIn(call, "gate")))
        if (call.input["key"] !== undefined) yield* severalTurns
        run.ended = Date.now()
        if (call.job.attemptNumber <= Number(call.input["failures"] ?? 0)) {
          return yield* Effect.fail(new HandlerFailed("Not yet."))
        }
        if (call.input["fail"] !== undefined) return yield* Effect.fail(new HandlerFailed(textIn(call, "fail")))
        if (call.input["throw"] !== undefined) return yield* Effect.die(new Error(textIn(call, "throw")))
        if (call.input["giveUp"] !== undefined) return yield* Effect.fail(new GiveUp(textIn(call, "giveUp")))
        return { output: { said: call.input["say"] ?? null } }
      }),
    ...policies
  })

const keyIn = (input: TaskCall["input"]): string => String(input["key"])

/** The tasks of the tests. */
export const tasks: ReadonlyArray<Task> = [
  effect("test/echo"),
  effect("test/own-queue", { queue: "own" }),
  effect("test/three-times", { retries: { attempts: 3, backoff: { type: "fixed", delay: 1 } } }),
  effect("test/fixed", { retries: { attempts: 3, backoff: { type: "fixed", delay: 200 } } }),
  effect("test/exponential", { retries: { attempts: 4, backoff: { type: "exponential", delay: 100 } } }),
  effect("test/no-backoff", { retries: { attempts: 2 } }),
  effect("test/exclusive", { concurrency: { key: keyIn } }),
  effect("test/exclusive-too", { concurrency: { key: keyIn } }),
  effect("test/keyed", { concurrency: { key: keyIn, exclusive: false } }),
  effect("test/superseding", { concurrency: { key: keyIn, supersedes: true } }),
  defineTask({
    slug: "test/promise",
    handler: async (call) => {
      const run = recorded("test/promise", call, undefined)
      run.ended = Date.now()
      if (call.input["fail"] !== undefined) throw new Error(textIn(call, "fail"))
      return await Promise.resolve({ output: { said: call.input["say"] ?? null } })
    }
  }),
  defineTask({
    slug: "test/nothing",
    handler: (call) => Effect.sync(() => void recorded("test/nothing", call, undefined))
  }),
  // PostgreSQL holds no character 0 in a text.
  defineTask({ slug: "test/character-0", handler: () => Effect.fail(new HandlerFailed("before\u0000after")) }),
  defineTask({ slug: "test/unstorable", handler: () => Effect.succeed({ output: { big: 1n } }) })
]

/** A job that a test wants: `organizationId` is the actor's unless given. */
export interface Wish {
  readonly slug: string
  readonly input?: Readonly<Record<string, unknown>>
  readonly options?: Partial<EnqueueOptions>
}

/** Enqueues jobs of the actor's organization and gives their ids in their order. */
export const tryEnqueue = Effect.fnUntraced(function*(all: ReadonlyArray<Wish>, as: Partial<Actor> = asAdmin) {
  const jobs = yield* Jobs
  const organizationId = String(as.organizationId)
  return yield* jobs.enqueueAll(
    all.map(({ input = {}, options, slug }) => ({ task: slug, input, options: { organizationId, ...options } }))
  )
})

/** Enqueues what must be accepted. */
export const enqueue = (all: ReadonlyArray<Wish>, as: Partial<Actor> = asAdmin) => Effect.orDie(tryEnqueue(all, as))

/** Runs due jobs once, as a cron does. */
export const run = (query = "", method = "POST") => api(method, `/api/jobs/run${query === "" ? "" : `?${query}`}`)

/** Runs due jobs of a queue until a state is reached. */
export const runUntil = <A, R>(description: string, ask: Effect.Effect<A, never, R>, queue = "default") =>
  eventually(description, Effect.andThen(run(`queue=${queue}&limit=100`), ask), 25_000)

/** A job that the organization's list of failed jobs shows. */
export const failedJob = Effect.fnUntraced(function*(id: string, as: Partial<Actor> = asAdmin) {
  const list = yield* api("GET", "/api/admin/jobs/failed?limit=100", { as })
  return list.list("data").find((job) => at(job, "id") === id)
})

/** What of a job's record no route shows while it has not failed, from the columns that the specification names (§2). */
export const recordOf = (id: string) =>
  Effect.map(
    onDatabase((sql) =>
      sql<{
        readonly status: string
        readonly output: unknown
        readonly attempts: number
        readonly maxAttempts: number
        readonly queue: string
        readonly concurrencyKey: string | null
        readonly waitMs: number | null
      }>`select status, output, attempts, max_attempts as "maxAttempts", queue, concurrency_key as "concurrencyKey",
        extract(epoch from wait_until - now())::float8 * 1000 as "waitMs"
        from commerce_jobs where id = ${id}::uuid`
    ),
    ([row]) => row
  )

/** What every test app of jobs is made of; nothing polls, so that jobs run when the test says so (contract §12.2). */
export const deployment = { tasks, jobs: { autorun: { enabled: false } } }
