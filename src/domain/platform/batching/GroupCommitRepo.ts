import { Cause, Effect, Option } from "effect"
import type { SqlError } from "effect/sql"
import { refusalOf } from "../records/Constraints.ts"
import * as Batcher from "./Batcher.ts"

/** A statement for many callers, and one for a single caller that the shared one could not serve. */
export interface Options<A, B> {
  /** Label of the metrics and the log lines, e.g. `carts.add`. */
  readonly name: string
  /**
   * Runs all items in one statement, and returns results in their order. Undefined for an item that it skipped, for
   * example because its row was locked: one caller's row must not delay all the others.
   */
  readonly together: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B | undefined>, SqlError.SqlError>
  /** Runs one item in the fiber of its caller, and waits for its locks. */
  readonly alone: (item: A) => Effect.Effect<B, SqlError.SqlError>
}

/** Whether a statement waits for locked rows or skips them. */
export type Locking = "" | "skip locked"

/** Maximum items of one statement. */
const largest = 200

/** SQLSTATEs of a server that closes connections; a transaction on them may have been committed. */
const cutOff = /^(08|57P)/

/** The server rejected the statement, so nothing was written. After a lost connection the outcome is unknown. */
const refused = (error: SqlError.SqlError): boolean =>
  error.reason._tag !== "ConnectionError" && !cutOff.test(refusalOf(error).state)

/**
 * Shares statements between concurrent requests: one round trip and one commit for all of them. Items that the shared
 * statement skipped run alone, and so do all items of a rejected statement, since one of them may be the reason. A
 * batch whose connection was lost is not repeated, since it may have been committed: its callers fail, as they would
 * with a separate statement.
 */
export const make = Effect.fnUntraced(function*<A, B>({ alone, name, together }: Options<A, B>) {
  const batcher = yield* Batcher.make({ name, maxSize: largest, write: together })
  return (item: A): Effect.Effect<B, SqlError.SqlError> =>
    Effect.matchCauseEffect(batcher.submit(item), {
      onFailure: (cause) =>
        Option.exists(Cause.findErrorOption(cause), refused) ? alone(item) : Effect.failCause(cause),
      onSuccess: (done) => done === undefined ? alone(item) : Effect.succeed(done)
    })
})
