import type { Effect } from "effect"
import type { Actor, CurrentActor } from "../access/Actor.ts"
import type { Database } from "../database/DatabaseRepo.ts"
import type { EntityId } from "../ids/Id.ts"
import type { HandlerTools, PromiseTools } from "../modules/Handlers.ts"
import type { EntityTable } from "./EntityTables.ts"
import type { AfterOf, BeforeOf, OldOf } from "./HookMap.ts"

/** Context of every hook (contract §0.5, platform §13). */
export interface HookContext extends HandlerTools {
  readonly actor: Actor
  readonly requestId: string | null
  /** `rest`: a request started the operation; `local`: the service did. */
  readonly origin: "rest" | "local"
  /** State that the hooks of one key share. */
  readonly context: { readonly moduleName: string; [name: string]: unknown }
  /** As `attributes.<locale>.<field>`, after a write of localized attributes. */
  readonly changedFieldPaths?: ReadonlyArray<string>
  /** Before an update of a catalog entity. */
  readonly entityId?: EntityId
  /** `db` where the hook runs inside the transaction of its operation, else null. */
  readonly tx: Database | null
}

export interface HookCall extends PromiseTools {
  /** create, update, delete, read, list, statusChange, … (contract, platform §13). */
  readonly operation: string
  readonly context: HookContext
}

export interface BeforeCall<Data extends object = object> extends HookCall {
  readonly data: Data
}

/** Arguments of an after-hook (spec §6); `data` is the operation's input, null where it equals the result. */
export interface AfterCall<Result extends object = object, Data extends object = object> extends HookCall {
  readonly data: Data | null
  readonly result: Result
}

export type Returned<A> = Effect.Effect<A, unknown, CurrentActor> | Promise<A> | A

/** Returns replaced parts of the data, or nothing; fails with `HookRefusal` to abort. */
export type BeforeHandler<Data extends object = object> = (call: BeforeCall<Data>) => Returned<Partial<Data> | void>

/** Its result is ignored; its failure is reported under its name and changes nothing. */
export type AfterHandler<Result extends object = object, Data extends object = object> = (
  call: AfterCall<Result, Data>
) => Returned<unknown>

/** Decides when a hook runs. It may also run without a case, where the service does not know. */
export interface HookCondition {
  /** Only if the table has a row about an entity of the operation. */
  readonly entitiesIn?: EntityTable
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

/** A hook of a plugin (spec §2): `before` or `after` begins the key's last part. */
export interface DerivedHook extends HookCondition {
  readonly key: string
  readonly handler: BeforeHandler | AfterHandler
}

export type Hook = BeforeHook | AfterHook | DerivedHook

/**
 * Aborts the operation, in a before-hook; the client reads its text. After-hooks only report it in `meta.hookErrors`.
 */
export class HookRefusal extends Error {
  readonly _tag = "HookRefusal"
}

/** A bug in a before-hook, for the log only. */
export class HookBroken extends Error {
  readonly _tag = "HookBroken"
  constructor(key: string, cause: unknown) {
    super(`a hook of ${key} is broken`, { cause })
  }
}

/** A before-hook with the data type of its key; keys of plugins get any object. */
export const beforeHook = <const Key extends string>(
  key: Key,
  handler: BeforeHandler<BeforeOf<Key>>,
  condition: HookCondition = {}
): BeforeHook => ({
  ...condition,
  key,
  // Callers pass data of the key's type.
  before: handler as BeforeHandler
})

/** An after-hook with the result and data types of its key. */
export const afterHook = <const Key extends string>(
  key: Key,
  handler: AfterHandler<AfterOf<Key>, OldOf<Key>>,
  condition: HookCondition = {}
): AfterHook => ({ ...condition, key, after: handler as AfterHandler })
