import { Clock, Effect, Layer, Schedule, Stream } from "effect"
import { createHash, randomUUID } from "node:crypto"
import { type FileHandle, mkdir, open, readdir, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { headBytes } from "../../domain/media/MediaTypes.ts"
import { FileTooLarge, type StagedFile, Staging, StorageFailed } from "../../domain/media/Staging.ts"

/** What the disk does, with its failures told as the storage's. */
export const onDisk = <A>(work: () => Promise<A>): Effect.Effect<A, StorageFailed> =>
  Effect.tryPromise({ try: work, catch: (cause) => new StorageFailed({ cause }) })

/** A name in the folder for a file of its own; whatever lies there when the scope closes is removed. */
export const stagedPath = (folder: string) =>
  Effect.acquireRelease(
    Effect.as(onDisk(() => mkdir(folder, { recursive: true, mode: 0o700 })), join(folder, randomUUID())),
    (path) => Effect.ignore(onDisk(() => rm(path, { force: true })))
  )

/** Writes whole chunks one after the other, and knows what it wrote. */
class Receipt {
  readonly #hash = createHash("sha256")
  readonly #head: Array<Uint8Array> = []
  size = 0

  async write(file: FileHandle, chunk: Uint8Array): Promise<void> {
    if (this.size < headBytes) this.#head.push(chunk.slice(0, headBytes - this.size))
    this.size += chunk.length
    this.#hash.update(chunk)
    for (let at = 0; at < chunk.length;) at += (await file.write(chunk, at)).bytesWritten
  }

  staged(path: string): StagedFile {
    return { path, size: this.size, digest: this.#hash.digest("hex"), head: Buffer.concat(this.#head) }
  }
}

const closing = (path: string) =>
  Effect.acquireRelease(
    onDisk(() => open(path, "wx", 0o600)),
    (file) => Effect.ignore(onDisk(() => file.close()))
  )

const receiveAt = Effect.fnUntraced(
  function*<E>(path: string, content: Stream.Stream<Uint8Array, E>, limit: number) {
    const file = yield* closing(path)
    const receipt = new Receipt()
    const take = Effect.fnUntraced(function*(chunk: Uint8Array) {
      if (receipt.size + chunk.length > limit) return yield* new FileTooLarge({ limit })
      yield* onDisk(() => receipt.write(file, chunk))
    })
    yield* Stream.runForEach(content, take)
    // What is stored next is renamed or sent from here: it has to be on the disk before anybody is told that it is.
    yield* onDisk(() => file.sync())
    return receipt.staged(path)
  },
  Effect.scoped
)

/** Files that a process which died left behind; nothing takes this long to arrive. */
const abandonedAfterMs = 3_600_000

/** Removes what has lain in the folder for longer than anything may. Gives how many files that were. */
export const clearAbandoned = Effect.fn("Staging.clearAbandoned")(function*(folder: string) {
  const now = yield* Clock.currentTimeMillis
  const names = yield* onDisk(() => readdir(folder)).pipe(Effect.orElseSucceed((): ReadonlyArray<string> => []))
  const removed = yield* Effect.forEach(names, (name) =>
    onDisk(async () => {
      const path = join(folder, name)
      if (now - (await stat(path)).mtimeMs < abandonedAfterMs) return 0
      await rm(path, { force: true })
      return 1
    }).pipe(Effect.orElseSucceed(() => 0)))
  return removed.reduce<number>((sum, one) => sum + one, 0)
})

/**
 * Files that arrive, in a folder of this machine. Each process clears its own: a scheduled task would see the disk of
 * one process alone.
 */
export const localStaging = (folder: string): Layer.Layer<Staging> =>
  Layer.effect(
    Staging,
    Effect.gen(function*() {
      yield* Effect.forkScoped(Effect.repeat(clearAbandoned(folder), Schedule.spaced("1 hour")))
      return Staging.of({
        receive: (content, limit) =>
          Effect.flatMap(stagedPath(folder), (path) => receiveAt(path, content, limit)).pipe(
            Effect.withSpan("Staging.receive")
          )
      })
    })
  )
