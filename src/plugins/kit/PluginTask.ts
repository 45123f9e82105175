import { systemActor } from "../../domain/platform/access/Actor.ts"
import type { PromiseTools } from "../../domain/platform/modules/Handlers.ts"
import type { Task, TaskCall } from "../../domain/platform/tasks/Task.ts"
import { callWith, type PluginCall } from "./PluginCall.ts"
import type { PluginDatabase } from "./tables/PluginDatabase.ts"

/** A job of a plugin as passed to its handler. */
export interface PluginTaskCall extends Omit<TaskCall, "ctx"> {
  /** The call; `signal` and `run` for handlers that return a promise. */
  readonly ctx: PluginCall & PromiseTools
}

/** A kind of job of a plugin and how it is done. Its options are those of every task (docs/jobs.md). */
export interface PluginTask extends Omit<Task, "handler"> {
  readonly handler: (call: PluginTaskCall) => ReturnType<Task["handler"]>
}

/** Checks the type of a task at its definition. */
export const defineTask = (task: PluginTask): PluginTask => task

/** The task as the queue runs it. */
export const withCall = (db: PluginDatabase) => ({ handler, ...task }: PluginTask): Task => ({
  ...task,
  handler: ({ ctx, ...call }) => {
    const { run, signal } = ctx
    return handler({ ...call, ctx: Object.assign(callWith(ctx, db, systemActor(ctx.organizationId)), { run, signal }) })
  }
})
