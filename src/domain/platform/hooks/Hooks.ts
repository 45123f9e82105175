import { Context, Effect, Layer, Option } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import type { ValidationFailed } from "../errors/ApiErrors.ts"
import { emptyServiceRegistry, ServiceRegistry } from "../modules/ServiceRegistry.ts"
import { entityTables, type InTables, withRowIn } from "./EntityTables.ts"
import type { AfterHandler, BeforeHandler, Hook } from "./Hook.ts"
import type { AfterOf, BeforeOf, OldOf } from "./HookMap.ts"
import {
  type Extra,
  type Handler,
  HookDepth,
  type HookError,
  ifAny,
  isConcerned,
  onItsOwn,
  runAfter,
  runBefore
} from "./HookRuns.ts"

/** Position of a handler in the list of its key: before or after those of the configuration (contract §0.5). */
export type HookSlot = "prepended" | "appended"

/**
 * Extension points of the service (spec §6, internal hooks). The handlers of a key run in the order prepended,
 * configured, appended; modules and plugins append. A key without handlers costs one map look-up.
 */
export class Hooks extends Context.Service<Hooks, {
  /** Whether a key has handlers for entities in these tables, for callers that would otherwise have to read data first. */
  readonly has: (key: string, inTables?: InTables) => boolean
  /** Whether any key of this form has handlers, where the key itself would have to be read first. */
  readonly hasAny: (form: RegExp) => boolean
  /**
   * Runs the before-hooks of a key in sequence and returns the data of the last one; 422 with its message when one
   * refuses. Dies with `HookBroken`, so 500 without detail, when one fails otherwise, times out, or exceeds the nesting
   * limit (`deepestHook`). Where the database aborted a handler, it dies with the database's error, so 503.
   */
  readonly before: <const Key extends string, A extends BeforeOf<Key>>(
    key: Key,
    data: A,
    extra?: Extra
  ) => Effect.Effect<A, ValidationFailed, CurrentActor>
  /**
   * Runs the after-hooks of a key. Failures, defects and timeouts are logged, returned as a list and never abort. At
   * the nesting limit (`deepestHook`) they do not run, which counts as such a failure.
   */
  readonly after: <const Key extends string>(
    key: Key,
    result: AfterOf<Key>,
    data?: OldOf<Key>,
    extra?: Extra
  ) => Effect.Effect<ReadonlyArray<HookError>, never, CurrentActor>
  /** Starts the after-hooks of a plugin's key without waiting for them; their failures are only logged. */
  readonly emit: (key: string, payload: object) => Effect.Effect<void, never, CurrentActor>
  /** Adds handlers during startup. Dies once the process serves requests. */
  readonly register: (hooks: ReadonlyArray<Hook>, slot?: HookSlot) => Effect.Effect<void>
  readonly freeze: Effect.Effect<void>
}>()("stoa/domain/platform/hooks/Hooks") {
  static readonly layerOf = (configured: ReadonlyArray<Hook>): Layer.Layer<Hooks> =>
    Layer.effect(Hooks, Effect.suspend(() => make(configured)))

  static readonly layerNone = Hooks.layerOf([])

  /** Adds handlers that need services: `Hooks.add(Effect.map(Mailer, (mailer) => [afterHook(…)]))`. */
  static readonly add = <E, R>(
    hooks: Effect.Effect<ReadonlyArray<Hook>, E, R>,
    slot: HookSlot = "appended"
  ): Layer.Layer<never, E, Hooks | R> =>
    Layer.effectDiscard(Effect.flatMap(hooks, (made) => Effect.flatMap(Hooks, ({ register }) => register(made, slot))))
}

/** The handlers of one kind, by key, in the order in which they run. */
class Handlers<Call> {
  readonly #of = new Map<string, Record<HookSlot | "configured", ReadonlyArray<Handler<Call>>>>()
  readonly #lists = new Map<string, ReadonlyArray<Handler<Call>>>()

  add({ entitiesIn, key, onlyFor }: Hook, slot: HookSlot | "configured", call: Call): void {
    const handler = { call, ...(entitiesIn && { entitiesIn }), ...(onlyFor && { onlyFor }) }
    const slots = this.#of.get(key) ?? { prepended: [], configured: [], appended: [] }
    const grown = { ...slots, [slot]: [...slots[slot], handler] }
    this.#of.set(key, grown)
    this.#lists.set(key, [...grown.prepended, ...grown.configured, ...grown.appended])
  }

  get(key: string): ReadonlyArray<Handler<Call>> | undefined {
    return this.#lists.get(key)
  }

  keys(): ReadonlyArray<string> {
    return [...this.#lists.keys()]
  }
}

/** The last part of a key, as in `acme.beforeRoast`, decides whether it runs before or after. */
const isBefore = (key: string): boolean => key.slice(key.lastIndexOf(".") + 1).startsWith("before")

const make = Effect.fnUntraced(function*(configured: ReadonlyArray<Hook>) {
  const serviceRegistry = Option.getOrElse(yield* Effect.serviceOption(ServiceRegistry), emptyServiceRegistry)
  const tables = yield* entityTables
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const befores = new Handlers<BeforeHandler>()
  const afters = new Handlers<AfterHandler>()
  let frozen = false

  const put = (hook: Hook, slot: HookSlot | "configured") => {
    if (hook.entitiesIn !== undefined) tables.declare(withRowIn(hook.entitiesIn))
    if ("before" in hook) befores.add(hook, slot, hook.before)
    else if ("after" in hook) afters.add(hook, slot, hook.after)
    else if (isBefore(hook.key)) befores.add(hook, slot, hook.handler as BeforeHandler)
    else afters.add(hook, slot, hook.handler as AfterHandler)
  }
  for (const hook of configured) put(hook, "configured")

  const after = (key: string, result: object, data: object | null = null, extra: Extra = {}) => {
    const handlers = afters.get(key)
    const run = () => onItsOwn(runAfter(serviceRegistry, key, handlers ?? [], { data, result, extra }))
    return ifAny(handlers, extra.inTables, [], run)
  }

  return Hooks.of({
    has: (key, inTables) =>
      [befores.get(key), afters.get(key)].some((list) => list?.some((one) => isConcerned(one, inTables)) === true),
    hasAny: (form) => [...befores.keys(), ...afters.keys()].some((key) => form.test(key)),
    before: <A extends object>(key: string, data: A, extra: Extra = {}) => {
      const handlers = befores.get(key)
      const run = () => onItsOwn(runBefore(serviceRegistry, key, handlers ?? [], data, extra))
      return ifAny(handlers, extra.inTables, data, run)
    },
    after,
    // Use the services of the process and not the caller's: the caller's transaction may end before the handler.
    emit: (key, payload) =>
      Effect.map(Effect.all([CurrentActor, HookDepth]), ([actor, depth]) => {
        if (afters.get(key) === undefined) return
        const recorded = Effect.provideService(after(key, payload), CurrentActor, actor)
        fork(Effect.provideService(recorded, HookDepth, depth))
      }),
    register: (hooks, slot = "appended") =>
      Effect.suspend(() => {
        if (frozen) return Effect.die(new Error("Hooks are added while the process starts, not while it serves."))
        for (const hook of hooks) put(hook, slot)
        return Effect.void
      }),
    freeze: Effect.sync(() => {
      frozen = true
    })
  })
})
