import { Cause, Context, Effect, Exit } from "effect"
import { type Actor, CurrentActor } from "../access/Actor.ts"
import { type Database, inTransaction, survivable } from "../database/DatabaseRepo.ts"
import { ValidationFailed } from "../errors/ApiErrors.ts"
import { wasCutOff } from "../errors/Transience.ts"
import { promiseToolsOf, toolsOf } from "../modules/Handlers.ts"
import type { ServiceRegistry } from "../modules/ServiceRegistry.ts"
import type { InTables } from "./EntityTables.ts"
import {
  type AfterHandler,
  type BeforeHandler,
  HookBroken,
  type HookCall,
  type HookCondition,
  type HookContext,
  HookRefusal,
  type Returned
} from "./Hook.ts"
import { operationOf } from "./HookMap.ts"

/** Nesting depth of hooks, inherited by services and promises of a handler, but not by jobs and entity messages. */
export const HookDepth = Context.Reference<number>("stoa/domain/platform/hooks/HookDepth", { defaultValue: () => 0 })

/** A handler that causes the same operation would recurse forever. */
const deepestHook = 5

export const tooDeep = (key: string): string =>
  `The hooks of ${key} were not called: they are inside of ${deepestHook} others. Does a hook repeat its operation?`

/**
 * A failed after-hook in `meta.hookErrors` (contract §0.5). Only a `HookRefusal` or `ValidationFailed` shows its
 * message.
 */
export interface HookError {
  readonly hookName: string
  readonly message: string
}

export interface Extra extends Pick<HookContext, "changedFieldPaths" | "entityId"> {
  readonly inTables?: InTables
}

export interface Handler<Call> extends HookCondition {
  readonly call: Call
}

export const isConcerned = ({ entitiesIn }: HookCondition, inTables: InTables): boolean =>
  entitiesIn === undefined || inTables?.includes(entitiesIn.name) !== false

const applies = (handler: HookCondition, inTables: InTables, actor: Actor): boolean => {
  try {
    return isConcerned(handler, inTables) && handler.onlyFor?.(actor) !== false
  } catch {
    return true
  }
}

export const ifAny = <A, E, R>(
  handlers: ReadonlyArray<HookCondition> | undefined,
  inTables: InTables,
  answer: A,
  run: () => Effect.Effect<A, E, R>
): Effect.Effect<A, E, CurrentActor | R> =>
  handlers?.some((one) => isConcerned(one, inTables)) === true
    ? Effect.flatMap(
      CurrentActor,
      (actor) => handlers.some((one) => applies(one, inTables, actor)) ? run() : Effect.succeed(answer)
    )
    : Effect.succeed(answer)

const timeLimit = "20 seconds"

const messageOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  if (error instanceof HookRefusal) return error.message
  if (error instanceof ValidationFailed) return error.error.message
  return Cause.isTimeoutError(error) ? "The hook took too long." : "The hook failed."
}

interface Round {
  readonly operation: string
  readonly context: HookContext
  readonly services: Context.Context<CurrentActor>
}

const begin = (serviceRegistry: ServiceRegistry["Service"], key: string, { inTables: _, ...extra }: Extra) =>
  Effect.gen(function*() {
    const services = yield* Effect.context<CurrentActor>()
    const actor = yield* CurrentActor
    const database = serviceRegistry.parts()?.database
    const inside = database !== undefined && (yield* inTransaction(database))
    const tools = toolsOf(serviceRegistry, actor.organizationId, { hook: key }, services)
    // Assigned, not spread: getters create only the tools in use.
    const origin: HookContext["origin"] = actor.requestId === null ? "local" : "rest"
    const context: HookContext = Object.assign(tools, {
      ...extra,
      actor,
      requestId: actor.requestId,
      origin,
      context: { moduleName: key.slice(0, key.indexOf(".")) },
      tx: inside ? database : null
    })
    return { operation: operationOf(key), context, services } satisfies Round
  })

const isPromise = <A>(value: Promise<A> | A): value is Promise<A> => value instanceof Promise

