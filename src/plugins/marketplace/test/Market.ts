import { layer } from "@effect/vitest"
import { Effect, type Layer, type Scope } from "effect"
import { onDatabase } from "../../../../test/checkout/CheckoutFixtures.ts"
import { eventually } from "../../../../test/support/Eventually.ts"
import { api, live, sharedApp, testAppLayer } from "../../../../test/support/TestApp.ts"
import { CurrentActor, systemActor } from "../../../domain/platform/access/Actor.ts"
import { Jobs } from "../../../domain/platform/jobs/Jobs.ts"
import type { DeploymentConfig } from "../../../layers/config/DeploymentConfig.ts"
import type { PluginDatabase } from "../../kit/tables/PluginDatabase.ts"
import { pluginDatabase } from "../../kit/tables/PluginDatabaseRepo.ts"
import { marketplace } from "../index.ts"
import type { MarketplaceSettings } from "../MarketplaceOptions.ts"

const shared = sharedApp({ plugins: [marketplace()] })

type Services = Layer.Success<ReturnType<typeof testAppLayer>> | Scope.Scope

/** Declares a test: its title, and what it does. */
export type Test = (
  title: string,
  body: () => Generator<Effect.Effect<unknown, unknown, Services>, void, never>,
  timeout?: number
) => void

/** A group of tests around a store with the marketplace: a shared service, or a separate one for other options. */
export const market =
  (options?: Partial<MarketplaceSettings>, deployment: DeploymentConfig = {}) =>
  (name: string, tests: (test: Test) => void) =>
    layer(options === undefined ? shared : testAppLayer({ ...deployment, plugins: [marketplace(options)] }), live)(
      name,
      (it) => tests((title, body, timeout) => it.effect(title, () => Effect.gen(body), timeout))
    )

/** Jobs run only when a test runs them. */
export const withoutWorker = { jobs: { autorun: { enabled: false } } } as const

/** Works on the tables of the plugin as the plugin does, in the organization of the test or another one. */
export const onTables = <A, E>(
  work: (db: PluginDatabase) => Effect.Effect<A, E, CurrentActor>,
  within?: string
) =>
  onDatabase((sql, own) => {
    const id = within ?? own
    const opened = sql`insert into organizations (id, name, slug) values (${id}, ${id}, ${id}) on conflict do nothing`
    const worked = Effect.provideService(
      work(pluginDatabase({ sql, keyring: undefined }, marketplace())),
      CurrentActor,
      systemActor(id)
    )
    return Effect.andThen(opened, Effect.orDie(worked))
  })

/**
 * Runs a task of the plugin for an organization, in an app without another worker on its queue; gives its output. The
 * scheduler's own job may take the place of this one.
 */
export const runTask = Effect.fnUntraced(function*(name: string, organizationId = "org_default") {
  const slug = `marketplace/${name}`
  const [before] = yield* onDatabase((sql) => sql`select clock_timestamp()::text as at`)
  yield* Effect.orDie((yield* Jobs).enqueue(slug, {}, { organizationId }))
  const output = onDatabase((sql) =>
    Effect.map(
      sql`select output, error, status from commerce_jobs where task_slug = ${slug}
        and organization_id = ${organizationId} and created_at >= ${before?.["at"] ?? null}::timestamptz
        and status in ('succeeded', 'failed')`,
      ([job]) => job?.["status"] === "failed" ? { failed: job["error"] } : job?.["output"]
    )
  )
  return yield* eventually(slug, Effect.andThen(api("POST", "/api/jobs/run"), output))
})

/** The same so many times. */
export const times = <A>(count: number, one: A): ReadonlyArray<A> => Array.from({ length: count }, () => one)
