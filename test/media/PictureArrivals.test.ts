import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { mkdtempSync } from "node:fs"
import { readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pictureArrivals, PictureHosts } from "../../src/domain/media/ExternalPictures.ts"
import { TemporaryFiles } from "../../src/domain/media/MediaFiles.ts"
import { localTemporaryFiles } from "../../src/layers/media/LocalStorage.ts"
import { guardedPictures } from "../../src/layers/media/MediaAdapters.ts"
import { HostResolver } from "../../src/layers/webhooks/TargetGuard.ts"
import { pictureHost } from "../support/PictureHost.ts"
import { waitFor } from "../support/waitFor.ts"

const ownFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "stoa-arrivals-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

const until = (what: string, is: () => boolean | Promise<boolean>) =>
  Effect.promise(() => waitFor(what, async () => await is() || undefined))

for (const behaviour of ["hang", "begun"] as const) {
  it.effect(`a picture has a minute in total and leaves nothing behind if its host does this: ${behaviour}`, () =>
    Effect.gen(function*() {
      const [host, folder] = [yield* pictureHost, yield* ownFolder]
      host.put("/a.png", behaviour)
      const world = Layer.merge(
        Layer.provide(guardedPictures({ allowPrivate: true, allowHttp: true, ports: undefined }), HostResolver.system),
        localTemporaryFiles(folder)
      )
      yield* Effect.gen(function*() {
        const arrive = pictureArrivals(yield* PictureHosts, yield* TemporaryFiles, 10_000)
        const arriving = yield* Effect.forkChild(Effect.flip(Effect.scoped(arrive(`${host.url}/a.png`))))
        yield* until("the request", () => host.asked.length === 1)
        if (behaviour === "begun") yield* until("the first bytes", async () => (await readdir(folder)).length === 1)
        yield* TestClock.adjust("59999 millis")
        assert.isUndefined(arriving.pollUnsafe())
        yield* TestClock.adjust("1 millis")
        const { _tag, message } = yield* Fiber.join(arriving)
        assert.deepStrictEqual([_tag, message], ["PictureDelayed", "It did not come within 60 seconds."])
        yield* until("the connection to be closed", () => host.open() === 0)
        assert.deepStrictEqual(yield* Effect.promise(() => readdir(folder)), [])
      }).pipe(Effect.provide(world))
    }).pipe(Effect.scoped))
}
