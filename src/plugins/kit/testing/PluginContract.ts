import { Effect } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict"
import { randomUUID } from "node:crypto"
import { type Described, nameOf } from "../routes/RouteShape.ts"
import { isUnbounded } from "../tables/PersonalTables.ts"
import { erasure } from "./ErasureChecks.ts"
import type { PluginCheck } from "./PluginCheck.ts"
import type { PluginTestApp, TestRequest } from "./PluginTestApp.ts"
import { type SampleRows, sampleRows } from "./SampleRows.ts"
import { inOrganization, testAdminActor, testNoPermActor } from "./TestActors.ts"

export type { PluginCheck, SampleRows }

/** Routes of bytes run for each request, unless they say otherwise. */
const isRepeated = ({ raw }: Described): boolean => raw !== undefined && raw.idempotent !== true
const isUnsafe = ({ method }: Described): boolean => method !== "GET"
/** Server-sent events go on: a check that waits for the end of the answer would not get it. */
const hasEnd = ({ raw }: Described): boolean => raw?.produces !== "text/event-stream"
const pathWith = ({ path }: Described, id: string): string => path.replace(/:(\w+)/g, () => id)
const pageOf = (body: unknown): unknown => Reflect.get(Object(Reflect.get(Object(body), "meta")), "pagination")

/** Bodies that the route's schema admits, and some that no schema does. */
const bodiesOf = async ({ input, raw }: Described, count: number): Promise<ReadonlyArray<unknown>> => {
  const nonsense = [{}, [], "text", 7, null, { a: { b: [] } }, `{"broken`]
  if (input === undefined) return raw === undefined ? [undefined] : nonsense
  const good = await Effect.runPromise(
    Effect.orElseSucceed(Arbitrary.sampleEffect(Arbitrary.schema(input), { count, seed: 7 }), () => [])
  )
  return [...good, ...nonsense]
}

/** Values that clients send in headers: empty, long, twice. */
const nonsenseHeaders = ["", "x".repeat(8_000), "a, b"]

/** Access is checked before anything else: no caller gets further than the route's rule allows. */
const permissions = ({ app, routes }: PluginTestApp): ReadonlyArray<PluginCheck> =>
  routes.filter((route) => route.public === undefined).map((route) => ({
    name: `${nameOf(route)} refuses visitors and callers without its permission`,
    run: async () => {
      const path = pathWith(route, randomUUID())
      strictEqual((await app.request(route.method, path)).status, 401)
      if (route.permission === undefined && route.admits === undefined) return
      strictEqual((await app.request(route.method, path, { as: testNoPermActor })).status, 403)
    }
  }))

/** The organization of the sample rows. */
const owner = "org_contract_owner"

/** Rows of one organization, looked for by the admin of another. */
const tenants = (app: PluginTestApp, rows: () => Promise<ReadonlyMap<string, string>>): PluginCheck => ({
  name: "no route shows or changes a row of another organization",
  run: async () => {
    const ids = [...(await rows()).values()]
    const outsider = inOrganization("org_contract_other", testAdminActor)
    await app.db.query("insert into organizations (id, slug, name) values ($1, $1, $1) on conflict do nothing", [
      "org_contract_other"
    ])
    for (const route of app.routes) {
      for (const id of /:\w/.test(route.path) ? ids : [""]) {
        const { body, status } = await app.app.request(route.method, pathWith(route, id), {
          as: outsider,
          ...(isUnsafe(route) ? { body: {} } : {})
        })
        const shown = ids.find((one) => JSON.stringify(body).includes(one) && one !== id)
        ok(shown === undefined, `${nameOf(route)} shows row ${shown} of another organization`)
        ok(
          id === "" || status >= 400 || route.isList,
          `${nameOf(route)} answers ${status} for another organization's row`
        )
      }
    }
  }
})

