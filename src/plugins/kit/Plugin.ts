import { Context, Effect, Layer, Record, type Scope } from "effect"
import type { Sharding } from "effect/cluster"
import type { WorkflowEngine } from "effect/workflow"
import type { TypePolicies } from "../../domain/catalog/TypePolicy.ts"
import type { CheckoutExtension } from "../../domain/checkout/CheckoutExtension.ts"
import type { BroughtMail } from "../../domain/mail/PluginMails.ts"
import type { OrderProjection } from "../../domain/orders/OrderProjections.ts"
import type { PaymentAdapter } from "../../domain/payments/PaymentAdapter.ts"
import type { KeyScopeOption } from "../../domain/platform/access/ApiKey.ts"
import type { Hook } from "../../domain/platform/hooks/Hook.ts"
import { type Manifest, together } from "../../domain/platform/modules/Module.ts"
import type { Task } from "../../domain/platform/tasks/Task.ts"
import type { ConditionalPricing, LinePricing } from "../../domain/pricing/LinePricing.ts"
import type { SearchField } from "../../domain/search/SearchFields.ts"
import type { RateAdapter } from "../../domain/shipping/RateAdapter.ts"
import type { TaxAdapter } from "../../domain/tax/TaxAdapter.ts"
import { type InstalledSubscription, subscriptionWith } from "./events/EventHandler.ts"
import { hookWith, projectionWith, taskWith } from "./HandlerServices.ts"
import { idleContextWith } from "./IdleContext.ts"
import { PluginContext } from "./PluginContext.ts"
import type { Listed, ManifestUsing, PluginManifest, PluginNeeds, ServiceTag, Tags } from "./PluginManifest.ts"
import type { BuiltRoute } from "./routes/PluginRoute.ts"
import type { DescribedCall, ServedRpc } from "./routes/PluginRpc.ts"
import { type Described, recordedIn } from "./routes/RouteShape.ts"
import type { Table } from "./tables/Table.ts"

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
