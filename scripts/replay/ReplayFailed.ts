import { Data } from "effect"

/** The replay cannot go on; one line that says why. */
export class ReplayFailed extends Data.TaggedError("ReplayFailed")<{ readonly message: string }> {}
