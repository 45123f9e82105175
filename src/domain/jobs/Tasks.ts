import { Context, Effect, Layer } from "effect"
import type { Task } from "./Task.ts"

/**
 * The tasks of this deployment: those of the core, of plugins and of `commerce.config.ts`. Every process registers all
 * of them, because enqueuing needs a task's policies and running needs its handler.
 */
export class Tasks extends Context.Service<Tasks, {
  /** Adds a task while the process starts. Two of one slug are a mistake that ends the start. */
  readonly register: (task: Task) => Effect.Effect<void>
  /** The task with this slug; undefined if it is not registered. */
  readonly find: (slug: string) => Task | undefined
  readonly all: () => ReadonlyArray<Task>
}>()("stoa/domain/jobs/Tasks") {
  static readonly layer = Layer.sync(Tasks, () => {
    const known = new Map<string, Task>()
    return {
      register: (task: Task) =>
        Effect.suspend(() => {
          if (known.has(task.slug)) return Effect.die(new Error(`Two tasks are called '${task.slug}'.`))
          known.set(task.slug, task)
          return Effect.void
        }),
      find: (slug: string) => known.get(slug),
      all: () => [...known.values()]
    }
  })

  /** Registers a task that needs other services: `Tasks.add(Effect.map(Mailer, (mailer) => defineTask({ … })))`. */
  static readonly add = <E, R>(task: Effect.Effect<Task, E, R>): Layer.Layer<never, E, Tasks | R> =>
    Layer.effectDiscard(Effect.flatMap(task, (made) => Effect.flatMap(Tasks, (tasks) => tasks.register(made))))
}
