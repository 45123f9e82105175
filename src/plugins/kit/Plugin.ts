import { Context, Effect, Layer, Record, type Scope } from "effect"
import type { Sharding } from "effect/cluster"
import type { WorkflowEngine } from "effect/workflow"
import type { TypePolicies } from "../../domain/catalog/TypePolicy.ts"
import type { CheckoutExtension } from "../../domain/checkout/CheckoutExtension.ts"
import type { BroughtMail } from "../../domain/mail/PluginMails.ts"
import type { OrderProjection } from "../../domain/orders/OrderProjections.ts"
import type { PaymentAdapter } from "../../domain/payments/PaymentAdapter.ts"
import type { KeyScopeOption } from "../../domain/platform/access/ApiKey.ts"
import type { Migrations } from "../../domain/platform/database/MigrationStatements.ts"
import type { Hook } from "../../domain/platform/hooks/Hook.ts"
import { type Manifest, together } from "../../domain/platform/modules/Module.ts"
import type { Task } from "../../domain/platform/tasks/Task.ts"
import type { ConditionalPricing, LinePricing } from "../../domain/pricing/LinePricing.ts"
import type { SearchField } from "../../domain/search/SearchFields.ts"
import type { RateAdapter } from "../../domain/shipping/RateAdapter.ts"
import type { TaxAdapter } from "../../domain/tax/TaxAdapter.ts"
import { type InstalledSubscription, type OnEvents, subscriptionWith } from "./events/EventHandler.ts"
import { hookWith, projectionWith, taskWith } from "./HandlerServices.ts"
import { idleContextWith } from "./IdleContext.ts"
import { PluginContext, type PluginContextKey } from "./PluginContext.ts"
import type { PluginHook } from "./PluginHook.ts"
import type { PluginTask } from "./PluginTask.ts"
import type { BuiltRoute, Route } from "./routes/PluginRoute.ts"
import type { DescribedCall, ServedRpc } from "./routes/PluginRpc.ts"
import { type Described, recordedIn } from "./routes/RouteShape.ts"
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

type Tags<Services> = Context.Key<Services, unknown> | ReadonlyArray<Context.Key<Services, unknown>>

export type ServiceTag = Context.Key<unknown, unknown>

/** A manifest of which the tags in `uses` say what its handlers may ask for. */
export type ManifestUsing<Services, Tag extends ServiceTag> =
  & PluginManifest<Services, Context.Service.Identifier<Tag>>
  & { readonly uses?: Tag | ReadonlyArray<Tag> }

/** A list that a plugin writes down, or reads out of its services. */
type Listed<A, Services> = ReadonlyArray<A> | Effect.Effect<ReadonlyArray<A>, never, Services>

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

/** What a plugin needs of the process to be installed. */
export interface Installation {
  readonly context: PluginContext
  readonly cluster: Context.Context<Sharding.Sharding | WorkflowEngine.WorkflowEngine>
  /** What the plugins that it requires export. */
  readonly required: Context.Context<never>
}

/** What a plugin brought when it was installed. */
export interface InstalledPlugin {
  readonly id: string
  readonly hooks: ReadonlyArray<Hook>
  readonly tasks: ReadonlyArray<Task>
  readonly paymentMethods: ReadonlyArray<PaymentAdapter>
  readonly taxAdapters: ReadonlyArray<TaxAdapter>
  readonly shippingAdapters: ReadonlyArray<RateAdapter>
  readonly searchDocuments: ReadonlyArray<SearchField>
  readonly routes: ReadonlyArray<BuiltRoute>
  readonly rpc: ServedRpc | undefined
  /** Its entities and workflows, for processes that run actors. */
  readonly actors: Layer.Layer<never>
  readonly orderProjection: OrderProjection | undefined
  readonly linePricing: LinePricing | ConditionalPricing | undefined
  readonly checkoutExtension: CheckoutExtension | undefined
  /** By the keys of `onEvents`. */
  readonly onEvents: Readonly<Record<string, InstalledSubscription>>
  readonly exported: Context.Context<never>
}

/** An option of a plugin as `stoa plugin options` lists it. */
export interface OptionRow {
  readonly name: string
  readonly description: string
  /** JSON; `none` without one. */
  readonly fallback: string
}

/** A plugin as a deployment lists it: `plugins: [marketplace(), loyalty]`. */
export interface Plugin extends Manifest {
  readonly version: string
  readonly requires: ReadonlyArray<string>
  /** With the lists that show them. */
  readonly tables: ReadonlyArray<Table>
  readonly stockFunction: string | undefined
  readonly types: TypePolicies
  readonly events: ReadonlyArray<string>
  /** Keys of `onEvents`. */
  readonly subscribesTo: ReadonlyArray<string>
  /** Keys of services that it exports, and that it uses. */
  readonly exports: ReadonlyArray<string>
  readonly uses: ReadonlyArray<string>
  readonly keyScopes: Readonly<Record<string, KeyScopeOption>>
  readonly mailTemplates: ReadonlyArray<BroughtMail>
  /** Names of its entities, and of its workflows. */
  readonly entities: ReadonlyArray<string>
  readonly workflows: ReadonlyArray<string>
  readonly examples: URL | undefined
  readonly calls: ReadonlyArray<DescribedCall>
  /** Its options, for people. */
  readonly options: ReadonlyArray<OptionRow>
  /** What is wrong with the options that the deployment gives it. */
  readonly flaws: ReadonlyArray<string>
  /** Its routes as the document shows them, without building anything. */
  readonly describe: (context: PluginContext) => ReadonlyArray<Described>
  /** Builds its services, for as long as the scope lasts, and what depends on them. */
  readonly install: (installation: Installation) => Effect.Effect<InstalledPlugin, never, Scope.Scope>
}

