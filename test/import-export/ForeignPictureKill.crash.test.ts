import { assert, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { mkdtempSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { aPicture } from "../media/MediaFixtures.ts"
import { onDatabase } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { pictureHost } from "../support/PictureHost.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { s3Emulator, s3Keys } from "../support/S3Emulator.ts"
import { restart, type ServiceOptions, startService, talkingTo } from "../support/Service.ts"
import { kept, shopifyFile, shownBy } from "./ImportFixtures.ts"

const ownFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "stoa-pictures-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** Keeps every product locked from when `held` is there until `over` is. */
const productsLocked = (url: string, held: Deferred.Deferred<void>, over: Deferred.Deferred<void>) =>
  onDatabase(url, (sql) =>
    sql`select 1 from catalog_entities for update`.pipe(
      Effect.andThen(Deferred.succeed(held, undefined)),
      Effect.andThen(Deferred.await(over)),
      sql.withTransaction
    ))

const sent = (base: string, body: string) =>
  Effect.promise(async () => {
    const answer = await fetch(`${base}/api/imports?format=shopify`, {
      method: "POST",
      headers: { "x-api-key": "dev-admin-key", "content-type": "text/csv" },
      body
    })
    assert.strictEqual(answer.status, 202, await answer.text())
  })

it.live(
  "a picture whose process is killed between its fetch and its attachment is attached once",
  () =>
    Effect.gen(function*() {
      const [{ url }, folder, bucket, host] = [
        yield* freshDatabase,
        yield* ownFolder,
        yield* s3Emulator,
        yield* pictureHost
      ]
      const options: ServiceOptions = {
        databaseUrl: url,
        environment: {
          STOA_DATA_DIR: folder,
          STOA_WEBHOOKS_ALLOW_PRIVATE: "true",
          STOA_MEDIA_STORAGE: "s3",
          STOA_S3_BUCKET: bucket.bucket,
          STOA_S3_ENDPOINT: bucket.endpoint,
          STOA_S3_ACCESS_KEY_ID: s3Keys.accessKeyId,
          STOA_S3_SECRET_ACCESS_KEY: s3Keys.secretAccessKey
        }
      }
      host.put("/front.png", { bytes: yield* aPicture() })
      const letGo = host.hold()
      const service = yield* startService(options)
      const [held, over] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      yield* Effect.gen(function*() {
        yield* sent(service.url, shopifyFile("tee", [`${host.url}/front.png`, "Front"]))
        yield* eventually("the picture to be asked for", Effect.sync(() => host.asked.length === 1))
        yield* Effect.forkChild(productsLocked(url, held, over))
        yield* Deferred.await(held)
        letGo()
        yield* eventually("the file to be stored", Effect.sync(() => bucket.objects.size === 1))
        yield* eventually(
          "the attachment to wait",
          onDatabase(url, (sql) =>
            Effect.map(
              sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
              and query like 'select 1 from catalog_entities%'`,
              (rows) => rows.length > 0
            ))
        )
      }).pipe(Effect.provide(talkingTo(service, url)))
      service.kill("SIGKILL")
      yield* Effect.promise(() => service.ended)
      yield* Deferred.succeed(over, undefined)
      const next = yield* restart(service, options)
      yield* Effect.gen(function*() {
        yield* eventually("the picture to be attached", Effect.map(kept, (found) => found?.attached === 1))
        assert.deepStrictEqual(yield* kept, { waiting: 0, attached: 1, refused: 0, assets: 1, links: 1 })
        assert.deepStrictEqual(yield* shownBy("tee"), [["primary", 0, "Front"]])
        // The first file is on the list of those that have to go; what the product shows is not.
        const doomed = yield* onDatabase(url, (sql) =>
          sql<{ ours: boolean }>`select exists (select 1 from media_assets a
            where a.storage_key = r.storage_key) as ours from media_removals r`)
        assert.isAtLeast(host.asked.length, 2)
        assert.deepStrictEqual(
          doomed.map(({ ours }) => ours),
          Array.from({ length: bucket.objects.size - 1 }, () => false)
        )
      }).pipe(Effect.provide(talkingTo(next, url)))
    }).pipe(Effect.scoped)
)
