import { Context, Effect } from "effect"
import type { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type { StoreEvent } from "../../../domain/platform/events/Event.ts"
import type { Retries } from "../../../domain/platform/tasks/Task.ts"
import type { PluginCall } from "../PluginCall.ts"
import type { EventCondition } from "./EventConditionRepo.ts"

/** The call of an event: as the service itself, in the organization of the event. */
export interface EventCall extends PluginCall {
  readonly event: StoreEvent
  /** From 1. An event is handled at least once: its id tells whether it was. */
  readonly attemptNumber: number
}

/** Any error with a tag. */
export interface Failure {
  readonly _tag: string
}

/** Handles an event; a failure is tried again. `GiveUp` ends the tries at once. */
export type EventHandler<R = never> = (call: EventCall) => Effect.Effect<unknown, Failure, R | CurrentActor>

/** A handler with its policies. */
export interface EventSubscription<R = never> {
  readonly handler: EventHandler<R>
  /** Default: 20 tries over about eight hours. No wait is longer than an hour. */
  readonly retries?: Retries
  /** Milliseconds for one try. Default: as of tasks, five minutes. */
  readonly timeLimitMs?: number
  /** Events that do not meet it cost no job. The handler still has to look: what it finds may have changed since. */
  readonly only?: EventCondition
}

/** A subscription over the services of its plugin. */
export interface InstalledSubscription extends Omit<EventSubscription, "handler"> {
  readonly handler: (call: EventCall) => Effect.Effect<unknown, Failure, CurrentActor>
}

/** Gives a handler the services of its plugin. */
export const subscriptionWith = <R>(
  given: EventHandler<R> | EventSubscription<R>,
  services: Context.Context<R>
): InstalledSubscription => {
  const { handler, ...policies } = typeof given === "function" ? { handler: given } : given
  return {
    ...policies,
    handler: (call) =>
      Effect.updateContext(
        handler(call),
        (ofJob: Context.Context<CurrentActor>) => Context.merge(services, ofJob) as Context.Context<R | CurrentActor>
      )
  }
}

/**
 * Handlers by the name of their event, of the core or of a plugin. `*` stands for any rest of a name (`orders.*`, `*`), and
 * `marketplace/*` also for all events that the plugin declares.
 */
export type OnEvents<R = never> = Readonly<Record<string, EventHandler<R> | EventSubscription<R>>>

interface Declaring {
  readonly id: string
  readonly events: ReadonlyArray<string>
}

/** The names that a key of `onEvents` stands for. */
export const namesOf = (
  key: string,
  known: ReadonlyArray<string>,
  plugins: ReadonlyArray<Declaring>
): ReadonlyArray<string> => {
  if (!key.endsWith("*")) return known.filter((name) => name === key)
  const of = plugins.find(({ id }) => key === `${id}/*`)?.events ?? []
  return [...new Set([...of, ...known.filter((name) => name.startsWith(key.slice(0, -1)))])]
}

/** Slug of the task that handles the events of a subscription, and the subscription's name in the database. */
export const subscriptionOf = (plugin: string, key: string): string => `${plugin}/on/${key}`
