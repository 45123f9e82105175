import { Cause, Effect, Exit } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { wasCutOff } from "../errors/Transience.ts"
import { HookRefusal } from "./Hook.ts"

const timeLimit = "10 seconds"

interface OtherEnds<E> {
  readonly refused: (message: string) => E
  readonly broken: (cause: unknown) => Effect.Effect<never, E>
}

/** Asks code of a plugin that may refuse. A cut-off statement is a defect: the caller repeats the work. */
export const askPlugin = Effect.fnUntraced(function*<A, E>(
  call: () => Effect.Effect<A, HookRefusal, CurrentActor>,
  { broken, refused }: OtherEnds<E>
) {
  const exit = yield* Effect.exit(Effect.timeout(Effect.suspend(call), timeLimit))
  if (Exit.isSuccess(exit)) return exit.value
  const error = Cause.squash(exit.cause)
  if (error instanceof HookRefusal) return yield* Effect.fail(refused(error.message))
  return yield* wasCutOff(error) ? Effect.die(error) : broken(exit.cause)
})

/** Tells a plugin what happened; its failures are logged under `name`, a cut-off statement is a defect. */
export const tellPlugin = (name: string, call: () => Effect.Effect<void, never, CurrentActor>) =>
  Effect.suspend(call).pipe(
    Effect.timeout(timeLimit),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause) || wasCutOff(Cause.squash(cause))
        ? Effect.failCause(cause)
        : Effect.logError(`${name} of a plugin is broken`, cause)
    ),
    Effect.catchTag("TimeoutError", Effect.die)
  )
