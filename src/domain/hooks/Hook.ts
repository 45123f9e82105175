import type { Effect } from "effect"
import type { Actor, CurrentActor } from "../access/Actor.ts"
import type { Database } from "../modules/DatabaseRepo.ts"
import type { HandlerTools, PromiseTools } from "../modules/Handlers.ts"
import type { AfterOf, BeforeOf, OldOf } from "./HookMap.ts"

/** Kind of operation a hook stands at (contract, platform §13): create, update, delete, read, list, statusChange, ... */
export type HookOperation = string

/** What every hook is told about the operation it stands at, and what it may use (contract §0.5, platform §13). */
export interface HookContext extends HandlerTools {
  readonly actor: Actor
  readonly requestId: string | null
  /** `rest`: a request asked for the operation; `local`: the service itself does it. */
  readonly origin: "rest" | "local"
  /** A bag in which the hooks of one key hand things on to each other. */
  readonly context: { readonly moduleName: string; [name: string]: unknown }
  /** After a write of localized words: the fields that it changed, as `attributes.<locale>.<field>`. */
  readonly changedFieldPaths?: ReadonlyArray<string>
  /** Before an update of an entity of the catalog: which one it is. */
  readonly entityId?: string
  /** `db` where the hook runs inside of the transaction of what it stands at, else null. */
  readonly tx: Database | null
}

/** What both kinds of handlers get beside their data. */
export interface HookCall extends PromiseTools {
  readonly operation: HookOperation
  readonly context: HookContext
}

/** What a before-hook gets. */
export interface BeforeCall<Data extends object = object> extends HookCall {
  readonly data: Data
}

/** What an after-hook gets (spec §6); `data` is what the operation was asked for, null where that is nothing else. */
export interface AfterCall<Result extends object = object, Data extends object = object> extends HookCall {
  readonly data: Data | null
  readonly result: Result
}

/** What a handler may return: an effect, a promise or the answer itself. */
export type Returned<A> = Effect.Effect<A, unknown, CurrentActor> | Promise<A> | A

/** Returns what of the data it replaces, or nothing to leave it; fails with `HookRefusal` to abort the operation. */
export type BeforeHandler<Data extends object = object> = (call: BeforeCall<Data>) => Returned<Partial<Data> | void>

/** What it returns is not looked at; its failure is reported under the name of its function and changes nothing. */
export type AfterHandler<Result extends object = object, Data extends object = object> = (
  call: AfterCall<Result, Data>
) => Returned<unknown>

/** A handler under the key of the operation it stands before. */
export interface BeforeHook {
  readonly key: string
  readonly before: BeforeHandler
}

/** A handler under the key of the operation it stands after. */
export interface AfterHook {
  readonly key: string
  readonly after: AfterHandler
}

/** As plugins write them (spec §2): whether it runs before or after is what the last part of the key begins with. */
export interface DerivedHook {
  readonly key: string
  readonly handler: BeforeHandler | AfterHandler
}

/** A handler under the key of the operation it stands before or after. */
export type Hook = BeforeHook | AfterHook | DerivedHook

/**
 * What a before-hook fails with to abort the operation: the text reaches the client. An after-hook aborts nothing with it,
 * but its text is the one that `meta.hookErrors` shows.
 */
export class HookRefusal extends Error {
  readonly _tag = "HookRefusal"
}

/** A before-hook failed without meaning to refuse, or took too long: a mistake of whoever wrote it, for the log only. */
export class HookBroken extends Error {
  readonly _tag = "HookBroken"
  constructor(key: string, cause: unknown) {
    super(`a hook of ${key} is broken`, { cause })
  }
}

/**
 * A before-hook that knows its data by its key: `beforeHook("cart.beforeAddItem", ({ data }) => …)`. Keys of plugins are
 * free; their data is any object.
 */
export const beforeHook = <const Key extends string>(key: Key, handler: BeforeHandler<BeforeOf<Key>>): BeforeHook => ({
  key,
  // Whoever fires the key gives data of the type that the map says, and only the key leads to the handler.
  before: handler as BeforeHandler
})

/** An after-hook that knows its result and data by its key: `afterHook("orders.afterCreate", ({ result }) => …)`. */
export const afterHook = <const Key extends string>(
  key: Key,
  handler: AfterHandler<AfterOf<Key>, OldOf<Key>>
): AfterHook => ({ key, after: handler as AfterHandler })
