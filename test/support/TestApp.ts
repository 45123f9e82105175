import { layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import type { Actor } from "../../src/domain/access/Actor.ts"
import { defaultRoles } from "../../src/domain/access/Role.ts"
import { accessNotifications } from "../../src/layers/access/AccessNotifications.ts"
import { processApp, servicesApp, wholeApp } from "../../src/layers/App.ts"
import type { AppSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
import { testSettings } from "../../src/plugins/kit/testing/TestSettings.ts"
import { freshDatabaseWith } from "./PluginTemplates.ts"

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

/** The whole service in this process, on a database of its own, reached over HTTP like by any client. */
export class TestApp extends Context.Service<TestApp, {
  readonly url: string
  readonly databaseUrl: string
  readonly api: (method: string, path: string, call?: Call) => Effect.Effect<Answer>
  /** The same for what builders prepare: a process that has just started is asked again until there is an outcome. */
  readonly prepare: (method: string, path: string, call?: Call) => Effect.Effect<Answer>
}>()("stoa/test/support/TestApp") {}

const actor = (role: string, overrides: Partial<Actor>): Partial<Actor> => ({
  type: "user",
  userId: `user-${role}`,
  email: null,
  name: role,
  vendorId: null,
  organizationId: "org_default",
  role,
  permissions: defaultRoles[role] ?? [],
  ...overrides
})

export const asAdmin = actor("admin", {})
export const asStaff = actor("staff", {})
export const asCustomer = (userId: string) => actor("customer", { userId })
export const asNobody = actor("customer", { userId: "user-noperm", permissions: [] })
/** The same actor in another organization. */
export const inOrganization = (organizationId: string, of: Partial<Actor>): Partial<Actor> => ({
  ...of,
  organizationId
})

const call = (base: string) =>
  Effect.fnUntraced(function*(method: string, path: string, { as, body, headers }: Call = {}) {
    const response = yield* Effect.promise(() =>
      fetch(`${base}${path}`, {
        method,
        redirect: "manual",
        headers: {
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(as === undefined ? {} : { "x-test-actor": JSON.stringify(as) }),
          ...headers
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
      })
    )
    const text = yield* Effect.promise(() => response.text())
    const json = response.headers.get("content-type")?.includes("json") === true && text !== ""
    return answer(response.status, response.headers, json ? JSON.parse(text) : text)
  })

const reached = (databaseUrl: string) =>
  Layer.effect(
    TestApp,
    Effect.map(HttpServer.HttpServer, ({ address }) => {
      const base = "port" in address ? `http://127.0.0.1:${address.port}` : ""
      return { url: base, databaseUrl, api: call(base), prepare: call(base) }
    })
  )

/** The app with a deployment's own configuration, for tests of hooks, providers and settings. */
export const testAppLayer = (deployment: DeploymentConfig = {}, environment: Partial<AppSettings> = {}) =>
  Layer.unwrap(
    Effect.map(freshDatabaseWith(deployment.plugins ?? []), ({ url }) =>
      reached(url).pipe(Layer.provideMerge(wholeApp({ ...testSettings(url, deployment), ...environment }))))
  )

/** The app on a database that is there already, as a deployment finds it that starts again. */
export const testAppOn = (url: string, deployment: DeploymentConfig, environment: Partial<AppSettings> = {}) =>
  Layer.fresh(Layer.provideMerge(reached(url), wholeApp({ ...testSettings(url, deployment), ...environment })))

/** Another process of the deployment, as far as one process can hold two: its HTTP edge on the database of the test's. */
export const appBeside = Effect.fnUntraced(function*(deployment: DeploymentConfig = {}) {
  const { databaseUrl } = yield* TestApp
  const settings: AppSettings = { ...testSettings(databaseUrl, deployment), role: "api" }
  const beside = yield* Layer.build(Layer.fresh(Layer.provide(reached(databaseUrl), processApp(settings))))
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

/** A group of tests around one running service; real time, since its actors and sockets live in it. */
export const withApp = layer(testAppLayer(), { excludeTestServices: true, timeout: "60 seconds" })

/** A request to the running service of the test. */
export const api = (method: string, path: string, options?: Call) =>
  Effect.flatMap(TestApp, (app) => app.api(method, path, options))