/**
 * Runs a handler within the time limit, which interrupts an effect and aborts a promise's signal. A synchronous throw
 * counts as a failure.
 */
const invoke = <A>({ context, operation, services }: Round, handler: (call: HookCall) => Returned<A>) =>
  Effect.suspend(() => {
    const { abort, end, tools } = promiseToolsOf(services, context.tx !== null)
    const returned = handler(Object.assign(tools, { operation, context }))
    const work = Effect.isEffect(returned)
      ? returned
      : isPromise(returned)
      ? Effect.promise(() => returned)
      : Effect.succeed(returned)
    return Effect.onInterrupt(work, () => abort).pipe(Effect.ensuring(end))
  }).pipe(Effect.timeout(timeLimit))

export const runBefore = <A extends object>(
  serviceRegistry: ServiceRegistry["Service"],
  key: string,
  handlers: ReadonlyArray<Handler<BeforeHandler>>,
  data: A,
  extra: Extra
) =>
  Effect.gen(function*() {
    if ((yield* HookDepth) > deepestHook) return yield* Effect.die(new HookBroken(key, new Error(tooDeep(key))))
    let current: object = data
    const round = yield* begin(serviceRegistry, key, extra)
    for (const handler of handlers) {
      // A handler may have replaced the entity that the tables were read for.
      if (!applies(handler, current === data ? extra.inTables : undefined, round.context.actor)) continue
      const exit = yield* Effect.exit(invoke(round, (call) => handler.call({ ...call, data: current })))
      if (Exit.isFailure(exit)) {
        const error = Cause.squash(exit.cause)
        if (error instanceof ValidationFailed) return yield* Effect.fail(error)
        if (error instanceof HookRefusal) {
          return yield* ValidationFailed.issues([{ path: "", message: error.message, code: key }])
        }
        // Not the handler's fault: the operation can be retried.
        return yield* Effect.die(wasCutOff(error) ? error : new HookBroken(key, error))
      }
      if (Object.keys(exit.value ?? {}).length > 0) current = { ...current, ...exit.value }
    }
    // A hook changes values, not the shape.
    return current as A
  })

const nameOf = (handler: AfterHandler): string =>
  ["", "after", "handler"].includes(handler.name) ? "(anonymous afterHook)" : handler.name

const guarded = <A, E, R>(database: Database | undefined, work: Effect.Effect<A, E, R>): Effect.Effect<A, unknown, R> =>
  database === undefined ? work : survivable(database, work)

export const runAfter = (
  serviceRegistry: ServiceRegistry["Service"],
  key: string,
  handlers: ReadonlyArray<Handler<AfterHandler>>,
  { data, extra, result }: { readonly data: object | null; readonly result: object; readonly extra: Extra }
) =>
  Effect.gen(function*() {
    if ((yield* HookDepth) > deepestHook) {
      yield* Effect.logWarning(tooDeep(key))
      return handlers.map(({ call }): HookError => ({ hookName: nameOf(call), message: tooDeep(key) }))
    }
    const errors: Array<HookError> = []
    const round = yield* begin(serviceRegistry, key, extra)
    for (const handler of handlers) {
      if (!applies(handler, extra.inTables, round.context.actor)) continue
      const work = invoke(round, (call) => handler.call({ ...call, data, result }))
      const exit = yield* Effect.exit(guarded(serviceRegistry.parts()?.database, work))
      if (Exit.isFailure(exit)) {
        errors.push({ hookName: nameOf(handler.call), message: messageOf(exit.cause) })
        yield* Effect.logWarning(`hook ${key} failed`, exit.cause)
      }
    }
    return errors
  })

/** Changes by a hook must not write the request's idempotency record. Increases the depth. */
export const onItsOwn = <A, E, R>(hooks: Effect.Effect<A, E, R>) =>
  hooks.pipe(
    Effect.updateService(CurrentActor, ({ executionId: _, ...actor }) => actor),
    Effect.updateService(HookDepth, (depth) => depth + 1)
  )
