import { Data, Effect } from "effect"
import type { Actor, CurrentActor } from "../access/Actor.ts"

export type Given<A> = Effect.Effect<A, Error, CurrentActor> | Promise<A>

/** The caller without secrets, address and permissions. */
export type Asker = Pick<Actor, "type" | "userId" | "role">

export const askerOf = ({ role, type, userId }: Actor): Asker => ({ type, userId, role })

export class OutsideFailed extends Data.TaggedError("OutsideFailed")<{ readonly cause: unknown }> {
  override get message(): string {
    return this.cause instanceof Error ? this.cause.message : String(this.cause)
  }
}

const failed = (cause: unknown) => new OutsideFailed({ cause })

/** Calls an external service for at most `limitMs`. Every failure and timeout becomes `OutsideFailed`. */
export const askOutside = (
  call: (signal: AbortSignal) => Given<unknown>,
  limitMs: number
): Effect.Effect<unknown, OutsideFailed, CurrentActor> =>
  Effect.suspend(() => {
    const waiting = new AbortController()
    const made = call(waiting.signal)
    const answer = Effect.isEffect(made)
      ? Effect.mapError(made, failed)
      : Effect.tryPromise({ try: () => made, catch: failed })
    return Effect.onInterrupt(answer, () => Effect.sync(() => waiting.abort()))
  }).pipe(
    Effect.catchDefect((defect) => Effect.fail(failed(defect))),
    Effect.timeoutOrElse({ duration: limitMs, orElse: () => Effect.fail(failed(`no answer within ${limitMs} ms`)) })
  )
