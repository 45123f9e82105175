import { Data } from "effect"

/** A variable whose value cannot be used; one line that names it, what it holds and what it may hold. */
export class InvalidSetting extends Data.TaggedError("InvalidSetting")<{ readonly message: string }> {}
