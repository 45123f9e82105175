import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync } from "node:fs"
import { readdir, rm, utimes } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { type S3Emulator, s3Emulator, s3Keys } from "../support/S3Emulator.ts"
import { restart, type ServiceOptions, startService, talkingTo } from "../support/Service.ts"
import { api, asAdmin } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"
import { aMedium, mediaTurn, rows, sendRaw } from "./MediaFixtures.ts"

const ownFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "stoa-kills-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

const withBucket = (databaseUrl: string, folder: string, { bucket, endpoint }: S3Emulator): ServiceOptions => ({
  databaseUrl,
  environment: {
    STOA_DATA_DIR: folder,
    STOA_JOBS_AUTORUN: "false",
    STOA_MEDIA_STORAGE: "s3",
    STOA_S3_BUCKET: bucket,
    STOA_S3_ENDPOINT: endpoint,
    STOA_S3_ACCESS_KEY_ID: s3Keys.accessKeyId,
    STOA_S3_SECRET_ACCESS_KEY: s3Keys.secretAccessKey
  }
})

const makeAllDue = onDatabase((sql) => sql`update media_removals set due_at = now()`)

/** Waits until the tables of media look like this. */
const until = Effect.fnUntraced(function*(what: string, is: (found: Effect.Success<typeof rows>) => boolean) {
  const run = Effect.runPromiseWith(yield* Effect.context<Effect.Services<typeof rows>>())
  yield* Effect.promise(() => waitFor(what, async () => is(await run(rows)) || undefined))
})

describe("a process that is killed", () => {
  it.live(
    "a process killed between a deletion and the removal of the file leaves that to the next one",
    () =>
      Effect.gen(function*() {
        const [{ url }, folder, bucket] = [yield* freshDatabase, yield* ownFolder, yield* s3Emulator]
        const options = withBucket(url, folder, bucket)
        const service = yield* startService(options)
        yield* Effect.gen(function*() {
          const id = yield* aMedium()
          assert.strictEqual(bucket.objects.size, 1)
          bucket.fail("DELETE", "silence", 9)
          yield* Effect.forkChild(api("DELETE", `/api/media/${id}`, { as: asAdmin }))
          yield* until("the deletion", ({ assets, doomed }) => assets === 0 && doomed === 1)
          yield* Effect.promise(() => waitFor("the removal to begin", async () => bucket.waiting() > 0 || undefined))
          service.kill("SIGKILL")
        }).pipe(Effect.provide(talkingTo(service, url)))
        bucket.mend()
        const next = yield* restart(service, options)
        yield* Effect.gen(function*() {
          assert.strictEqual(bucket.objects.size, 1)
          yield* makeAllDue
          yield* mediaTurn
          assert.deepStrictEqual([bucket.objects.size, yield* rows], [0, { assets: 0, doomed: 0 }])
        }).pipe(Effect.provide(talkingTo(next, url)))
      }).pipe(Effect.scoped)
  )

  it.live("a process killed during an upload leaves no row, and its files are removed", () =>
    Effect.gen(function*() {
      const [{ url }, folder, bucket] = [yield* freshDatabase, yield* ownFolder, yield* s3Emulator]
      const options = withBucket(url, folder, bucket)
      const incoming = join(folder, "media/incoming")
      const service = yield* startService(options)
      yield* Effect.gen(function*() {
        bucket.fail("PUT", "silence", 9)
        yield* Effect.forkChild(sendRaw({ size: 200_000 }))
        yield* until("the upload", ({ doomed }) => doomed === 1)
        yield* Effect.forkChild(sendRaw({ size: 200_000, pausesAfter: 70_000 }))
        yield* Effect.promise(() =>
          waitFor("another one", async () => (await readdir(incoming)).length === 2 || undefined)
        )
        service.kill("SIGKILL")
        yield* Effect.promise(() => service.ended)
      }).pipe(Effect.provide(talkingTo(service, url)))
      bucket.mend()
      yield* Effect.promise(async () => {
        const longAgo = new Date(Date.now() - 2 * 3_600_000)
        for (const name of await readdir(incoming)) await utimes(join(incoming, name), longAgo, longAgo)
      })
      const next = yield* restart(service, options)
      yield* Effect.gen(function*() {
        assert.deepStrictEqual(yield* rows, { assets: 0, doomed: 1 })
        yield* makeAllDue
        yield* mediaTurn
        assert.deepStrictEqual([bucket.objects.size, yield* rows], [0, { assets: 0, doomed: 0 }])
        yield* Effect.promise(() =>
          waitFor("the halves to go", async () => (await readdir(incoming)).length === 0 || undefined)
        )
      }).pipe(Effect.provide(talkingTo(next, url)))
    }).pipe(Effect.scoped))
})
