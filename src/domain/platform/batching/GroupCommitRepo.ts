import { Cause, Effect, Option } from "effect"
import type { SqlError } from "effect/sql"
import { refusalOf } from "../records/Constraints.ts"
import * as Batcher from "./Batcher.ts"

export interface Options<A, B> {
  readonly name: string
  /** Returns results in the order of the items; undefined for a skipped one, for example with a locked row. */
  readonly together: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B | undefined>, SqlError.SqlError>
  readonly alone: (item: A) => Effect.Effect<B, SqlError.SqlError>
}

export type Locking = "" | "skip locked"

const largest = 200

/** SQLSTATEs of a server that closes connections: the transaction may have been committed. */
const cutOff = /^(08|57P)/

/** Nothing was written. After a lost connection the outcome is unknown. */
const refused = (error: SqlError.SqlError): boolean =>
  error.reason._tag !== "ConnectionError" && !cutOff.test(refusalOf(error).state)

/**
 * Shares statements between concurrent requests. Skipped items run alone, and so do all items of a rejected statement.
 * After a lost connection nothing is repeated, since it may have been committed: the callers fail.
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