const keysOf = <Services>(tags: Tags<Services> = []): ReadonlyArray<string> => [tags].flat().map(({ key }) => key)

const exportedOf = (services: Context.Context<never>, keys: ReadonlyArray<string>): Context.Context<never> =>
  Context.makeUnsafe(new Map([...services.mapUnsafe].filter(([key]) => keys.includes(key))))

const listed = <A, Services>(
  list: Listed<A, Services> | undefined,
  services: Context.Context<Services>
): Effect.Effect<ReadonlyArray<A>> =>
  list === undefined
    ? Effect.succeed([])
    : Effect.isEffect(list)
    ? Effect.provideContext(list, services)
    : Effect.succeed(list)

const given = <A, Services>(
  extension: A | Effect.Effect<A, never, Services> | undefined,
  services: Context.Context<Services>
): Effect.Effect<A | undefined> =>
  Effect.isEffect(extension) ? Effect.provideContext(extension, services) : Effect.succeed(extension)

/** Lists are the same in every deployment, so they are declared with none. */
const anyDeployment = {
  defaultOrganizationId: "",
  defaultCurrency: "USD",
  timeZone: "UTC",
  environment: "production"
} as const

/** The tables of a manifest with the lists that show them, which its routes declare. */
const listedTables = <Services, Used>({ routes, schema }: PluginManifest<Services, Used>): ReadonlyArray<Table> => {
  const lists = (routes?.(idleContextWith(anyDeployment)) ?? []).flatMap(({ described }) => described.lists ?? [])
  return Object.values(schema?.() ?? {}).map((table) => ({
    ...table,
    lists: lists.filter((one) => one.table === table.name)
  }))
}

/** A plugin without a layer has no services, which is what the default of the type parameter says. */
const noServices = Layer.empty as Layer.Layer<never, never, never>

/** Makes a plugin of its manifest. What cannot be right in it ends the start with a sentence (`PluginRules.ts`). */
export const definePlugin = <Services = never, Tag extends ServiceTag = never>(
  manifest: ManifestUsing<Services, Tag>
): Plugin => {
  type Used = Context.Service.Identifier<Tag>
  const { id, version } = manifest
  const layer: Layer.Layer<Services, never, PluginNeeds | Used> = manifest.layer ?? noServices as Layer.Layer<Services>
  const exports = keysOf(manifest.exports)
  const { entities = [], workflows = [] } = manifest
  return {
    id,
    version,
    requires: manifest.requires ?? [],
    permissions: manifest.permissions ?? [],
    tables: listedTables(manifest),
    migrations: manifest.migrations ?? {},
    stockFunction: manifest.stockFunction,
    analyticsModels: manifest.analyticsModels ?? (() => []),
    types: manifest.types ?? {},
    events: manifest.events ?? [],
    keyScopes: manifest.keyScopes ?? {},
    mailTemplates: manifest.mailTemplates ?? [],
    entities: entities.map(({ name }) => name),
    workflows: workflows.map(({ name }) => name),
    examples: manifest.examples,
    calls: manifest.rpc?.calls ?? [],
    options: [],
    flaws: [],
    exports,
    uses: keysOf(manifest.uses),
    subscribesTo: Object.keys(manifest.onEvents ?? {}),
    describe: (context) => (manifest.routes?.(context) ?? []).map(({ described }) => described),
    install: Effect.fnUntraced(function*({ cluster, context, required }) {
      // The start has compared what is used with what is exported (`PluginRules.ts`).
      const used = required as Context.Context<Used>
      const needs = Context.add(cluster, PluginContext, context)
      const own = yield* Effect.provideContext(Layer.build(layer), Context.merge(used, needs))
      const services = Context.merge(used, own)
      const routes = (manifest.routes?.(context) ?? []).map((route) => {
        const built = route.build(context.call, services)
        return { ...built, group: recordedIn(manifest.examples, built.group) }
      })
      const actors = together([...entities, ...workflows].map((one) => one.layer))
      const starts = Effect.provideContext(Effect.all(workflows.map(({ task }) => task)), cluster)
      const all = Layer.succeedContext(Context.merge(services, needs))
      const projection = yield* given(manifest.orderProjection?.(context), services)
      return {
        id,
        rpc: manifest.rpc && { ...manifest.rpc, layer: Layer.provide(manifest.rpc.layer, all) },
        actors: Layer.provide(actors, all),
        hooks: (manifest.hooks?.(context) ?? []).map(hookWith(context.db, services)),
        tasks: [...(manifest.tasks?.(context) ?? []).map(taskWith(context.db, services)), ...yield* starts],
        paymentMethods: yield* listed(manifest.paymentMethods?.(context), services),
        taxAdapters: yield* listed(manifest.taxAdapters?.(context), services),
        shippingAdapters: yield* listed(manifest.shippingAdapters?.(context), services),
        searchDocuments: yield* listed(manifest.searchDocuments?.(context), services),
        routes,
        exported: exportedOf(own, exports),
        onEvents: Record.map(manifest.onEvents ?? {}, (one) => subscriptionWith(one, services)),
        orderProjection: projection && projectionWith(services)(projection),
        linePricing: yield* given(manifest.linePricing?.(context), services),
        checkoutExtension: yield* given(manifest.checkoutExtension?.(context), services)
      }
    })
  }
}
