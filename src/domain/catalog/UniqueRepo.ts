import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { Conflict } from "../errors/ApiErrors.ts"

/**
 * Turns the violation of a unique key that a request can cause into 409 with the sentence given for that key; any other
 * failure of the statement is a defect. Keys by the name of their constraint or index.
 */
export const conflictOn =
  (sentences: Readonly<Record<string, string>>) =>
  <A, R>(statement: Effect.Effect<A, SqlError.SqlError, R>): Effect.Effect<A, Conflict, R> =>
    Effect.catch(statement, (error) => {
      const sentence = error.reason._tag === "UniqueViolation" ? sentences[error.reason.constraint] : undefined
      return sentence === undefined ? Effect.die(error) : Effect.fail(Conflict.of(sentence))
    })
