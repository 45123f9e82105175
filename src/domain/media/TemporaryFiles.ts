import { Context, Data, type Effect, type Scope, type Stream } from "effect"

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
