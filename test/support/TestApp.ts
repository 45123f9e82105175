import { layer } from "@effect/vitest"
import { Context, Effect, Layer, Option, Scope } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import type { Actor } from "../../src/domain/platform/access/Actor.ts"
import { defaultRoles } from "../../src/domain/platform/access/Permission.ts"
import { CredentialCache } from "../../src/domain/platform/credentials/Credentials.ts"
import { accessNotifications } from "../../src/layers/access/RequestActors.ts"
import { processApp, servicesApp, wholeApp } from "../../src/layers/App.ts"
import { PasswordCost } from "../../src/layers/auth/Passwords.ts"
import type { AppSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
import { testSettings } from "../../src/plugins/kit/testing/TestSettings.ts"
import { freshDatabaseWith } from "./PluginTemplates.ts"
import { lastingDatabase } from "./Postgres.ts"
import { sharedClient } from "./SharedClients.ts"

/** What came back. Paths into the body are dotted, with numbers for list positions: `data.lineItems.0.id`. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The body as JSON where it is JSON, else as text. */
  readonly body: unknown
  /** What stands at a path; undefined where nothing does. */
  readonly at: (path: string) => unknown
  /** The text at a path; the test fails where there is none. */
  readonly text: (path: string) => string
  /** The number at a path; the test fails where there is none. */
  readonly number: (path: string) => number
  /** The list at a path; the test fails where there is none. */
  readonly list: (path: string) => ReadonlyArray<unknown>
}

/** What stands at a dotted path of a JSON value. */
export const at = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>(
    (inside, key) => typeof inside === "object" && inside !== null ? Reflect.get(inside, key) : undefined,
    value
  )

const answer = (status: number, headers: Headers, body: unknown): Answer => {
  const expected = (kind: string, path: string) =>
    new Error(`expected ${kind} at "${path}" of ${status} ${JSON.stringify(body)}`)
  return {
    status,
    headers,
    body,
    at: (path) => at(body, path),
    text: (path) => {
      const found = at(body, path)
      if (typeof found !== "string") throw expected("a text", path)
      return found
    },
    number: (path) => {
      const found = at(body, path)
      if (typeof found !== "number") throw expected("a number", path)
      return found
    },
    list: (path) => {
      const found = at(body, path)
      if (!Array.isArray(found)) throw expected("a list", path)
      return found
    }
  }
}

export interface Call {
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly as?: Partial<Actor>
}

/** The whole service in this process, on a separate database, reached over HTTP like by any client. */
export class TestApp extends Context.Service<TestApp, {
  readonly url: string
  readonly databaseUrl: string
  /** The organization of this group of tests: the service's default one, or one of a shared service. */
  readonly organizationId: string
  readonly api: (method: string, path: string, call?: Call) => Effect.Effect<Answer>
  /** The same for what builders prepare: a process that has just started is asked again until there is an outcome. */
  readonly prepare: (method: string, path: string, call?: Call) => Effect.Effect<Answer>
}>()("stoa/test/support/TestApp") {}

/** The organization of the actors below. On a shared service it stands for the organization of the group of tests. */
const defaultOrganization = "org_default"

const actor = (role: string, overrides: Partial<Actor>): Partial<Actor> => ({
  type: "user",
  userId: `user-${role}`,
  email: null,
  name: role,
  vendorId: null,
  organizationId: defaultOrganization,
  role,
  permissions: defaultRoles[role] ?? [],
  ...overrides
})

export const asAdmin = actor("admin", {})
export const asStaff = actor("staff", {})
export const asCustomer = (userId: string) => actor("customer", { userId })
export const asAnonymous = actor("customer", { userId: "user-noperm", permissions: [] })
/** The same actor in another organization. */
export const inOrganization = (organizationId: string, of: Partial<Actor>): Partial<Actor> => ({
  ...of,
  organizationId
})

/** Names the organization of a visitor to a shared service. */
const storeHeader = "x-test-store"

const actorIn = (organizationId: string, as: Partial<Actor>) =>
  JSON.stringify(as.organizationId === defaultOrganization ? { ...as, organizationId } : as)

