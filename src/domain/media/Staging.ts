import { Context, Data, type Effect, type Scope, type Stream } from "effect"

/** A file that has arrived and lies on this machine for as long as its scope is open. */
export interface StagedFile {
  /** Where it lies, for whoever stores or reads it. */
  readonly path: string
  readonly size: number
  /** SHA-256 in hexadecimal. */
  readonly digest: string
  /** Its first bytes. */
  readonly head: Uint8Array
}

/** More came than may. */
export class FileTooLarge extends Data.TaggedError("FileTooLarge")<{ readonly limit: number }> {}

/** The disk, or whoever keeps the files, does not do what it is asked. */
export class StorageFailed extends Data.TaggedError("StorageFailed")<{ readonly cause: unknown }> {
  override get message(): string {
    return this.cause instanceof Error ? this.cause.message : String(this.cause)
  }
}

/** Where files wait that are not stored yet: what was looked at is what is stored, and memory never holds a whole one. */
export class Staging extends Context.Service<Staging, {
  /** Writes what comes to the disk, bytes at a time; the file goes with the scope unless somebody moved it. */
  readonly receive: <E>(
    content: Stream.Stream<Uint8Array, E>,
    limit: number
  ) => Effect.Effect<StagedFile, E | FileTooLarge | StorageFailed, Scope.Scope>
}>()("stoa/domain/media/Staging") {}
