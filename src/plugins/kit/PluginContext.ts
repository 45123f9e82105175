import { Context, type Effect } from "effect"
import type { CurrentActor } from "../../domain/platform/access/Actor.ts"
import type { HandlerLogger } from "../../domain/platform/modules/Handlers.ts"
import type { CoreServices } from "../../domain/platform/modules/ServiceRegistry.ts"
import type { OutboundTransport } from "./outbound/OutboundTransport.ts"
import type { PluginCall } from "./PluginCall.ts"
import type { PluginDatabase } from "./tables/PluginDatabase.ts"
import type { OfRecord } from "./tables/RecordOrganizationRepo.ts"

/** What a deployment has decided that concerns plugins. */
export interface PluginConfig {
  /** Organization of requests that name none. */
  readonly defaultOrganizationId: string
  /** Three letters. */
  readonly defaultCurrency: string
  /** IANA name. */
  readonly timeZone: string
  readonly environment: "development" | "test" | "production"
}

/** What a plugin is built with: the functions of its manifest get it, and its layers ask for it (spec §2). */
export interface PluginContext {
  readonly config: PluginConfig
  /**
   * The services of the core. They act for the actor of the request, hook or job that calls them, and are there once the
   * process has started: use them inside of handlers.
   */
  readonly services: CoreServices
  /** The plugin's tables, and transactions. */
  readonly db: PluginDatabase
  /** `db` under the names of the specification. */
  readonly database: { readonly db: PluginDatabase; readonly transaction: PluginDatabase["transaction"] }
  readonly logger: HandlerLogger
  /** A call in the organization of the current actor, for code that no handler runs. */
  readonly call: Effect.Effect<PluginCall, never, CurrentActor>
  /**
   * `ofRecord(stores, id)((call) => …)` runs work as the service itself in the organization of a row of the plugin, whichever
   * that is, for callers who are known by nothing else: webhooks, links. 404 without the row. Use the call that the work gets.
   */
  readonly ofRecord: OfRecord
  /** How `outbound` sends. */
  readonly transport: OutboundTransport
  /**
   * Digests of a text that is secret and looked up, such as a code: HMAC-SHA256 in base64url under keys of this plugin that
   * are derived from the deployment's secrets keys, the current one first. Store the first and look for any. Dies without
   * `STOA_SECRETS_KEY`.
   */
  readonly digests: (text: string) => readonly [string, ...ReadonlyArray<string>]
}

/** Stands for the context in the types of layers. */
export class PluginContextKey
  extends Context.Service<PluginContextKey, PluginContext>()("stoa/plugins/kit/PluginContextKey")
{}

/** The context, for layers: `yield* PluginContext`. */
export const PluginContext = PluginContextKey
