import { Context, Data, DateTime, Effect, type Scope, type Stream } from "effect"
import { Unavailable } from "../errors/ApiErrors.ts"
import { newId } from "../ids/Id.ts"

/** A received file on this machine, for as long as its scope is open. */
export interface TemporaryFile {
  readonly path: string
  readonly size: number
  /** SHA-256 in hexadecimal. */
  readonly digest: string
  /** Content type by the first bytes; undefined for an unknown one. */
  readonly contentType: string | undefined
}

/** The content exceeds the limit, in bytes. */
export class FileTooLarge extends Data.TaggedError("FileTooLarge")<{ readonly limit: number }> {}

/** The disk or the storage failed. */
export class StorageFailed extends Data.TaggedError("StorageFailed")<{ readonly cause: unknown }> {
  override get message(): string {
    return this.cause instanceof Error ? this.cause.message : String(this.cause)
  }
}

/** Temporary files for content that is checked before it is stored, so that no full file is held in memory. */
export class TemporaryFiles extends Context.Service<TemporaryFiles, {
  /** Writes a stream of at most `limit` bytes to a file, which is removed with the scope unless it was moved. */
  readonly receive: <E>(
    content: Stream.Stream<Uint8Array, E>,
    limit: number
  ) => Effect.Effect<TemporaryFile, E | FileTooLarge | StorageFailed, Scope.Scope>
}>()("stoa/domain/media/TemporaryFiles") {}

/** There is no file under this key. */
export class FileMissing extends Data.TaggedError("FileMissing")<{ readonly key: string }> {}

/** Bytes of a file, both ends included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Response headers that a storage's signed address determines. */
export interface SignedAnswer {
  readonly seconds: number
  readonly contentType: string
  readonly disposition: string
}

/** Storage of files: a folder, or a bucket of objects. A key is never used for two files. */
export class MediaStorage extends Context.Service<MediaStorage, {
  /** False: the deployment has no storage, and uploads fail (501). */
  readonly isConfigured: boolean
  /** Stores a temporary file, which may be moved. After success the file survives a crash. */
  readonly put: (key: string, file: TemporaryFile, contentType: string) => Effect.Effect<void, StorageFailed>
  /** Streams the file, or a part of it. */
  readonly open: (
    key: string,
    range?: ByteRange
  ) => Effect.Effect<Stream.Stream<Uint8Array, StorageFailed>, StorageFailed | FileMissing>
  /** A local path of the file, downloaded if necessary; valid while the scope is open. */
  readonly local: (key: string) => Effect.Effect<string, StorageFailed | FileMissing, Scope.Scope>
  /** Removes a file; one that is not there is removed already. */
  readonly remove: (key: string) => Effect.Effect<void, StorageFailed>
  /** An address signed by the storage; absent if the storage cannot sign and the service signs instead. */
  readonly signedUrl?: (key: string, answer: SignedAnswer) => Effect.Effect<string, StorageFailed>
}>()("stoa/domain/media/MediaStorage") {}

/** A new storage key (contract §10); no part of it comes from the client. */
export const newStorageKey = Effect.fnUntraced(function*(extension: string) {
  const now = yield* DateTime.now
  return `${DateTime.toPartsUtc(now).year}/${newId()}.${extension}`
})

/** Tells storage keys from any other text, before tables or disks are searched for them. */
export const isStorageKey = (text: string): boolean => /^\d{4}\/[0-9a-f-]{36}\.[a-z0-9]{2,5}$/.test(text)

/** Reports a storage failure as 503 instead of a client error, and logs the storage's message. */
export const storageAway = (failure: StorageFailed) =>
  Effect.andThen(
    Effect.logWarning("the storage of media failed", failure),
    Effect.fail(Unavailable.of("The storage of files is not available. Try again shortly."))
  )
