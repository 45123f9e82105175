import { Cause, Effect, Exit, Option } from "effect"
import { Unavailable, type ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import { isWorthRepeating } from "../../domain/errors/Transience.ts"
import { isUnstorable, unstorableText } from "../server/Failure.ts"
import type { Outcome } from "./RpcMetrics.ts"

/** How a call ended. */
export const outcomeOf = (exit: Exit.Exit<unknown, unknown>): Outcome => {
  if (Exit.isSuccess(exit)) return "ok"
  if (Cause.hasDies(exit.cause)) return "failed"
  return Option.isSome(Cause.findErrorOption(exit.cause)) ? "refused" : "interrupted"
}

/**
 * What a caller is told of a call that broke: as over HTTP nothing of what went wrong inside, only the id under which the
 * log has it. A database that is away for a moment is `Unavailable`, and text that it cannot hold the caller's to mend.
 */
export const toldOf = <E>(
  cause: Cause.Cause<E>,
  requestId: string
): Effect.Effect<never, E | Unavailable | ValidationFailed> => {
  if (!Cause.hasDies(cause)) return Effect.failCause(cause)
  const defect = Cause.squash(cause)
  if (isWorthRepeating(defect)) {
    return Effect.andThen(Effect.logWarning("call refused: the database did not answer", cause), Unavailable.of())
  }
  if (isUnstorable(defect)) return Effect.fail(unstorableText)
  return Effect.andThen(
    Effect.logError("call failed", cause),
    Effect.die({ code: "INTERNAL_ERROR", message: "An unexpected error occurred.", requestId })
  )
}
