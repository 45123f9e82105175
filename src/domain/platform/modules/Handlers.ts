import { type Context, Effect } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { Database } from "../database/DatabaseRepo.ts"
import type { ValidationFailed } from "../errors/ApiErrors.ts"
import type { EnqueueOptions, Input } from "../jobs/Jobs.ts"
import type { CoreServices, RegisteredServices, ServiceRegistry } from "./ServiceRegistry.ts"

/** Logs without blocking, with the handler's name and the annotations of its request or job. */
export interface HandlerLogger {
  readonly info: (message: string, details?: unknown) => void
  readonly warn: (message: string, details?: unknown) => void
  readonly error: (message: string, details?: unknown) => void
}

/** Enqueues jobs of the handler's organization, within the caller's transaction if there is one. */
export interface HandlerJobs {
  /** Returns the job's id; 422 for an invalid option. */
  readonly enqueue: (
    task: string,
    input: Input,
    options?: Omit<EnqueueOptions, "organizationId">
  ) => Effect.Effect<string, ValidationFailed>
}

export interface HandlerTools {
  readonly jobs: HandlerJobs
  /** The services of the core. They act for the actor of the operation or of the job. */
  readonly services: CoreServices
  readonly logger: HandlerLogger
  /** The database; its statements join the caller's transaction if there is one. */
  readonly db: Database
}

export interface PromiseTools {
  /** Aborted at the handler's time limit, or when its scope ends. */
  readonly signal: AbortSignal
  /** Runs an effect: as the same actor and inside of the same transaction. */
  readonly run: <A, E>(effect: Effect.Effect<A, E, CurrentActor>) => Promise<A>
}

const started = (serviceRegistry: ServiceRegistry["Service"]): RegisteredServices => {
  const parts = serviceRegistry.parts()
  if (parts === undefined) {
    throw new Error("Use services inside of handlers: they exist once the process has started.")
  }
  return parts
}

/** Looks services up when they are used: a plugin can take them before startup ends. */
const servicesOf = (serviceRegistry: ServiceRegistry["Service"]): CoreServices =>
  serviceRegistry.parts()?.services ??
    new Proxy({} as CoreServices, { get: (_, name) => Reflect.get(started(serviceRegistry).services, name) })

const jobsFor = (serviceRegistry: ServiceRegistry["Service"], organizationId: string): HandlerJobs => ({
  enqueue: (task, input, options) =>
    Effect.suspend(() => {
      const { jobs } = started(serviceRegistry)
      return jobs === undefined
        ? Effect.die(new Error("This process has no job queue."))
        : jobs.enqueue(task, input, { ...options, organizationId })
    })
})

const loggerFor = (annotations: Record<string, string>, services: Context.Context<never>): HandlerLogger => {
  const run = Effect.runSyncWith(services)
  const write = (log: (...message: ReadonlyArray<unknown>) => Effect.Effect<void>) => (...line: [string, unknown?]) =>
    run(Effect.annotateLogs(log(...line.filter((part) => part !== undefined)), annotations))
  return { info: write(Effect.logInfo), warn: write(Effect.logWarning), error: write(Effect.logError) }
}

export const toolsOf = (
  serviceRegistry: ServiceRegistry["Service"],
  organizationId: string,
  annotations: Record<string, string>,
  services: Context.Context<never>
): HandlerTools => ({
  get jobs() {
    return jobsFor(serviceRegistry, organizationId)
  },
  get logger() {
    return loggerFor(annotations, services)
  },
  get services() {
    return servicesOf(serviceRegistry)
  },
  get db() {
    return started(serviceRegistry).database
  }
})

const over = new Error("The handler that this belongs to is over.")

/**
 * `abort` ends a handler early, `end` follows any end. Inside a transaction `run` stops with the handler: a late
 * statement would join the connection's next transaction.
 */
export const promiseToolsOf = (services: Context.Context<CurrentActor>, inTransaction = false) => {
  const [early, ended] = [new AbortController(), new AbortController()]
  const lasting = inTransaction ? AbortSignal.any([early.signal, ended.signal]) : early.signal
  const tools: PromiseTools = {
    signal: early.signal,
    run: (effect) =>
      lasting.aborted ? Promise.reject(over) : Effect.runPromiseWith(services)(effect, { signal: lasting })
  }
  return { tools, abort: Effect.sync(() => early.abort()), end: Effect.sync(() => ended.abort()) }
}
