import { Cause, Context, Effect, Exit, Layer } from "effect"
import { type Actor, CurrentActor } from "../access/Actor.ts"
import { ValidationFailed } from "../errors/ApiErrors.ts"

/** A failed after-hook, as the checkout response reports it in `meta.hookErrors` (contract §0.5). */
export interface HookError {
  readonly hookName: string
  readonly message: string
}

/** What every hook is told about the operation it stands at (contract §0.5). The job queue and plugin services join here. */
export interface HookContext {
  readonly actor: Actor
  readonly requestId: string | null
  /** `rest`: a request asked for the operation; `local`: the service itself does it. */
  readonly origin: "rest" | "local"
  /** A bag in which the hooks of one key hand things on to each other. */
  readonly context: { readonly moduleName: string; [name: string]: unknown }
}

/** Kind of operation a hook stands at (contract, platform §13): create, update, delete, read, list, statusChange, ... */
export type HookOperation = string

/** What a before-hook gets. */
export interface BeforeCall {
  readonly data: object
  readonly operation: HookOperation
  readonly context: HookContext
}

/** What an after-hook gets (spec §6); `data` is what the operation was asked for, null where that is nothing else. */
export interface AfterCall {
  readonly data: object | null
  readonly result: object
  readonly operation: HookOperation
  readonly context: HookContext
}

/** A before-hook returns the data that the next one gets; any failure aborts the operation. */
export interface BeforeHook {
  readonly key: string
  readonly before: (call: BeforeCall) => Effect.Effect<object, HookRefusal, CurrentActor>
}

/** The failure of an after-hook is reported under the name of its function and changes nothing. */
export interface AfterHook {
  readonly key: string
  readonly after: (call: AfterCall) => Effect.Effect<void, unknown, CurrentActor>
}

/** What a before-hook fails with to abort the operation: the text reaches the client. */
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

/** A handler under the key of the operation it stands before or after. */
export type Hook = BeforeHook | AfterHook

/** No hook may hold up an operation for longer than this (contract §0.5). */
const timeLimit = "20 seconds"

const messageOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error.message : String(error)
}

/**
 * Extension points of the service (spec §6, internal hooks): modules and plugins append handlers to a key, and they run
 * in that order. Reading a key without handlers costs one map look-up.
 */
export class Hooks extends Context.Service<Hooks, {
  /** Whether anything listens to a key, for callers that would have to look something up first. */
  readonly has: (key: string) => boolean
  /** Whether anything listens to a key of this form, where the key itself would have to be looked up. */
  readonly hasAny: (form: RegExp) => boolean
  /**
   * Runs the before-hooks of a key one after the other and gives the data the last one returned; 422 with its message
   * when one refuses. Dies with `HookBroken`, so 500 without detail, when one fails otherwise or takes too long.
   */
  readonly before: <A extends object>(key: string, data: A) => Effect.Effect<A, ValidationFailed, CurrentActor>
  /** Runs the after-hooks of a key; failures, defects and time-outs come back as a list and never abort. */
  readonly after: (
    key: string,
    result: object,
    data?: object
  ) => Effect.Effect<ReadonlyArray<HookError>, never, CurrentActor>
}>()("stoa/domain/hooks/Hooks") {
  static readonly layerOf = (hooks: ReadonlyArray<Hook>): Layer.Layer<Hooks> => Layer.sync(Hooks, () => make(hooks))
  static readonly layerNone = Hooks.layerOf([])
}

/** What a hook changes is not what the request asked for and must not bear its mark (`MarkRepo`). */
const onItsOwn = Effect.updateService(CurrentActor, ({ workId: _, ...actor }) => actor)

const make = (hooks: ReadonlyArray<Hook>): Hooks["Service"] => {
  const befores = new Map<string, Array<BeforeHook["before"]>>()
  const afters = new Map<string, Array<AfterHook["after"]>>()
  for (const hook of hooks) {
    if ("before" in hook) befores.set(hook.key, [...(befores.get(hook.key) ?? []), hook.before])
    else afters.set(hook.key, [...(afters.get(hook.key) ?? []), hook.after])
  }
  return {
    has: (key) => befores.has(key) || afters.has(key),
    hasAny: (form) => [...befores.keys(), ...afters.keys()].some((key) => form.test(key)),
    before: <A extends object>(key: string, data: A) => {
      const handlers = befores.get(key)
      return handlers === undefined ? Effect.succeed(data) : onItsOwn(runBefore(key, handlers, data))
    },
    after: (key, result, data = undefined) => {
      const handlers = afters.get(key)
      return handlers === undefined
        ? Effect.succeed([])
        : onItsOwn(runAfter(key, handlers, result, data ?? null))
    }
  }
}

/** Operations that are called otherwise than the keys of their hooks. */
const operations: Readonly<Record<string, HookOperation>> = {
  payment: "create",
  get: "read",
  adjust: "update",
  updateQuantity: "update"
}

/** `cart.beforeAddItem` stands at `addItem`. */
const operationOf = (key: string): HookOperation => {
  const named = key.slice(key.lastIndexOf(".") + 1).replace(/^(before|after)/, "")
  const operation = named.charAt(0).toLowerCase() + named.slice(1)
  return operations[operation] ?? operation
}

const contextOf = (key: string) =>
  Effect.map(CurrentActor, (actor): HookContext => ({
    actor,
    requestId: actor.requestId,
    origin: actor.requestId === null ? "local" : "rest",
    context: { moduleName: key.slice(0, key.indexOf(".")) }
  }))

/** A function written in its place is called after the property it was written to, which names nothing. */
const nameOf = (handler: AfterHook["after"]): string =>
  handler.name === "" || handler.name === "after" ? "(anonymous afterHook)" : handler.name

const runBefore = <A extends object>(key: string, handlers: ReadonlyArray<BeforeHook["before"]>, data: A) =>
  Effect.gen(function*() {
    let current: object = data
    const about = { operation: operationOf(key), context: yield* contextOf(key) }
    for (const handler of handlers) {
      // A handler that throws before it gives an effect is broken like one that throws in it.
      const run = Effect.suspend(() => handler({ data: current, ...about }))
      const exit = yield* Effect.exit(Effect.timeout(run, timeLimit))
      if (Exit.isFailure(exit)) {
        const error = Cause.squash(exit.cause)
        if (error instanceof HookRefusal) return yield* ValidationFailed.of("", error.message, key)
        return yield* Effect.die(new HookBroken(key, error))
      }
      current = { ...current, ...exit.value }
    }
    // A hook may change values, not the shape: what it returned is laid over the typed data it was given.
    return current as A
  })

const runAfter = (
  key: string,
  handlers: ReadonlyArray<AfterHook["after"]>,
  result: object,
  data: object | null
) =>
  Effect.gen(function*() {
    const errors: Array<HookError> = []
    const about = { operation: operationOf(key), context: yield* contextOf(key) }
    for (const handler of handlers) {
      const run = Effect.suspend(() => handler({ data, result, ...about }))
      const exit = yield* Effect.exit(Effect.timeout(run, timeLimit))
      if (Exit.isFailure(exit)) {
        errors.push({ hookName: nameOf(handler), message: messageOf(exit.cause) })
        yield* Effect.logWarning(`hook ${key} failed`, exit.cause)
      }
    }
    return errors
  })
