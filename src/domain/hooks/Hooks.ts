import { Cause, Context, Effect, Exit, Layer } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import { ValidationFailed } from "../errors/ApiErrors.ts"

/** A failed after-hook, as the checkout response reports it in `meta.hookErrors` (contract §0.5). */
export interface HookError {
  readonly hookName: string
  readonly message: string
}

/** A before-hook gets the data of the operation and returns what the next one gets; any failure aborts the operation. */
export interface BeforeHook {
  readonly key: string
  readonly before: (data: object) => Effect.Effect<object, HookRefusal, CurrentActor>
}

/** An after-hook gets the result of the operation; its failure is reported and changes nothing. */
export interface AfterHook {
  readonly key: string
  readonly after: (result: object) => Effect.Effect<void, unknown, CurrentActor>
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
  readonly after: (key: string, result: object) => Effect.Effect<ReadonlyArray<HookError>, never, CurrentActor>
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
    after: (key, result) => {
      const handlers = afters.get(key)
      return handlers === undefined ? Effect.succeed([]) : onItsOwn(runAfter(key, handlers, result))
    }
  }
}

const runBefore = <A extends object>(key: string, handlers: ReadonlyArray<BeforeHook["before"]>, data: A) =>
  Effect.gen(function*() {
    let current: object = data
    for (const handler of handlers) {
      const exit = yield* Effect.exit(Effect.timeout(handler(current), timeLimit))
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

const runAfter = (key: string, handlers: ReadonlyArray<AfterHook["after"]>, result: object) =>
  Effect.gen(function*() {
    const errors: Array<HookError> = []
    for (const handler of handlers) {
      const exit = yield* Effect.exit(Effect.timeout(handler(result), timeLimit))
      if (Exit.isFailure(exit)) {
        errors.push({ hookName: key, message: messageOf(exit.cause) })
        yield* Effect.logWarning(`hook ${key} failed`, exit.cause)
      }
    }
    return errors
  })
