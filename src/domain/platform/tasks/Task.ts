import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { Input } from "../jobs/Jobs.ts"
import type { HandlerTools, PromiseTools } from "../modules/Handlers.ts"

/** Policy for failed runs. Without it a job is tried once. */
export interface Retries {
  /** Tries in all, the first included. */
  readonly attempts: number
  /**
   * Milliseconds between tries: `fixed` is always `delay`; `exponential` multiplies by `factor` (default 2) each time.
   * `jitter` varies a wait by up to this share, 0 to 1. Default: fixed, 1000, no jitter.
   */
  readonly backoff?: {
    readonly type: "fixed" | "exponential"
    readonly delay: number
    readonly factor?: number
    readonly jitter?: number
    readonly ceiling?: number
  }
}

export interface Concurrency {
  /** Computed from the input. Jobs of one organization and key never overlap, even of different tasks. */
  readonly key: (input: Input) => string
  /** Default true. False: the key only serves `supersedes`. */
  readonly exclusive?: boolean
  /** A new job replaces pending ones of its task, organization and key. Default false. */
  readonly supersedes?: boolean
}

/** A job as passed to its handler. */
export interface TaskCall {
  readonly input: Input
  /** Tools of the handler; `signal` and `run` for promises. */
  readonly ctx: HandlerTools & PromiseTools & {
    readonly organizationId: string
  }
  readonly job: {
    /** Idempotency key for effects that must not happen twice: a job runs at least once. */
    readonly id: string
    /** From 1. */
    readonly attemptNumber: number
    readonly maxAttempts: number
  }
}

/** `output` is stored with the job, as JSON. */
export interface TaskResult {
  readonly output?: unknown
}

/** Ends the job as failed, without further tries. */
export class GiveUp extends Error {
  readonly _tag = "GiveUp"
}

/** Tries the job again after `delayMs`, not counted as a try. */
export class RetryIn extends Error {
  readonly _tag = "RetryIn"
  readonly delayMs: number

  constructor(delayMs: number, message = `It runs again in ${delayMs} ms.`) {
    super(message)
    this.delayMs = delayMs
  }
}

/**
 * A kind of job (spec §2, task definition). The handler acts as the service in the job's organization. It may run twice
 * for one job, when a process dies before its end is recorded.
 */
export interface Task {
  /** Unique, by convention `domain/action`. */
  readonly slug: string
  readonly handler: (
    call: TaskCall
  ) => Effect.Effect<TaskResult | void, unknown, CurrentActor> | Promise<TaskResult | void>
  readonly retries?: Retries
  readonly concurrency?: Concurrency
  /**
   * Milliseconds until a run is interrupted and fails. Default: `jobs.timeLimitMs`, five minutes. A promise must stop
   * on `ctx.signal`: the job keeps its key until it settles, 30 seconds at most.
   */
  readonly timeLimitMs?: number
  /** Queue of its jobs if the caller names none. Default `default`. */
  readonly queue?: string
  /**
   * Cron expression (five or six fields, UTC): runs once per tick in the deployment, with an empty input for the
   * default organization.
   */
  readonly schedule?: string
  /**
   * Each tick makes a job for every organization, except while one waits. Without a `concurrency`, jobs of an
   * organization never overlap.
   */
  readonly everyOrganization?: boolean
}

export const defineTask = (task: Task): Task => task

/** Repeats `purge` every ten minutes, up to `limit` rows for short locks, until it removes fewer. Two never run at once. */
export const purgeTask = <E>(name: string, limit: number, purge: Effect.Effect<number, E>): Task => ({
  slug: `retention/${name}`,
  schedule: "*/10 * * * *",
  concurrency: { key: () => `retention/${name}`, supersedes: true },
  handler: Effect.fnUntraced(function*() {
    let removed = 0
    for (let last = limit; last >= limit;) {
      last = yield* purge
      removed += last
    }
    return { output: { removed } }
  })
})

const withKey = (task: Task): Task =>
  task.everyOrganization === true ? { concurrency: { key: () => task.slug }, ...task } : task

/**
 * Tasks of the core, of plugins and of `commerce.config.ts`. Every process registers all: enqueuing needs their
 * policies.
 */
export class Tasks extends Context.Service<Tasks>()("stoa/domain/platform/tasks/Tasks", {
  make: Effect.sync(() => {
    const known = new Map<string, Task>()
    return {
      register: (task: Task) =>
        Effect.suspend(() => {
          if (known.has(task.slug)) return Effect.die(new Error(`Two tasks are called '${task.slug}'.`))
          known.set(task.slug, withKey(task))
          return Effect.void
        }),
      find: (slug: string): Task | undefined => known.get(slug),
      all: (): ReadonlyArray<Task> => [...known.values()]
    }
  })
}) {
  static readonly layer = Layer.effect(Tasks, Tasks.make)

  /** Registers a task that needs services: `Tasks.add(Effect.map(Mailer, (mailer) => defineTask({ … })))`. */
  static readonly add = <E, R>(task: Effect.Effect<Task, E, R>): Layer.Layer<never, E, Tasks | R> =>
    Layer.effectDiscard(Effect.flatMap(task, (made) => Effect.flatMap(Tasks, (tasks) => tasks.register(made))))
}
