import { Cause, type Context, Effect, Exit } from "effect"
import { type Actor, CurrentActor } from "../access/Actor.ts"
import { ValidationFailed } from "../errors/ApiErrors.ts"
import { type Database, inTransaction, survivable } from "../modules/DatabaseRepo.ts"
import type { Kernel, KernelParts } from "../modules/Kernel.ts"
import {
  type AfterHandler,
  type BeforeHandler,
  HookBroken,
  type HookCall,
  type HookContext,
  type HookJobs,
  type HookLogger,
  HookRefusal,
  type Returned
} from "./Hook.ts"
import { operationOf } from "./HookMap.ts"

/** A failed after-hook, as the checkout response reports it in `meta.hookErrors` (contract §0.5). */
export interface HookError {
  readonly hookName: string
  readonly message: string
}

/** What an operation tells its hooks beside data and result. */
export type Extra = Pick<HookContext, "changedFieldPaths">

/** No hook may hold up an operation for longer than this (contract §0.5); what it was doing is interrupted. */
const timeLimit = "20 seconds"

const messageOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error.message : String(error)
}

/** What a hook may use is there once the process has started; before that nothing is served and no hook should run. */
const started = (kernel: Kernel["Service"]): KernelParts => {
  const parts = kernel.parts()
  if (parts === undefined) throw new Error("The services of this process do not stand yet.")
  return parts
}

const jobsFor = (kernel: Kernel["Service"], { organizationId }: Actor): HookJobs => ({
  enqueue: (task, input, options) =>
    Effect.suspend(() => {
      const { jobs } = started(kernel)
      return jobs === undefined
        ? Effect.die(new Error("This process has no job queue."))
        : jobs.enqueue(task, input, { ...options, organizationId })
    })
})

const loggerFor = (key: string, services: Context.Context<never>): HookLogger => {
  const run = Effect.runSyncWith(services)
  const write = (log: (...message: ReadonlyArray<unknown>) => Effect.Effect<void>) => (...line: [string, unknown?]) =>
    run(Effect.annotateLogs(log(...line.filter((part) => part !== undefined)), { hook: key }))
  return { info: write(Effect.logInfo), warn: write(Effect.logWarning), error: write(Effect.logError) }
}

/** What the handlers of a key share while they run once. */
interface Round {
  readonly operation: string
  readonly context: HookContext
  /** Services of the caller's fiber, its transaction among them. */
  readonly services: Context.Context<CurrentActor>
}

const begin = (kernel: Kernel["Service"], key: string, extra: Extra) =>
  Effect.gen(function*() {
    const services = yield* Effect.context<CurrentActor>()
    const actor = yield* CurrentActor
    const database = kernel.parts()?.database
    const inside = database !== undefined && (yield* inTransaction(database))
    const context: HookContext = {
      ...extra,
      actor,
      requestId: actor.requestId,
      origin: actor.requestId === null ? "local" : "rest",
      context: { moduleName: key.slice(0, key.indexOf(".")) },
      jobs: jobsFor(kernel, actor),
      logger: loggerFor(key, services),
      tx: inside ? database : null,
      get services() {
        return started(kernel).services
      },
      get db() {
        return started(kernel).database
      }
    }
    return { operation: operationOf(key), context, services } satisfies Round
  })

const isPromise = <A>(value: Promise<A> | A): value is Promise<A> => value instanceof Promise

const over = new Error("The hook that this belongs to is over.")

/**
 * Runs effects for a handler among the services of its operation, for as long as `lasting` is not aborted. Afterwards the
 * operation's connection serves somebody else's transaction, and a statement on it would become a part of that.
 */
const runner = (services: Context.Context<CurrentActor>, lasting: AbortSignal): HookCall["run"] => (effect) =>
  lasting.aborted ? Promise.reject(over) : Effect.runPromiseWith(services)(effect, { signal: lasting })

/**
 * One handler, within the time limit. What exceeds it is interrupted: an effect where it stands, a promise's work through
 * its signal. What it left running without waiting for it ends with it where it has a transaction. A handler that throws
 * before it returns anything has failed like one that throws later.
 */
const invoke = <A>({ context, operation, services }: Round, handler: (call: HookCall) => Returned<A>) =>
  Effect.suspend(() => {
    const controller = new AbortController()
    const running = new AbortController()
    const { signal } = controller
    const run = runner(services, context.tx === null ? signal : AbortSignal.any([signal, running.signal]))
    const returned = handler({ operation, context, signal, run })
    const work = Effect.isEffect(returned)
      ? returned
      : isPromise(returned)
      ? Effect.promise(() => returned)
      : Effect.succeed(returned)
    return Effect.onInterrupt(work, () => Effect.sync(() => controller.abort())).pipe(
      Effect.ensuring(Effect.sync(() => running.abort()))
    )
  }).pipe(Effect.timeout(timeLimit))

/** Runs the handlers of a before-key, each on what the one before it returned. */
export const runBefore = <A extends object>(
  kernel: Kernel["Service"],
  key: string,
  handlers: ReadonlyArray<BeforeHandler>,
  data: A
) =>
  Effect.gen(function*() {
    let current: object = data
    const round = yield* begin(kernel, key, {})
    for (const handler of handlers) {
      const exit = yield* Effect.exit(invoke(round, (call) => handler({ ...call, data: current })))
      if (Exit.isFailure(exit)) {
        const error = Cause.squash(exit.cause)
        if (error instanceof ValidationFailed) return yield* Effect.fail(error)
        if (error instanceof HookRefusal) return yield* ValidationFailed.of("", error.message, key)
        return yield* Effect.die(new HookBroken(key, error))
      }
      current = { ...current, ...exit.value }
    }
    // A hook may change values, not the shape: what it returned is laid over the typed data it was given.
    return current as A
  })

/** A function written in its place is called after the property it was written to, which names nothing. */
const nameOf = (handler: AfterHandler): string =>
  ["", "after", "handler"].includes(handler.name) ? "(anonymous afterHook)" : handler.name

const guarded = <A, E, R>(database: Database | undefined, work: Effect.Effect<A, E, R>): Effect.Effect<A, unknown, R> =>
  database === undefined ? work : survivable(database, work)

/** Runs the handlers of an after-key and gives what they failed with. */
export const runAfter = (
  kernel: Kernel["Service"],
  key: string,
  handlers: ReadonlyArray<AfterHandler>,
  { data, extra, result }: { readonly data: object | null; readonly result: object; readonly extra: Extra }
) =>
  Effect.gen(function*() {
    const errors: Array<HookError> = []
    const round = yield* begin(kernel, key, extra)
    for (const handler of handlers) {
      const work = invoke(round, (call) => handler({ ...call, data, result }))
      const exit = yield* Effect.exit(guarded(kernel.parts()?.database, work))
      if (Exit.isFailure(exit)) {
        errors.push({ hookName: nameOf(handler), message: messageOf(exit.cause) })
        yield* Effect.logWarning(`hook ${key} failed`, exit.cause)
      }
    }
    return errors
  })
