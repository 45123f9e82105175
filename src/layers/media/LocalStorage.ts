import * as NodeStream from "@effect/platform-node/NodeStream"
import { Clock, Effect, Layer, Schedule, Stream } from "effect"
import { createHash, randomUUID } from "node:crypto"
import { createReadStream } from "node:fs"
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import {
  type ByteRange,
  FileMissing,
  FileTooLarge,
  isStorageKey,
  MediaStorage,
  StorageFailed,
  type TemporaryFile,
  TemporaryFiles
} from "../../domain/media/MediaFiles.ts"

const headBytes = 4_096

const aliases: Readonly<Record<string, string>> = {
  "image/apng": "image/png",
  "video/x-m4v": "video/mp4"
}

const prologue = [["<?xml", "?>"], ["<!--", "-->"], ["<!doctype svg", ">"]] as const

/**
 * Searches SVG's root element behind the prologue, piece by piece: senders could make one regular expression very slow.
 */
const isSvg = (head: Uint8Array): boolean => {
  let left = new TextDecoder().decode(head).toLowerCase().trimStart()
  for (;;) {
    const piece = prologue.find(([start]) => left.startsWith(start))
    if (piece === undefined) return /^<svg[\s>]/.test(left)
    const end = left.indexOf(piece[1], piece[0].length)
    if (end === -1) return false
    left = left.slice(end + piece[1].length).trimStart()
  }
}

export const detectContentType = async (head: Uint8Array): Promise<string | undefined> => {
  if (isSvg(head)) return "image/svg+xml"
  const { fileTypeFromBuffer } = await import("file-type")
  const found = await fileTypeFromBuffer(head)
  return found === undefined ? undefined : aliases[found.mime] ?? found.mime
}

export const onDisk = <A>(work: () => Promise<A>): Effect.Effect<A, StorageFailed> =>
  Effect.tryPromise({ try: work, catch: (cause) => new StorageFailed({ cause }) })

export const temporaryPath = (folder: string) =>
  Effect.acquireRelease(
    Effect.as(onDisk(() => mkdir(folder, { recursive: true, mode: 0o700 })), join(folder, randomUUID())),
    (path) => Effect.ignore(onDisk(() => rm(path, { force: true })))
  )

class FileWriter {
  readonly #hash = createHash("sha256")
  readonly #head: Array<Uint8Array> = []
  size = 0

  async write(file: FileHandle, chunk: Uint8Array): Promise<void> {
    if (this.size < headBytes) this.#head.push(chunk.slice(0, headBytes - this.size))
    this.size += chunk.length
    this.#hash.update(chunk)
    for (let at = 0; at < chunk.length;) at += (await file.write(chunk, at)).bytesWritten
  }

  async written(path: string) {
    const contentType = await detectContentType(Buffer.concat(this.#head))
    return { path, size: this.size, digest: this.#hash.digest("hex"), contentType }
  }
}

const openFile = (path: string) =>
  Effect.acquireRelease(
    onDisk(() => open(path, "wx", 0o600)),
    (file) => Effect.ignore(onDisk(() => file.close()))
  )

const receiveAt = Effect.fnUntraced(
  function*<E>(path: string, content: Stream.Stream<Uint8Array, E>, limit: number) {
    const file = yield* openFile(path)
    const writer = new FileWriter()
    const take = Effect.fnUntraced(function*(chunk: Uint8Array) {
      if (writer.size + chunk.length > limit) return yield* new FileTooLarge({ limit })
      yield* onDisk(() => writer.write(file, chunk))
    })
    yield* Stream.runForEach(content, take)
    // The bytes must be on disk before success is reported.
    yield* onDisk(() => file.sync())
    return yield* onDisk(() => writer.written(path))
  },
  Effect.scoped
)

/** No upload takes this long: its process died. */
const abandonedAfterMs = 3_600_000

export const clearAbandoned = Effect.fn("TemporaryFiles.clearAbandoned")(function*(folder: string) {
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

/** Each process clears its folder: a scheduled job sees one process's disk only. */
export const localTemporaryFiles = (folder: string): Layer.Layer<TemporaryFiles> =>
  Layer.effect(
    TemporaryFiles,
    Effect.gen(function*() {
      yield* Effect.forkScoped(Effect.repeat(clearAbandoned(folder), Schedule.spaced("1 hour")))
      return TemporaryFiles.of({
        receive: (content, limit) =>
          Effect.flatMap(temporaryPath(folder), (path) => receiveAt(path, content, limit)).pipe(
            Effect.withSpan("TemporaryFiles.receive")
          )
      })
    })
  )

const isAbsent = ({ cause }: StorageFailed): boolean =>
  typeof cause === "object" && cause !== null && "code" in cause && cause.code === "ENOENT"

/** A rename survives a crash once its folder is synced. */
const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

const move = async (from: string, to: string): Promise<void> => {
  const folder = dirname(to)
  await mkdir(folder, { recursive: true, mode: 0o750 })
  // A rename is atomic: readers never see half a file.
  await rename(from, to)
  await syncFolder(folder)
}

/** Media as files, in the same file system as temporary files. Processes of one machine can share it. */
export const localStorage = (folder: string): Layer.Layer<MediaStorage> => {
  const pathOf = (key: string) =>
    isStorageKey(key) ? Effect.succeed(join(folder, key)) : Effect.fail(new FileMissing({ key }))

  const local = Effect.fn("MediaStorage.local")(function*(key: string) {
    const path = yield* pathOf(key)
    yield* onDisk(() => stat(path)).pipe(
      Effect.catch((failure) => Effect.fail(isAbsent(failure) ? new FileMissing({ key }) : failure))
    )
    return path
  })

  return Layer.succeed(MediaStorage, {
    isConfigured: true,
    put: Effect.fn("MediaStorage.put")(function*(key: string, file: TemporaryFile) {
      const path = yield* Effect.catchTag(pathOf(key), "FileMissing", (cause) => new StorageFailed({ cause }))
      yield* onDisk(() => move(file.path, path))
    }),
    open: Effect.fn("MediaStorage.open")((key: string, range?: ByteRange) =>
      Effect.map(local(key), (path) =>
        NodeStream.fromReadable<Uint8Array, StorageFailed>({
          evaluate: () => createReadStream(path, range ?? {}),
          onError: (cause) => new StorageFailed({ cause })
        }))
    ),
    local,
    remove: Effect.fn("MediaStorage.remove")((key: string) =>
      Effect.matchEffect(pathOf(key), {
        onSuccess: (path) => onDisk(() => rm(path, { force: true })),
        onFailure: () => Effect.void
      })
    )
  })
}

/** Uploads are 501, and no file is found. */
export const noStorage: Layer.Layer<MediaStorage> = Layer.succeed(MediaStorage, {
  isConfigured: false,
  put: () => Effect.fail(new StorageFailed({ cause: "no storage is configured" })),
  open: (key) => Effect.fail(new FileMissing({ key })),
  local: (key) => Effect.fail(new FileMissing({ key })),
  remove: () => Effect.void
})
