import { Cause, Effect, Option } from "effect"
import type { SqlError } from "effect/sql"
import * as Batcher from "./Batcher.ts"

/** One statement for many callers, and the one that serves a single caller where the shared one could not. */
export interface Options<A, B> {
  /** Label of the metrics and the log lines, e.g. `carts.add`. */
  readonly name: string
  /**
   * Does all items in one statement, and answers in their order. Undefined for an item that it left undone, for example
   * because its row was locked: nobody waits here for one caller's row at the cost of all the others.
   */
  readonly together: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B | undefined>, SqlError.SqlError>
  /** Does one item, and waits for what it must wait for. Runs in the fiber of its caller. */
  readonly alone: (item: A) => Effect.Effect<B, SqlError.SqlError>
}

/** Whether a statement waits for rows that others have locked, or leaves them out. */
export type Locking = "" | "skip locked"

/** Most items of one statement. */
const largest = 200

/** SQLSTATEs of a server that ends connections; what they cut off may have been committed. */
const cutOff = /"code":"(08|57P)/

/** The server refused the statement: nothing of it happened. After a lost connection nobody knows. */
const refused = (error: SqlError.SqlError): boolean =>
  error.reason._tag !== "ConnectionError" && !cutOff.test(JSON.stringify(error.reason))

/**
 * Shares statements between the requests that wait at the same moment: one round trip and one commit for all of them
 * instead of one for each. What the shared statement leaves undone, and every item of one that the server refused (one
 * of them may be the reason), is done alone, so that nobody suffers from his neighbours. A batch whose connection was
 * lost is not repeated, since it may have been committed: its callers fail, as each would have with a statement of his
 * own.
 */
export const make = Effect.fnUntraced(function*<A, B>({ alone, name, together }: Options<A, B>) {
  const batcher = yield* Batcher.make({ name, maxSize: largest, write: together })
  return (item: A): Effect.Effect<B, SqlError.SqlError> =>
    batcher.submit(item).pipe(
      Effect.catchCause((cause) => {
        const error = Option.filter(Cause.findErrorOption(cause), refused)
        return Option.isSome(error) ? Effect.undefined : Effect.failCause(cause)
      }),
      Effect.flatMap((done) => done === undefined ? alone(item) : Effect.succeed(done))
    )
})
