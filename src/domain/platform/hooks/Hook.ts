import type { Effect } from "effect"
import type { Actor, CurrentActor } from "../access/Actor.ts"
import type { Database } from "../database/DatabaseRepo.ts"
import type { EntityId } from "../ids/Id.ts"
import type { HandlerTools, PromiseTools } from "../modules/Handlers.ts"
import type { EntityTable } from "./EntityTables.ts"
import type { AfterOf, BeforeOf, OldOf } from "./HookMap.ts"

/** Context of every hook: its operation, and the tools it may use (contract §0.5, platform §13). */
export interface HookContext extends HandlerTools {
  readonly actor: Actor
  readonly requestId: string | null
  /** `rest`: a request started the operation; `local`: the service did. */
  readonly origin: "rest" | "local"
  /** State that the hooks of one key share. */
  readonly context: { readonly moduleName: string; [name: string]: unknown }
  /** After a write of localized attributes: the changed fields, as `attributes.<locale>.<field>`. */
  readonly changedFieldPaths?: ReadonlyArray<string>
  /** Before an update of a catalog entity: its id. */
  readonly entityId?: EntityId
  /** `db` where the hook runs inside the transaction of its operation, else null. */
  readonly tx: Database | null
}

/** Arguments of both kinds of handlers besides their data. */
export interface HookCall extends PromiseTools {
  /** Its kind (contract, platform §13): create, update, delete, read, list, statusChange, ... */
  readonly operation: string
  readonly context: HookContext
}

export interface BeforeCall<Data extends object = object> extends HookCall {
  readonly data: Data
}

/** Arguments of an after-hook (spec §6); `data` is the input of the operation, null where it equals the result. */
export interface AfterCall<Result extends object = object, Data extends object = object> extends HookCall {
  readonly data: Data | null
  readonly result: Result
}

export type Returned<A> = Effect.Effect<A, unknown, CurrentActor> | Promise<A> | A

/** Returns the replaced parts of the data, or nothing to keep it; fails with `HookRefusal` to abort the operation. */
export type BeforeHandler<Data extends object = object> = (call: BeforeCall<Data>) => Returned<Partial<Data> | void>

/** Its return value is ignored. Its failure is reported under the name of its function and changes nothing. */
export type AfterHandler<Result extends object = object, Data extends object = object> = (
  call: AfterCall<Result, Data>
) => Returned<unknown>

/**
 * When a hook runs. The service answers it before it prepares anything, so a hook without a case costs nothing. It may also
 * run without one, where the service does not know.
 */
export interface HookCondition {
  /** Only if the table has a row about an entity of the operation. */
  readonly entitiesIn?: EntityTable
  /** Only for these actors. */
  readonly onlyFor?: (actor: Actor) => boolean
}

export interface BeforeHook extends HookCondition {
  readonly key: string
  readonly before: BeforeHandler
}

export interface AfterHook extends HookCondition {
  readonly key: string
  readonly after: AfterHandler
}

/** Handlers in plugins (spec §2): the prefix of the key's last part decides whether they run before or after. */
export interface DerivedHook extends HookCondition {
  readonly key: string
  readonly handler: BeforeHandler | AfterHandler
}

export type Hook = BeforeHook | AfterHook | DerivedHook

/**
 * Failure of a before-hook that aborts the operation; its text reaches the client. In an after-hook it aborts nothing,
 * but `meta.hookErrors` shows its text.
 */
export class HookRefusal extends Error {
  readonly _tag = "HookRefusal"
}

/** A before-hook failed unexpectedly or timed out: a bug in the hook, for the log only. */
export class HookBroken extends Error {
  readonly _tag = "HookBroken"
  constructor(key: string, cause: unknown) {
    super(`a hook of ${key} is broken`, { cause })
  }
}

/**
 * A before-hook with the data type of its key: `beforeHook("cart.beforeAddItem", ({ data }) => …)`. Keys of plugins are
 * free; their data is any object.
 */
export const beforeHook = <const Key extends string>(
  key: Key,
  handler: BeforeHandler<BeforeOf<Key>>,
  condition: HookCondition = {}
): BeforeHook => ({
  ...condition,
  key,
  // Callers that fire the key pass data of the type in the map, and only the key leads to the handler.
  before: handler as BeforeHandler
})

/** An after-hook with the result and data types of its key: `afterHook("orders.afterCreate", ({ result }) => …)`. */
export const afterHook = <const Key extends string>(
  key: Key,
  handler: AfterHandler<AfterOf<Key>, OldOf<Key>>,
  condition: HookCondition = {}
): AfterHook => ({ ...condition, key, after: handler as AfterHandler })
