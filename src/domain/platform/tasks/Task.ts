import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { Input } from "../jobs/Jobs.ts"
import type { HandlerTools, PromiseTools } from "../modules/Handlers.ts"

/** How failed runs of a task are tried again. Without it a job is tried once. */
export interface Retries {
  /** Tries in all, the first included. */
  readonly attempts: number
  /**
   * Milliseconds between tries: `fixed` always `delay`; `exponential` times `factor` with every try, default 2 (5 s, 10
   * s, 20 s for 5000). `jitter` varies each wait by up to this share of it, 0 to 1, so that jobs that failed together
   * are not retried together. Default: fixed, 1000, without jitter.
   */
  readonly backoff?: {
    readonly type: "fixed" | "exponential"
    readonly delay: number
    readonly factor?: number
    readonly jitter?: number
    readonly ceiling?: number
  }
}

/** Which jobs of an organization exclude one another. */
export interface Concurrency {
  /**
   * The key of a job, computed from its input. Jobs of one organization and key never run at the same time, even if
   * their tasks differ.
   */
  readonly key: (input: Input) => string
  /** Default true. False: the key only serves `supersedes`. */
  readonly exclusive?: boolean
  /** Whether a new job replaces pending ones of its task, organization and key. Default false. */
  readonly supersedes?: boolean
}

/** A job as passed to its handler. */
export interface TaskCall {
  readonly input: Input
  /** What it may use: services of the core, the database, a logger and the queue; `signal` and `run` for promises. */
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

/** What a handler returns; `output` is stored with the job, as JSON. */
export interface TaskResult {
  readonly output?: unknown
}

/** A handler fails with this to end its job as failed without further tries. */
export class GiveUp extends Error {
  readonly _tag = "GiveUp"
}

/**
 * A handler fails with this to have its job tried again after `delayMs` milliseconds, as when another service asks for a
 * pause. It does not count as a try.
 */
export class RetryIn extends Error {
  readonly _tag = "RetryIn"
  readonly delayMs: number

  constructor(delayMs: number, message = `It runs again in ${delayMs} ms.`) {
    super(message)
    this.delayMs = delayMs
  }
}

/**
 * A kind of job and how it is done (spec §2, task definition). The handler acts as the service itself in the job's
 * organization. It may run twice for one job, when a process dies between its end and the record of it.
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
   * Milliseconds after which a run is interrupted and counts as failed. Default: `jobs.timeLimitMs` of the deployment,
   * five minutes. A promise cannot be interrupted: `ctx.signal` is aborted, and the job keeps its key until the promise
   * settles, 30 seconds at most. The handler must stop its work on the signal.
   */
  readonly timeLimitMs?: number
  /** Queue of its jobs if the caller names none. Default `default`. */
  readonly queue?: string
  /**
   * A cron expression (five or six fields, UTC): the task runs once per scheduler tick in the complete deployment, with
   * an empty input and for the default organization.
   */
  readonly schedule?: string
  /**
   * Each tick makes a job for every organization instead. An organization whose job still waits gets no second one, and
   * without a `concurrency` of the task two jobs of an organization never run at the same time.
   */
  readonly everyOrganization?: boolean
}

/** Checks the type of a task at its definition. */
export const defineTask = (task: Task): Task => task

/**
 * A task that removes what has had its time, every ten minutes. `purge` removes up to `limit` rows, for short locks, and
 * is repeated until it stops below that: what came together since then is removed however much it is. Two never run at
 * once: a turn that takes long outlasts the next tick.
 */
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

/** Jobs of every organization exclude one another within each, unless the task says otherwise. */
const withKey = (task: Task): Task =>
  task.everyOrganization === true ? { concurrency: { key: () => task.slug }, ...task } : task

/**
 * The tasks of this deployment: those of the core, of plugins and of `commerce.config.ts`. Every process registers all
 * of them, because enqueuing needs a task's policies and running needs its handler.
 */
export class Tasks extends Context.Service<Tasks>()("stoa/domain/platform/tasks/Tasks", {
  make: Effect.sync(() => {
    const known = new Map<string, Task>()
    return {
      /** Adds a task while the process starts. Two of one slug are a mistake that ends the start. */
      register: (task: Task) =>
        Effect.suspend(() => {
          if (known.has(task.slug)) return Effect.die(new Error(`Two tasks are called '${task.slug}'.`))
          known.set(task.slug, withKey(task))
          return Effect.void
        }),
      /** The task with this slug; undefined if it is not registered. */
      find: (slug: string): Task | undefined => known.get(slug),
      all: (): ReadonlyArray<Task> => [...known.values()]
    }
  })
}) {
  static readonly layer = Layer.effect(Tasks, Tasks.make)

  /** Registers a task that needs other services: `Tasks.add(Effect.map(Mailer, (mailer) => defineTask({ … })))`. */
  static readonly add = <E, R>(task: Effect.Effect<Task, E, R>): Layer.Layer<never, E, Tasks | R> =>
    Layer.effectDiscard(Effect.flatMap(task, (made) => Effect.flatMap(Tasks, (tasks) => tasks.register(made))))
}
