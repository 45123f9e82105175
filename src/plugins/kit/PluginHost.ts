import { Context, type Effect } from "effect"
import type { CurrentActor } from "../../domain/platform/access/Actor.ts"
import type { HandlerLogger } from "../../domain/platform/modules/Handlers.ts"
import type { CoreServices } from "../../domain/platform/modules/ServiceRegistry.ts"
import type { OutboundTransport } from "./outbound/OutboundTransport.ts"
import type { PluginTools } from "./routes/RouteTools.ts"
import type { PluginDatabase } from "./tables/PluginDatabase.ts"

/** What a deployment has decided that concerns plugins. */
export interface PluginConfig {
  /** Organization of requests that name none. */
  readonly defaultOrganizationId: string
  /** Three letters. */
  readonly defaultCurrency: string
  readonly environment: "development" | "test" | "production"
}

/** What the functions of a manifest get (spec §2, plugin manifest). */
export interface PluginContext {
  readonly config: PluginConfig
  /**
   * The services of the core. They act for the actor of the request, hook or job that calls them, and are there once the
   * process has started: use them inside of handlers.
   */
  readonly services: CoreServices
  /** The plugin's tables, and transactions. */
  readonly db: PluginDatabase["Service"]
  /** The same, as the specification names it. */
  readonly database: {
    readonly db: PluginDatabase["Service"]
    readonly transaction: PluginDatabase["Service"]["transaction"]
  }
  readonly logger: HandlerLogger
  /** Tools of a handler, in the organization of the actor. */
  readonly tools: Effect.Effect<PluginTools, never, CurrentActor>
  /** How `outbound` sends. */
  readonly transport: OutboundTransport
  /**
   * Digests of a text that is secret and looked up, such as a code: HMAC-SHA256 in base64url under keys of this plugin that
   * are derived from the deployment's secrets keys, the current one first. Store the first and look for any. Dies without
   * `STOA_SECRETS_KEY`.
   */
  readonly digests: (text: string) => readonly [string, ...ReadonlyArray<string>]
}

/** The context of a plugin, for its layer. */
export class PluginHost extends Context.Service<PluginHost, PluginContext>()("stoa/plugins/kit/PluginHost") {}
