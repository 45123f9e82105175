import * as NodeStream from "@effect/platform-node/NodeStream"
import { Effect, Layer } from "effect"
import { createReadStream } from "node:fs"
import { mkdir, open, rename, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import {
  type ByteRange,
  FileMissing,
  isStorageKey,
  MediaStorage,
  StorageFailed,
  type TemporaryFile
} from "../../domain/media/MediaStorage.ts"
import { onDisk } from "./LocalTemporaryFiles.ts"

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
  // One step within a file system: a reader never sees half a file.
  await rename(from, to)
  await syncFolder(folder)
}

/**
 * Media as files below a folder, in the same file system as the folder of temporary files. Processes of one machine can
 * share it.
 */
export const localStorage = (folder: string): Layer.Layer<MediaStorage> => {
  // A key that leads out of the folder is a mistake of the service.
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

/** A deployment without storage: uploads are 501, and no file is found. */
export const noStorage: Layer.Layer<MediaStorage> = Layer.succeed(MediaStorage, {
  isConfigured: false,
  put: () => Effect.fail(new StorageFailed({ cause: "no storage is configured" })),
  open: (key) => Effect.fail(new FileMissing({ key })),
  local: (key) => Effect.fail(new FileMissing({ key })),
  remove: () => Effect.void
})
