import { Effect } from "effect"
import { type Actor, CurrentActor, onBehalfOfStore } from "../../domain/platform/access/Actor.ts"
import type { HandlerJobs, HandlerLogger, HandlerTools } from "../../domain/platform/modules/Handlers.ts"
import type { CoreServices } from "../../domain/platform/modules/ServiceRegistry.ts"
import type { PluginDatabase } from "./tables/PluginDatabase.ts"

/** What every handler of a plugin gets; those of routes, events and tasks get more beside it. */
export interface PluginCall {
  /** Who asks: on a route with `auth` or `permission` never a visitor, in tasks and events the service itself. */
  readonly actor: Actor
  readonly organizationId: string
  /** Null without a request. */
  readonly requestId: string | null
  /** The plugin's tables, and transactions. */
  readonly db: PluginDatabase
  /** The services of the core. They act for the actor. */
  readonly services: CoreServices
  /** Enqueues jobs of the organization. */
  readonly jobs: HandlerJobs
  readonly logger: HandlerLogger
  /**
   * Does what the store allows and the caller alone may not: the work runs as the same user, key, request and address, with
   * all permissions, without the cart secret and without the idempotency record of the request. Check before it what they may.
   */
  readonly asStore: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R | CurrentActor>
}

const asStore: PluginCall["asStore"] = (work) => Effect.updateService(work, CurrentActor, onBehalfOfStore)

/** A call with the tools of the core; each is made when it is asked for. */
export const callWith = (
  tools: Omit<HandlerTools, "db">,
  db: PluginDatabase,
  actor: Actor
): PluginCall => ({
  actor,
  organizationId: actor.organizationId,
  requestId: actor.requestId,
  db,
  asStore,
  get jobs() {
    return tools.jobs
  },
  get logger() {
    return tools.logger
  },
  get services() {
    return tools.services
  }
})
