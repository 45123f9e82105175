import { Data } from "effect"

/** A file that cannot be read at all, or is larger than files may be. */
export class FileRefused extends Data.TaggedError("FileRefused")<{
  readonly reason: "unreadable" | "too large"
  readonly message: string
}> {}

/** A file that does not match its declared format. */
export const unreadable = (message: string) => new FileRefused({ reason: "unreadable", message })

/** A file, or a part of one, beyond its limit. */
export const tooLarge = (message: string) => new FileRefused({ reason: "too large", message })
