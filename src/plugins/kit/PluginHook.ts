import type { Effect } from "effect"
import type { CurrentActor } from "../../domain/platform/access/Actor.ts"
import type { AfterCall, BeforeCall, HookCall, HookCondition, HookContext } from "../../domain/platform/hooks/Hook.ts"
import type { AfterOf, BeforeOf, OldOf } from "../../domain/platform/hooks/HookMap.ts"
import type { Failure } from "./events/EventHandler.ts"
import type { PluginCall } from "./PluginCall.ts"
import type { PluginDatabase } from "./tables/PluginDatabase.ts"

/** The call of a hook of a plugin, and what is known of its operation (contract §0.5, platform §13). */
export interface PluginHookContext extends PluginCall {
  readonly origin: HookContext["origin"]
  readonly context: HookContext["context"]
  readonly changedFieldPaths: HookContext["changedFieldPaths"]
  readonly entityId: HookContext["entityId"]
  /** `db` where the hook runs inside the transaction of its operation, else null. */
  readonly tx: PluginDatabase | null
}

type OfPlugin<Call extends HookCall> = Omit<Call, "context"> & { readonly context: PluginHookContext }

/** `R` is what the handler needs of the plugin's services. */
export type Returned<A, R> = Effect.Effect<A, Failure, R | CurrentActor> | Promise<A> | A

export type Before<Data extends object, R> = (call: OfPlugin<BeforeCall<Data>>) => Returned<Partial<Data> | void, R>
export type After<Result extends object, Data extends object, R> = (
  call: OfPlugin<AfterCall<Result, Data>>
) => Returned<unknown, R>

/** A hook of a plugin (docs/plugins.md). `handler` runs before or after, as the last part of its key begins. */
export type PluginHook<R = never> =
  & HookCondition
  & { readonly key: string }
  & (
    | { readonly before: Before<object, R> }
    | { readonly after: After<object, object, R> }
    | { readonly handler: Before<object, R> | After<object, object, R> }
  )

/**
 * A before-hook with the data type of its key: `beforeHook("cart.beforeAddItem", ({ data }) => …)`. Keys of plugins are
 * free; their data is any object.
 */
export const beforeHook = <const Key extends string, R = never>(
  key: Key,
  handler: Before<BeforeOf<Key>, R>,
  condition: HookCondition = {}
): PluginHook<Exclude<R, CurrentActor>> => ({
  ...condition,
  key,
  // Callers that fire the key pass data of the type in the map, and only the key leads to the handler.
  before: handler as Before<object, Exclude<R, CurrentActor>>
})

/** An after-hook with the result and data types of its key: `afterHook("orders.afterCreate", ({ result }) => …)`. */
export const afterHook = <const Key extends string, R = never>(
  key: Key,
  handler: After<AfterOf<Key>, OldOf<Key>, R>,
  condition: HookCondition = {}
): PluginHook<Exclude<R, CurrentActor>> => ({
  ...condition,
  key,
  after: handler as After<object, object, Exclude<R, CurrentActor>>
})
