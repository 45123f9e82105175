import { type Context, Effect } from "effect"
import type { OrderProjection } from "../../domain/orders/OrderProjections.ts"
import { systemActor } from "../../domain/platform/access/Actor.ts"
import type { AfterCall, BeforeCall, Hook, HookContext } from "../../domain/platform/hooks/Hook.ts"
import type { Task } from "../../domain/platform/tasks/Task.ts"
import { callWith } from "./PluginCall.ts"
import type { After, Before, PluginHook, PluginHookContext, Returned } from "./PluginHook.ts"
import type { PluginTask } from "./PluginTask.ts"
import type { PluginDatabase } from "./tables/PluginDatabase.ts"

/** Assigned, not spread: tools are made when they are asked for. */
const contextWith = (context: HookContext, db: PluginDatabase): PluginHookContext =>
  Object.assign(callWith(context, db, context.actor), {
    origin: context.origin,
    context: context.context,
    changedFieldPaths: context.changedFieldPaths,
    entityId: context.entityId,
    tx: context.tx === null ? null : db
  })

/** The hook as the service runs it: with the plugin's call and services. */
export const hookWith = <R>(db: PluginDatabase, services: Context.Context<R>) => {
  const provided = <A>(returned: Returned<A, R>) =>
    Effect.isEffect(returned) ? Effect.provideContext(returned, services) : returned
  const before = (handler: Before<object, R>) => ({ context, ...call }: BeforeCall) =>
    provided(handler({ ...call, context: contextWith(context, db) }))
  const after = (handler: After<object, object, R>) => {
    const run = ({ context, ...call }: AfterCall) => provided(handler({ ...call, context: contextWith(context, db) }))
    // Failures are reported under the name of the plugin's function.
    return Object.defineProperty(run, "name", { value: handler.name })
  }
  return (hook: PluginHook<R>): Hook => {
    if ("before" in hook) return { ...hook, before: before(hook.before) }
    if ("after" in hook) return { ...hook, after: after(hook.after) }
    return { ...hook, handler: after(hook.handler as After<object, object, R>) }
  }
}

/** The projection as orders call it: with the plugin's services. */
export const projectionWith = <R>(services: Context.Context<R>) =>
(
  { changed, created, only, refunding }: OrderProjection<R>
): OrderProjection => ({
  ...(only && { only }),
  ...(refunding && { refunding: (refund) => Effect.provideContext(refunding(refund), services) }),
  created: (orders, prefix) => Effect.provideContext(created(orders, prefix), services),
  changed: (orderIds) => Effect.provideContext(changed(orderIds), services)
})

/** The task as the queue runs it: with the plugin's call and services. */
export const taskWith =
  <R>(db: PluginDatabase, services: Context.Context<R>) => ({ handler, ...task }: PluginTask<R>): Task => ({
    ...task,
    handler: ({ ctx, ...call }) => {
      const { run, signal } = ctx
      const own = Object.assign(callWith(ctx, db, systemActor(ctx.organizationId)), { run, signal })
      const done = handler({ ...call, ctx: own })
      return Effect.isEffect(done) ? Effect.provideContext(done, services) : done
    }
  })
