import type { Context, Effect, Layer } from "effect"
import type { Sharding } from "effect/cluster"
import type { WorkflowEngine } from "effect/workflow"
import type { TypePolicies } from "../../domain/catalog/TypePolicy.ts"
import type { CheckoutExtension } from "../../domain/checkout/CheckoutExtension.ts"
import type { BroughtMail } from "../../domain/mail/PluginMails.ts"
import type { OrderProjection } from "../../domain/orders/OrderProjections.ts"
import type { PaymentAdapter } from "../../domain/payments/PaymentAdapter.ts"
import type { KeyScopeOption } from "../../domain/platform/access/ApiKey.ts"
import type { Migrations } from "../../domain/platform/database/MigrationStatements.ts"
import type { Manifest } from "../../domain/platform/modules/Module.ts"
import type { Task } from "../../domain/platform/tasks/Task.ts"
import type { ConditionalPricing, LinePricing } from "../../domain/pricing/LinePricing.ts"
import type { SearchField } from "../../domain/search/SearchFields.ts"
import type { RateAdapter } from "../../domain/shipping/RateAdapter.ts"
import type { TaxAdapter } from "../../domain/tax/TaxAdapter.ts"
import type { OnEvents } from "./events/EventHandler.ts"
import type { PluginContext, PluginContextKey } from "./PluginContext.ts"
import type { PluginHook } from "./PluginHook.ts"
import type { PluginTask } from "./PluginTask.ts"
import type { Route } from "./routes/PluginRoute.ts"
import type { ServedRpc } from "./routes/PluginRpc.ts"
import type { Table } from "./tables/Table.ts"

/** Services that the layer of a plugin may ask for. */
export type PluginNeeds = PluginContextKey | Sharding.Sharding | WorkflowEngine.WorkflowEngine

/** What runs in the processes that run actors; `R` is what it needs of its plugin's services. */
export interface ActorLayer<R = never> {
  /** `<plugin>/<name>`: the cluster keeps its messages under it. */
  readonly name: string
  readonly layer: Layer.Layer<never, never, R | PluginNeeds>
}

/** A durable workflow: it is started by a job of its name. */
export interface WorkflowLayer<R = never> extends ActorLayer<R> {
  readonly task: Effect.Effect<Task, never, WorkflowEngine.WorkflowEngine>
}

export type Tags<Services> = Context.Key<Services, unknown> | ReadonlyArray<Context.Key<Services, unknown>>

export type ServiceTag = Context.Key<unknown, unknown>

/** A manifest of which the tags in `uses` say what its handlers may ask for. */
export type ManifestUsing<Services, Tag extends ServiceTag> =
  & PluginManifest<Services, Context.Service.Identifier<Tag>>
  & { readonly uses?: Tag | ReadonlyArray<Tag> }

/** A list that a plugin writes down, or reads out of its services. */
export type Listed<A, Services> = ReadonlyArray<A> | Effect.Effect<ReadonlyArray<A>, never, Services>

/**
 * What a plugin is (spec §2, plugin manifest). Every function is called once, while the process starts, in the order in
 * which the plugins are listed; hooks, routes and tasks of a plugin see one instance of each of its services.
 */
