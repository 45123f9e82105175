import type { Effect } from "effect"
import type { CurrentActor } from "../../domain/platform/access/Actor.ts"
import type { PromiseTools } from "../../domain/platform/modules/Handlers.ts"
import type { Task, TaskCall, TaskResult } from "../../domain/platform/tasks/Task.ts"
import type { Failure } from "./events/EventHandler.ts"
import type { PluginCall } from "./PluginCall.ts"

/** A job of a plugin as passed to its handler. */
export interface PluginTaskCall extends Omit<TaskCall, "ctx"> {
  /** The call; `signal` and `run` for handlers that return a promise. */
  readonly ctx: PluginCall & PromiseTools
}

/** A kind of job of a plugin and how it is done; its options are those of every task (docs/jobs.md). `R` is what the handler needs of the plugin's services. */
export interface PluginTask<R = never> extends Omit<Task, "handler"> {
  readonly handler: (
    call: PluginTaskCall
  ) => Effect.Effect<TaskResult | void, Failure, R | CurrentActor> | Promise<TaskResult | void>
}

/** Checks the type of a task at its definition. */
export const defineTask = <R = never>(task: PluginTask<R>): PluginTask<Exclude<R, CurrentActor>> =>
  // What the caller brings is no service of the plugin.
  task as PluginTask<Exclude<R, CurrentActor>>
