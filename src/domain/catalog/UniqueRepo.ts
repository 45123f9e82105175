import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { Conflict } from "../errors/ApiErrors.ts"

/**
 * Turns the violation of a unique key into 409 with the message of that constraint or index. Any other failure of the
 * statement is a defect.
 */
export const conflictOn =
  (messages: Readonly<Record<string, string>>) =>
  <A, R>(statement: Effect.Effect<A, SqlError.SqlError, R>): Effect.Effect<A, Conflict, R> =>
    Effect.catch(statement, (error) => {
      const message = error.reason._tag === "UniqueViolation" ? messages[error.reason.constraint] : undefined
      return message === undefined ? Effect.die(error) : Effect.fail(Conflict.of(message))
    })