/** Requests to a service by actors and visitors of one of its organizations. */
const call = (base: string, organizationId = defaultOrganization) =>
  Effect.fnUntraced(function*(method: string, path: string, { as, body, headers }: Call = {}) {
    const response = yield* Effect.promise(() =>
      fetch(`${base}${path}`, {
        method,
        redirect: "manual",
        headers: {
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(organizationId === defaultOrganization ? {} : { [storeHeader]: organizationId }),
          ...(as === undefined ? {} : { "x-test-actor": actorIn(organizationId, as) }),
          ...headers
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
      })
    )
    const text = yield* Effect.promise(() => response.text())
    const json = response.headers.get("content-type")?.includes("json") === true && text !== ""
    return answer(response.status, response.headers, json ? JSON.parse(text) : text)
  })

/** The service of a layer as its tests reach it. */
const reached = (databaseUrl: string) =>
  Layer.effect(
    TestApp,
    Effect.map(HttpServer.HttpServer, ({ address }) => {
      const base = "port" in address ? `http://127.0.0.1:${address.port}` : ""
      return { url: base, databaseUrl, organizationId: defaultOrganization, api: call(base), prepare: call(base) }
    })
  )

/** A cheap hash, because tests sign in a thousand users, and credentials cached for longer than any test waits. */
const testValues = Layer.merge(
  Layer.succeed(PasswordCost, { memory: 64, passes: 1, parallelism: 1 }),
  Layer.succeed(CredentialCache, { capacity: 10_000, lifeMs: 600_000 })
)

/** The whole service with `testValues`. */
const wholeService = (settings: AppSettings) => Layer.provide(wholeApp(settings), testValues)

/** Options of a group of tests in which time passes, with a generous bound for its start. */
export const live = { excludeTestServices: true, timeout: "4 minutes" } as const

/** The app with a deployment's own configuration, for tests of hooks, providers and settings. */
export const testAppLayer = (deployment: DeploymentConfig = {}, environment: Partial<AppSettings> = {}) =>
  Layer.unwrap(
    Effect.map(freshDatabaseWith(deployment.plugins ?? []), ({ url }) =>
      reached(url).pipe(Layer.provideMerge(wholeService({ ...testSettings(url, deployment), ...environment }))))
  )

/** The app on a database that is there already, as a deployment finds it that starts again. */
export const testAppOn = (url: string, deployment: DeploymentConfig, environment: Partial<AppSettings> = {}) =>
  Layer.fresh(Layer.provideMerge(reached(url), wholeService({ ...testSettings(url, deployment), ...environment })))

/** Another process of the deployment, as far as one process can hold two: its HTTP edge on the database of the test's. */
export const appBeside = Effect.fnUntraced(function*(deployment: DeploymentConfig = {}) {
  const { databaseUrl } = yield* TestApp
  const settings: AppSettings = { ...testSettings(databaseUrl, deployment), role: "api" }
  const beside = yield* Layer.build(
    Layer.fresh(Layer.provide(reached(databaseUrl), Layer.provide(processApp(settings), testValues)))
  )
  return Context.get(beside, TestApp)
})

/**
 * The services of another process of the deployment, on the database of the test's; they hear of changes as any do. It has
 * no actors, so it must not be a runner, who would be given shards.
 */
export const servicesBeside = Effect.fnUntraced(function*(deployment: DeploymentConfig = {}) {
  const { databaseUrl } = yield* TestApp
  const services = servicesApp({ ...testSettings(databaseUrl, deployment), role: "api" })
  return yield* Layer.build(Layer.fresh(Layer.provideMerge(accessNotifications, services)))
})

let services = 0
let organizations = 0

const storeResolver = (request: Request): string | null => request.headers.get(storeHeader)

/** Starts a service that ends with this process. */
const start = async (deployment: DeploymentConfig) => {
  const { url } = await lastingDatabase(`shared_${++services}`)
  const settings = testSettings(url, { ...deployment, auth: { ...deployment.auth, storeResolver } })
  const app = Layer.provideMerge(reached(url), wholeService(settings))
  return Effect.runPromise(Layer.buildWithScope(Layer.fresh(app), Scope.makeUnsafe()))
}

/** Makes an organization of the service at this database. */
const anOrganization = (databaseUrl: string) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const id = `org_shared_${++organizations}`
    yield* sql`insert into organizations (id, slug, name) values (${id}, ${id}, ${id})`
    return id
  }).pipe(Effect.provide(sharedClient(databaseUrl)), Effect.orDie)

/**
 * One service per process of the run, which its first test starts, with a new organization for each group of tests: a
 * start costs as much as dozens of requests. Tests that count rows of all organizations, change what a service shares
 * between organizations or need settings of their own start theirs (`testAppLayer`).
 */
export const sharedApp = (deployment: DeploymentConfig = {}) => {
  let started: ReturnType<typeof start> | undefined
  return Layer.effectContext(Effect.gen(function*() {
    const service = yield* Effect.promise(() => started ??= start(deployment))
    const app = Context.get(service, TestApp)
    const organizationId = yield* anOrganization(app.databaseUrl)
    const api = call(app.url, organizationId)
    return Context.add(service, TestApp, { ...app, organizationId, api, prepare: api })
  }))
}

/** A group of tests in a new organization of the shared service; real time, since its actors and sockets live in it. */
export const withSharedApp = layer(sharedApp(), live)

/** A group of tests around one separate running service; real time, since its actors and sockets live in it. */
export const withApp = layer(testAppLayer(), live)

/** The organization of the running group of tests; without a service the default one. */
export const theOrganization = Effect.map(
  Effect.serviceOption(TestApp),
  Option.match({ onNone: () => defaultOrganization, onSome: ({ organizationId }) => organizationId })
)

/** A request to the running service of the test. */
export const api = (method: string, path: string, options?: Call) =>
  Effect.flatMap(TestApp, (app) => app.api(method, path, options))
