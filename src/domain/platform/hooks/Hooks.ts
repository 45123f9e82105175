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

/** Before or after the configured handlers of a key (contract §0.5). */
export type HookSlot = "prepended" | "appended"

/** Extension points of the service (spec §6). Handlers of a key run prepended, configured, appended; plugins append. */
export class Hooks extends Context.Service<Hooks, {
  /** Spares callers reading data for a key without handlers. */
  readonly has: (key: string, inTables?: InTables) => boolean
  /** True if any key of this form has handlers. */
  readonly hasAny: (form: RegExp) => boolean
  /**
   * Runs before-hooks in sequence and returns the last data; 422 when one refuses. Dies with `HookBroken` (500) on
   * other failures, timeouts and the nesting limit; with the database's error (503) when it aborted a handler.
   */
  readonly before: <const Key extends string, A extends BeforeOf<Key>>(
    key: Key,
    data: A,
    extra?: Extra
  ) => Effect.Effect<A, ValidationFailed, CurrentActor>
  /**
   * Runs after-hooks; failures and timeouts are logged and returned. Beyond the nesting limit they do not run, which
   * counts as a failure.
   */
  readonly after: <const Key extends string>(
    key: Key,
    result: AfterOf<Key>,
    data?: OldOf<Key>,
    extra?: Extra
  ) => Effect.Effect<ReadonlyArray<HookError>, never, CurrentActor>
  /** Starts the after-hooks of a plugin's key without waiting; failures are logged. */
  readonly emit: (key: string, payload: object) => Effect.Effect<void, never, CurrentActor>
  /** Adds handlers during startup; dies later. */
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
    // Not the caller's services: their transaction may end before the handler.
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
