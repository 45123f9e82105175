import { Data } from "effect"

/** Settings that cannot be used; a line for each that names it, what it holds and what it may hold. */
export class InvalidSetting extends Data.TaggedError("InvalidSetting")<{ readonly message: string }> {}