const paging = ({ app, routes }: PluginTestApp): ReadonlyArray<PluginCheck> =>
  routes.filter((route) => route.isList && !route.path.includes(":")).map((route) => ({
    name: `${nameOf(route)} is read in pages of 1 to 100`,
    run: async () => {
      const sizes = [["", 20], ["?limit=1", 1], ["?limit=1000", 100], ["?limit=-3&page=-1", 20]] as const
      for (const [sent, limit] of sizes) {
        const { body, status } = await app.request("GET", `${route.path}${sent}`, { as: testAdminActor })
        if (status === 403) return
        strictEqual(status, 200)
        const page = Object(pageOf(body))
        deepStrictEqual([Reflect.get(page, "page"), Reflect.get(page, "limit")], [1, limit])
      }
    }
  }))

const fuzz = ({ app, routes }: PluginTestApp, count: number): ReadonlyArray<PluginCheck> =>
  routes.map((route) => ({
    name: `${nameOf(route)} answers anything that is sent without failing`,
    run: async () => {
      for (const body of await bodiesOf(route, count)) {
        for (const id of [randomUUID(), "no-uuid", "%00"]) {
          const { status } = await app.request(route.method, pathWith(route, id), {
            as: testAdminActor,
            ...(body === undefined || !isUnsafe(route) ? {} : { body })
          })
          ok(status < 500, `${nameOf(route)} answers ${status} to ${JSON.stringify(body)}`)
          if (!route.path.includes(":")) break
        }
      }
      for (const value of route.headers === undefined ? [] : nonsenseHeaders) {
        const headers = Object.fromEntries(Object.keys(route.headers ?? {}).map((name) => [name, value]))
        const { status } = await app.request(route.method, pathWith(route, randomUUID()), {
          as: testAdminActor,
          headers
        })
        ok(status < 500, `${nameOf(route)} answers ${status} to headers of ${value.length} characters`)
      }
    }
  }))

const idempotency = ({ app, routes }: PluginTestApp): ReadonlyArray<PluginCheck> =>
  routes.filter((route) => isUnsafe(route) && !isRepeated(route)).map((route) => ({
    name: `${nameOf(route)} does the same request under one Idempotency-Key once`,
    run: async () => {
      const [body] = await bodiesOf(route, 1)
      const request: TestRequest = {
        as: testAdminActor,
        headers: { "idempotency-key": `contract-${randomUUID()}` },
        ...(body === undefined ? {} : { body })
      }
      const path = pathWith(route, randomUUID())
      const first = await app.request(route.method, path, request)
      // Another check reports that it fails; what it changed is unknown.
      if (first.status >= 500) return
      const again = await app.request(route.method, path, request)
      deepStrictEqual([again.status, again.status < 300 ? again.body : null], [
        first.status,
        first.status < 300 ? first.body : null
      ])
    }
  }))

const bounds = ({ plugins }: PluginTestApp): PluginCheck => ({
  name: "every table that names customers says how many rows one may have",
  run: async () =>
    deepStrictEqual(plugins.flatMap(({ tables }) => tables).filter(isUnbounded).map(({ name }) => name), [])
})

/**
 * What every plugin has to do, checked by its manifest: rows of other organizations, permissions, pages, nonsense,
 * repeated requests, bounds and the erasure of customers. `samples` are values for tables with conditions that the columns do not
 * tell; `bodies` how many bodies each route is sent.
 */
export const contractOf = (
  app: PluginTestApp,
  { bodies = 15, samples = {} }: { readonly bodies?: number; readonly samples?: SampleRows } = {}
): ReadonlyArray<PluginCheck> => {
  let made: ReturnType<typeof sampleRows> | undefined
  const rows = () => made ??= sampleRows(app, owner, samples)
  const ending = { ...app, routes: app.routes.filter(hasEnd) }
  return [
    ...permissions(app),
    tenants(ending, rows),
    ...paging(ending),
    ...fuzz(ending, bodies),
    ...idempotency(ending),
    bounds(app),
    ...erasure(app, owner, rows)
  ]
}
