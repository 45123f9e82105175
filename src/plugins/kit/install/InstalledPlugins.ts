import { Context, Effect, Layer, Redacted } from "effect"
import { Sharding } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { WorkflowEngine } from "effect/workflow"
import { createHmac, hkdfSync } from "node:crypto"
import { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import { PermissionCatalogue } from "../../../domain/platform/access/Permission.ts"
import { announcedNames, EventSubscribers } from "../../../domain/platform/events/EventSubscribers.ts"
import { type HandlerTools, toolsOf } from "../../../domain/platform/modules/Handlers.ts"
import { together } from "../../../domain/platform/modules/Module.ts"
import { ServiceRegistry } from "../../../domain/platform/modules/ServiceRegistry.ts"
import { Tasks } from "../../../domain/platform/tasks/Task.ts"
import type { Keyring, SecretsKey } from "../../../domain/webhooks/SecretEncryption.ts"
import { docsEndpoints, endpoints } from "../../../http/docs/Docs.ts"
import { AppConfig, type AppSettings } from "../../../layers/config/AppConfig.ts"
import { InvalidSetting } from "../../../layers/config/Settings.ts"
import { conditionSql, isPath } from "../events/EventConditionRepo.ts"
import { type InstalledSubscription, namesOf, subscriptionOf } from "../events/EventHandler.ts"
import type { InstalledPlugin, Plugin } from "../Plugin.ts"
import { callWith, type PluginCall } from "../PluginCall.ts"
import type { PluginContext } from "../PluginContext.ts"
import type { PluginDatabase } from "../tables/PluginDatabase.ts"
import { pluginDatabase } from "../tables/PluginDatabaseRepo.ts"
import { ofRecordWith } from "../tables/RecordOrganizationRepo.ts"
import { shopperScopes } from "./BodyBounds.ts"
import { eventHandlers, type Subscription } from "./EventHandlers.ts"
import { transportOf } from "./GuardedTransport.ts"
import { conditionFlaws } from "./PluginRules.ts"
import { registration } from "./Registration.ts"
import { callFlaws, routeFlaws } from "./RouteRules.ts"

/** Keys of each plugin: what leaks of one opens nothing of another. */
const digestsOf = (keyring: Keyring | undefined, plugin: string): PluginContext["digests"] => {
  const keyOf = ({ bytes }: SecretsKey) => hkdfSync("sha256", Redacted.value(bytes), "", `stoa plugin ${plugin}`, 32)
  return (text) => {
    if (keyring === undefined) throw new Error(`Set STOA_SECRETS_KEY: plugin "${plugin}" keeps digests of secrets.`)
    const digest = (key: SecretsKey) =>
      createHmac("sha256", new Uint8Array(keyOf(key))).update(text).digest("base64url")
    const [first, ...older] = keyring
    return [digest(first), ...older.map(digest)]
  }
}

const contextOf = (
  { access, deployment, environment, webhooks: { keyring } }: AppSettings,
  tools: HandlerTools,
  db: PluginDatabase,
  rest: Pick<PluginContext, "call" | "ofRecord" | "transport">
): PluginContext => {
  return {
    ...rest,
    digests: digestsOf(keyring, db.plugin),
    config: {
      defaultCurrency: deployment.store.defaultCurrency,
      timeZone: deployment.store.timeZone,
      defaultOrganizationId: access.defaultOrganizationId,
      environment
    },
    get services() {
      return tools.services
    },
    get logger() {
      return tools.logger
    },
    db,
    database: { db, transaction: db.transaction }
  }
}

const handling = (
  call: Effect.Effect<PluginCall, never, CurrentActor>,
  { handler }: InstalledSubscription
): Subscription["handle"] =>
(event, attemptNumber) => Effect.flatMap(call, (own) => handler(Object.assign(own, { event, attemptNumber })))

/** Conditions over records that are no jsonpath: each event would fail. */
const pathFlaws = (sql: SqlClient.SqlClient, subscriptions: ReadonlyArray<InstalledSubscription>) =>
  Effect.map(
    Effect.filter(subscriptions.flatMap(({ only }) => only?.record ?? []), (path) =>
      Effect.map(isPath(sql, path), (isValid) => !isValid)),
    (paths) =>
      paths.map((path) => `A condition of onEvents is no jsonpath: "${path}".`)
  )

/** A deployment without a key for secrets starts with no plugin that keeps some. */
const refuseSecrets = ({ id, tables }: Plugin) => {
  const found = tables.find(({ columns }) => Object.values(columns).some(({ facts }) => facts.isSecret))
  const message = `Set STOA_SECRETS_KEY: "${found?.name}" of plugin "${id}" keeps secrets.`
  return found === undefined ? Effect.void : Effect.fail(new InvalidSetting({ message }))
}

const knownScopes = Effect.map(
  PermissionCatalogue,
  ({ core, plugin }) => new Set<string>([...core, ...plugin.map(({ scope }) => scope)])
)

const runBy = (plugins: ReadonlyArray<InstalledPlugin>) => {
  const served = plugins.flatMap(({ rpc }) => rpc ?? [])
  return {
    actors: together(plugins.map(({ actors }) => actors)),
    rpc: { groups: served.map(({ group }) => group), handlers: together(served.map(({ layer }) => layer)) }
  }
}

/**
 * Installs the plugins of the deployment in their order (spec §2, plugin lifecycle): services, hooks, tasks, routes. It
 * belongs below the layer that ends the time in which hooks are added. Fails with a sentence when the routes of two of
 * them, or of one and the core, cannot stand beside each other.
 */
export class InstalledPlugins extends Context.Service<InstalledPlugins>()("stoa/plugins/kit/install/InstalledPlugins", {
  make: Effect.gen(function*() {
    const settings = yield* AppConfig
    const [serviceRegistry, tasks, sql] = yield* Effect.all([ServiceRegistry, Tasks, SqlClient.SqlClient])
    const cluster = Context.pick(Sharding.Sharding, WorkflowEngine.WorkflowEngine)(
      yield* Effect.context<Sharding.Sharding | WorkflowEngine.WorkflowEngine>()
    )
    const register = yield* registration
    const subscribers = yield* EventSubscribers
    const announced = [...(yield* announcedNames)]
    const own = yield* Effect.context<never>()
    const transport = yield* transportOf(settings)
    /** What plugins export, by their ids. */
    const exported = new Map<string, Context.Context<never>>()

    const follow = Effect.fnUntraced(function*(subscriptions: ReadonlyArray<Subscription>) {
      if (subscriptions.length === 0) return
      const handlers = yield* eventHandlers(subscriptions)
      yield* subscribers.register(handlers.subscriber)
      yield* Effect.forEach(handlers.tasks, (task) => tasks.register(task), { discard: true })
    })

    const install = Effect.fnUntraced(function*(plugin: Plugin) {
      const { keyring } = settings.webhooks
      if (keyring === undefined) yield* refuseSecrets(plugin)
      const db = pluginDatabase({ sql, keyring }, plugin)
      const annotations = { plugin: plugin.id }
      const call = Effect.gen(function*() {
        const actor = yield* CurrentActor
        const tools = toolsOf(serviceRegistry, actor.organizationId, annotations, yield* Effect.context<never>())
        return callWith(tools, db, actor)
      })
      const context = contextOf(
        settings,
        toolsOf(serviceRegistry, settings.access.defaultOrganizationId, annotations, own),
        db,
        { call, ofRecord: ofRecordWith(db, call), transport }
      )
      const required = plugin.requires.map((id) => exported.get(id) ?? Context.empty())
      const installed = yield* plugin.install({ cluster, context, required: Context.mergeAll(...required) })
      exported.set(plugin.id, installed.exported)
      yield* register(plugin, installed)
      const subscriptions = Object.entries(installed.onEvents).map(([key, subscription]): Subscription => ({
        slug: subscriptionOf(plugin.id, key),
        concerns: subscription.only && conditionSql(sql, subscription.only),
        names: new Set(namesOf(key, announced, settings.deployment.plugins)),
        retries: subscription.retries,
        timeLimitMs: subscription.timeLimitMs,
        handle: handling(call, subscription)
      }))
      return {
        installed,
        context,
        subscriptions,
        routes: installed.routes.map((route) => ({ plugin: plugin.id, route }))
      }
    })

    const all = yield* Effect.forEach(settings.deployment.plugins, install)
    const routes = all.flatMap(({ routes }) => routes)
    yield* follow(all.flatMap(({ subscriptions }) => subscriptions))
    const known = yield* knownScopes
    const [flaw] = [
      ...yield* pathFlaws(sql, all.flatMap(({ installed }) => Object.values(installed.onEvents))),
      ...routeFlaws(routes, known, [...endpoints(), ...docsEndpoints], shopperScopes(settings.deployment.plugins)),
      ...callFlaws(settings.deployment.plugins, known),
      ...conditionFlaws(settings.deployment, all.map(({ installed }) => installed))
    ]
    if (flaw !== undefined) return yield* new InvalidSetting({ message: flaw })
    return {
      ...runBy(all.map(({ installed }) => installed)),
      routes: routes.map(({ route }) => route),
      contexts: all.map(({ context }) => context)
    }
  })
}) {}

export const pluginsLayer = Layer.effect(InstalledPlugins, InstalledPlugins.make)