export interface PluginManifest<Services = never, Used = never> extends Partial<Omit<Manifest, "id">> {
  /** Unique among plugins and modules: lower case letters, digits and hyphens. */
  readonly id: string
  /** Semantic version. */
  readonly version: string
  /** Plugins that come before this one in the list, because its tables, routes or hooks build on theirs. */
  readonly requires?: ReadonlyArray<string>
  /** How goods of the entity types that it sells are sold (`catalog.types`); the deployment's come first. */
  readonly types?: TypePolicies
  /** Its tables in the order in which they refer to one another; what is new in them is added to the database by itself. */
  readonly schema?: () => Readonly<Record<string, Table>> | ReadonlyArray<Table>
  /**
   * What adding cannot do, by number (`0001_split_names`). Each runs once, after the tables have everything that `schema`
   * says: on a new database nothing of the past is there for it to change.
   */
  readonly migrations?: Migrations
  /** A trigger function of `migrations` that follows each statement which moves stock, in its transaction; rows in `moved`. */
  readonly stockFunction?: string
  /** Its services. */
  readonly layer?: Layer.Layer<Services, never, PluginNeeds | NoInfer<Used>>
  /** Services of `layer` that plugins may use which require this one. */
  readonly exports?: Tags<NoInfer<Services>>
  /** Exported services of the plugins in `requires` that its layer and handlers ask for: the same instances. */
  readonly uses?: Tags<Used>
  /** Handlers of hooks (docs/plugins.md), appended in this order. */
  readonly hooks?: (context: PluginContext) => ReadonlyArray<PluginHook<NoInfer<Services | Used>>>
  /** File with recorded examples of its routes for the document: `new URL("./examples.json", import.meta.url)`. */
  readonly examples?: URL
  /** Called once more to declare them where nothing runs: services are for handlers, and lists do not depend on `config`. */
  readonly routes?: (context: PluginContext) => ReadonlyArray<Route<NoInfer<Services | Used>>>
  /** Calls for internal services, at `/rpc` (`rpcGroup`, `serveRpc`). */
  readonly rpc?: ServedRpc<NoInfer<Services | Used> | PluginNeeds>
  /** Kinds of jobs, slugs `<id>/<action>`. */
  readonly tasks?: (context: PluginContext) => ReadonlyArray<PluginTask<NoInfer<Services | Used>>>
  /** Names of the events that it announces; webhooks can subscribe to them. */
  readonly events?: ReadonlyArray<string>
  /**
   * Handlers of events of the core, of this plugin and of others: durable, in the order of a record's events, at least
   * once, after the request that made the event.
   */
  readonly onEvents?: OnEvents<NoInfer<Services | Used>>
  /** Scopes of API keys by name, as `auth.apiKeyScopes` (docs/access.md); one of that name there wins. */
  readonly keyScopes?: Readonly<Record<string, KeyScopeOption>>
  /** Mails that it sends by `services.mail.send`, made with `mailTemplate`. */
  readonly mailTemplates?: ReadonlyArray<BroughtMail>
  /** Payment methods of checkouts, by their `providerId` (docs/payments.md). */
  readonly paymentMethods?: (context: PluginContext) => Listed<PaymentAdapter, NoInfer<Services | Used>>
  /** Tax services; the first one of all plugins serves where the deployment configures none (docs/tax-and-shipping.md). */
  readonly taxAdapters?: (context: PluginContext) => Listed<TaxAdapter, NoInfer<Services | Used>>
  /** Services that price shipping, in the same way. */
  readonly shippingAdapters?: (context: PluginContext) => Listed<RateAdapter, NoInfer<Services | Used>>
  /** What it adds to the search index of the catalog. */
  readonly searchDocuments?: (context: PluginContext) => Listed<SearchField, NoInfer<Services | Used>>
  /** Behaviour of its entities (`pluginEntity`). */
  readonly entities?: ReadonlyArray<ActorLayer<NoInfer<Services | Used>>>
  /** What its durable workflows do (`pluginWorkflow`). */
  readonly workflows?: ReadonlyArray<WorkflowLayer<NoInfer<Services | Used>>>
  /** What it keeps of orders and must be true together with them (`OrderProjection`). */
  readonly orderProjection?: (
    context: PluginContext
  ) =>
    | OrderProjection<NoInfer<Services | Used>>
    | Effect.Effect<OrderProjection<NoInfer<Services | Used>>, never, NoInfer<Services | Used>>
  /** Steps that it adds to the prices of lines (`LinePricing`). */
  readonly linePricing?: (
    context: PluginContext
  ) =>
    | LinePricing
    | ConditionalPricing
    | Effect.Effect<LinePricing | ConditionalPricing, never, NoInfer<Services | Used>>
  /** Decides shipping, warehouse and channel of checkouts, and learns how they end (`CheckoutExtension`). */
  readonly checkoutExtension?: (
    context: PluginContext
  ) => CheckoutExtension | Effect.Effect<CheckoutExtension, never, NoInfer<Services | Used>>
}
