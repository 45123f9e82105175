import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdtempSync, readFileSync } from "node:fs"
import { rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freshDatabase } from "../support/Postgres.ts"
import { startService, talkingTo } from "../support/Service.ts"
import { fetchedSize, sendRaw, upload } from "./MediaFixtures.ts"

const mebibyte = 1_048_576
const size = 192 * mebibyte

const ownFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "stoa-large-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** The most memory that a process has had at once, in bytes; 0 where the system, which is not Linux, does not tell. */
const peakOf = (pid: number): number =>
  !existsSync(`/proc/${pid}/status`)
    ? 0
    : Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1_024

/** Uploads a file of this size and fetches it again. */
const through = Effect.fnUntraced(function*(folder: string, bytes: number) {
  const made = yield* sendRaw({ size: bytes - 9 })
  assert.strictEqual(made.status, 201, made.body)
  const { data } = JSON.parse(made.body) as { readonly data: { readonly storageKey: string; readonly url: string } }
  const stored = yield* Effect.promise(() => stat(join(folder, "media/files", data.storageKey)))
  assert.strictEqual(stored.size, bytes)
  assert.strictEqual(yield* fetchedSize(data.url), bytes)
})

describe("a file of 192 MiB", () => {
  it.live("a file of 192 MiB takes no more memory than one of 48 MiB, both ways", () =>
    Effect.gen(function*() {
      const { url: databaseUrl } = yield* freshDatabase
      const folder = yield* ownFolder
      const service = yield* startService({
        databaseUrl,
        environment: { STOA_DATA_DIR: folder, STOA_MEDIA_MAX_UPLOAD_SIZE: String(size) }
      })
      yield* Effect.gen(function*() {
        // The program of the test is made of a few files; what reads images is none of them.
        const picture = yield* upload()
        assert.strictEqual(picture.at("data.width"), 40, JSON.stringify(picture.body))
        // More than other routes take, and announced beforehand.
        assert.strictEqual((yield* sendRaw({ size: 2 * mebibyte, declared: true })).status, 201)
        yield* through(folder, 48 * mebibyte)
        // Three times 48 MiB more would be here if either way kept the file.
        const before = peakOf(service.pid)
        yield* through(folder, size)
        const grown = peakOf(service.pid) - before
        assert.isBelow(grown, 48 * mebibyte, `${Math.round(grown / mebibyte)} MiB`)
      }).pipe(Effect.provide(talkingTo(service, databaseUrl)))
    }).pipe(Effect.scoped))
})
