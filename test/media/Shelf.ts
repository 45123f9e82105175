import { layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { mkdtempSync } from "node:fs"
import { readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { AppSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { api, asAdmin, testAppLayer } from "../support/TestApp.ts"

/** The data directory of the service under test. */
export class Shelf extends Context.Service<Shelf, { readonly folder: string }>()("stoa/test/media/Shelf") {}

const ownFolder = Layer.effect(
  Shelf,
  Effect.acquireRelease(
    Effect.sync(() => ({ folder: mkdtempSync(join(tmpdir(), "stoa-media-")) })),
    ({ folder }) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )
)

/** The whole service with a separate data directory. */
export const shelfLayer = (deployment: DeploymentConfig = {}, environment: Partial<AppSettings> = {}) =>
  Layer.unwrap(Effect.map(Shelf, ({ folder }) => testAppLayer(deployment, { dataDir: folder, ...environment }))).pipe(
    Layer.provideMerge(ownFolder)
  )

/** A group of tests around such a service. */
export const withShelf = (deployment: DeploymentConfig = {}, environment: Partial<AppSettings> = {}) =>
  layer(shelfLayer(deployment, environment), { excludeTestServices: true, timeout: "60 seconds" })

const filesBelow = async (folder: string): Promise<ReadonlyArray<string>> => {
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)).toSorted()
}

/** Names of the stored files, and of the temporary ones. */
export const stored = Effect.flatMap(
  Shelf,
  ({ folder }) => Effect.promise(() => filesBelow(join(folder, "media/files")))
)
export const arriving = Effect.flatMap(
  Shelf,
  ({ folder }) => Effect.promise(() => filesBelow(join(folder, "media/incoming")))
)

/** Number of assets, and of files to remove. */
export const rows = Effect.map(
  onDatabase((sql) =>
    sql<{ assets: number; doomed: number }>`select (select count(*)::int4 from media_assets) as assets,
      (select count(*)::int4 from media_removals) as doomed`
  ),
  ([found]) => found ?? { assets: -1, doomed: -1 }
)

/** Runs the scheduled task of media, in a service that runs no jobs by itself. */
export const mediaTurn = Effect.gen(function*() {
  yield* onDatabase((sql) =>
    sql`insert into commerce_jobs (id, organization_id, task_slug)
      values (gen_random_uuid(), 'org_default', 'retention/media-files')`
  )
  const run = yield* api("POST", "/api/jobs/run", { as: asAdmin })
  if (run.status !== 200) throw new Error(`jobs: ${run.status} ${JSON.stringify(run.body)}`)
})
