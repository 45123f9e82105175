import { PgClient } from "@effect/sql-pg"
import { Clock, Context, type Duration, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor, systemActor } from "../../../domain/platform/access/Actor.ts"
import { type CoreServices, ServiceRegistry } from "../../../domain/platform/modules/ServiceRegistry.ts"
import { developmentKeyring } from "../../../domain/webhooks/SecretEncryption.ts"
import { wholeApp } from "../../../layers/App.ts"
import type { DeploymentConfig } from "../../../layers/config/DeploymentConfig.ts"
import { InstalledPlugins } from "../install/InstalledPlugins.ts"
import type { Plugin } from "../Plugin.ts"
import type { PluginContext } from "../PluginContext.ts"
import type { Described } from "../routes/RouteShape.ts"
import type { PluginDatabase } from "../tables/PluginDatabase.ts"
import { pluginDatabase } from "../tables/PluginDatabaseRepo.ts"
import { shiftedClock, TestTime } from "./ShiftedClock.ts"
import type { TestActor } from "./TestActors.ts"
import { ownDatabase, type TestServer } from "./TestDatabase.ts"
import { testSettings } from "./TestSettings.ts"

/** What is sent beside method and path. */
export interface TestRequest {
  /** Sent as JSON; a text is sent as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Who asks; absent: a visitor without credentials. */
  readonly as?: TestActor
}

/** What came back; `body` is JSON where it is JSON. */
export interface TestAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

/** A running service with the plugin in it, for tests of any runner. */
export interface PluginTestApp {
  readonly app: {
    readonly url: string
    readonly request: (method: string, path: string, request?: TestRequest) => Promise<TestAnswer>
  }
  readonly serviceRegistry: {
    /** The services of the core. */
    readonly services: CoreServices
    /** Enqueues a job in the default organization; gives its id. */
    readonly enqueue: (task: string, input: Readonly<Record<string, unknown>>) => Promise<string>
    /** Runs an effect as the service itself, or as another actor, by the service's clock. */
    readonly run: <A, E>(effect: Effect.Effect<A, E, CurrentActor>, as?: Actor) => Promise<A>
  }
  /** Statements of the test's own, with `$1` parameters. */
  readonly db: {
    readonly query: (
      text: string,
      values?: ReadonlyArray<unknown>
    ) => Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>
  }
  /** The tables of the plugins, for effects that `serviceRegistry.run` runs. */
  readonly tables: PluginDatabase
  /** What the first plugin was built with, for layers that a test builds. */
  readonly context: PluginContext
  /** The clock of the service: goes on by itself and can be put forward. */
  readonly clock: { readonly now: () => number; readonly advance: (by: Duration.Input) => void }
  /** The routes that the plugins brought. */
  readonly routes: ReadonlyArray<Described>
  readonly plugins: ReadonlyArray<Plugin>
  /** Stops the service and drops its database. */
  readonly close: () => Promise<void>
}

/** What a test may change about the service. */
export interface PluginTestOptions extends Omit<DeploymentConfig, "plugins" | "databaseUrl"> {
  /** Default: an embedded temporary server. */
  readonly postgres?: TestServer
}

const sender = (url: string): PluginTestApp["app"]["request"] => async (method, path, { as, body, headers } = {}) => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(as === undefined ? {} : { "x-test-actor": JSON.stringify(as) }),
      ...headers
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
  })
  const text = await response.text()
  const isJson = response.headers.get("content-type")?.includes("json") === true && text !== ""
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

/** Over connections of the test's own, which are there once it asks and end with the scope. */
const queryIn = (url: string, scope: Scope.Scope) =>
  Effect.map(
    Layer.buildWithScope(PgClient.layer({ url: Redacted.make(url), maxConnections: 10 }), scope),
    (client): PluginTestApp["db"]["query"] => (text, values = []) =>
      Effect.runPromise(
        Context.get(client, SqlClient.SqlClient).unsafe(text, values)
      )
  )

const serviceRegistryOf = (
  serviceRegistry: ServiceRegistry["Service"],
  clock: Clock.Clock
): PluginTestApp["serviceRegistry"] => {
  const parts = serviceRegistry.parts()
  if (parts === undefined) throw new Error("The service did not start.")
  const run: PluginTestApp["serviceRegistry"]["run"] = (effect, as = systemActor("org_default")) =>
    Effect.runPromiseWith(Context.make(Clock.Clock, clock))(Effect.provideService(effect, CurrentActor, as))
  return {
    services: parts.services,
    enqueue: (task, input) =>
      parts.jobs === undefined
        ? Promise.reject(new Error("The service has no job queue."))
        : run(parts.jobs.enqueue(task, input, { organizationId: "org_default" })),
    run
  }
}

const tablesOf = (serviceRegistry: ServiceRegistry["Service"], plugins: ReadonlyArray<Plugin>) => {
  const sql = serviceRegistry.parts()?.database
  if (sql === undefined) throw new Error("The service did not start.")
  const [tables, events] = [plugins.flatMap((one) => one.tables), plugins.flatMap((one) => one.events)]
  return pluginDatabase({ sql, keyring: developmentKeyring }, { id: plugins[0]?.id ?? "test", tables, events })
}

const firstOf = ([context]: ReadonlyArray<PluginContext>): PluginContext => {
  if (context === undefined) throw new Error("The service has no plugin.")
  return context
}

/**
 * Starts the whole service in this process with one plugin, or several in their order, on a separate database: real
 * HTTP, real PostgreSQL, cluster and job queue in process, `x-test-actor` in place of credentials (contract, platform
 * §15). `close` it at the end.
 */
export const createPluginTestApp = async (
  plugin: Plugin | ReadonlyArray<Plugin>,
  { postgres, ...deployment }: PluginTestOptions = {}
): Promise<PluginTestApp> => {
  const plugins = "id" in plugin ? [plugin] : plugin
  const { drop, url } = await ownDatabase(postgres)
  const scope = Scope.makeUnsafe()
  const layer = Layer.provideMerge(wholeApp(testSettings(url, { ...deployment, plugins })), shiftedClock)
  const close = async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await drop()
  }
  try {
    const services = await Effect.runPromise(Layer.buildWithScope(layer, scope))
    const serviceRegistry = Context.get(services, ServiceRegistry)
    const installed = Context.get(services, InstalledPlugins)
    const query = await Effect.runPromise(queryIn(url, scope))
    const { address } = Context.get(services, HttpServer.HttpServer)
    const base = "port" in address ? `http://127.0.0.1:${address.port}` : ""
    return {
      app: { url: base, request: sender(base) },
      serviceRegistry: serviceRegistryOf(serviceRegistry, Context.get(services, Clock.Clock)),
      db: { query },
      tables: tablesOf(serviceRegistry, plugins),
      get context() {
        return firstOf(installed.contexts)
      },
      clock: Context.get(services, TestTime),
      routes: installed.routes.map(({ described }) => described),
      plugins,
      close
    }
  } catch (error) {
    await close()
    throw error
  }
}
