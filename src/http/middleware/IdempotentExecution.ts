import { Cause, Context, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { createHmac } from "node:crypto"
import { type Actor, CurrentActor } from "../../domain/access/Actor.ts"
import { Conflict, StillRunning, ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import { IdempotencyKeys } from "../../domain/idempotency/IdempotencyKeys.ts"

/** The same in every process. Keys that were used before it was changed are 422. */
export class FingerprintSecret
  extends Context.Service<FingerprintSecret, Redacted.Redacted<string>>()("stoa/http/middleware/FingerprintSecret")
{}

/** What becomes of a key when its work gave this answer. */
export type Kept =
  | { readonly _tag: "Remember"; readonly status: number; readonly body: string }
  /** Refused before anything was changed: the key is free again. */
  | { readonly _tag: "Release" }
  /** Nobody knows what was changed. */
  | { readonly _tag: "Doubt" }

/** A change under an `Idempotency-Key`. */
export interface IdempotentRequest<Answer> {
  readonly key: string
  /** Whose key it is (`keyScope`). */
  readonly scope: string
  /** What makes two requests the same (`fingerprint`). */
  readonly print: string
  /** All its changes bear the mark of the request (`IdempotentChange`). */
  readonly repeatable: boolean
  /** Who does the work, and in whose organization the key is remembered. */
  readonly actor: Actor
  readonly owner: Actor
  readonly keep: (answer: Answer) => Kept
  /** A remembered answer, as it was. */
  readonly again: (status: number, body: string) => Answer
}

/** A refusal was decided before anything was changed. A defect, a silence or an interruption says nothing of that. */
const isRefusal = (cause: Cause.Cause<unknown>): boolean => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  return error !== undefined && !Cause.hasDies(cause) && !Cause.hasInterrupts(cause) &&
    !(typeof error === "object" && error !== null && "_tag" in error && error._tag === "Unavailable")
}

const inDoubt = (carriedOut: boolean) =>
  Conflict.of(
    carriedOut
      ? "The request with this Idempotency-Key was carried out, but its answer is lost. Read what it changed."
      : "The request with this Idempotency-Key was interrupted and may have been carried out. Look at what it was to " +
        "change before you send it again under a new key."
  )

/**
 * Work that is done once for a key, over HTTP and over `/rpc` alike (ARCHITECTURE invariant 4): the same request again
 * gets the same answer, another request 422, and while the first one runs 409.
 */
export class IdempotentExecution extends Context.Service<IdempotentExecution, {
  readonly once: <Answer, E, R>(
    change: IdempotentRequest<Answer>,
    work: Effect.Effect<Answer, E, R | CurrentActor>
  ) => Effect.Effect<Answer, E | StillRunning | Conflict | ValidationFailed, Exclude<R, CurrentActor>>
}>()("stoa/http/middleware/IdempotentExecution") {
  static readonly layer = Layer.effect(IdempotentExecution, Effect.suspend(() => makeIdempotentExecution))
}

const makeIdempotentExecution = Effect.gen(function*() {
  const keys = yield* IdempotencyKeys
  const secret = Redacted.value(yield* FingerprintSecret)
  // A body may hold a password, and is short. A bare hash of it in the database could be guessed a billion times a second.
  const encrypted = (print: string) => createHmac("sha256", secret).update(`idempotency ${print}`).digest("hex")
  const scopeOfService = yield* Effect.scope

  // What the work gave is the answer, also where the key cannot be let go: its lease runs out by itself.
  const letGo = (giving: Effect.Effect<void, never, CurrentActor>) =>
    Effect.catchCause(giving, (cause) => Effect.logWarning("an idempotency key waits for the end of its lease", cause))

  const claimed = <Answer, E, R>(
    { actor, keep, key, repeatable, scope }: IdempotentRequest<Answer>,
    executionId: string,
    work: Effect.Effect<Answer, E, R | CurrentActor>
  ) => {
    // One renewal that the database refuses must not be the last one.
    const renewing = Effect.forever(Effect.delay(Effect.ignoreCause(keys.renew(scope, key)), "2 seconds"))
    const marking = Effect.provideService(work, CurrentActor, repeatable ? { ...actor, executionId } : actor)
    return Effect.gen(function*() {
      const answer = yield* Effect.andThen(Effect.forkScoped(renewing), marking).pipe(
        Effect.scoped,
        Effect.onError((cause) =>
          letGo(isRefusal(cause) ? keys.release(scope, key, executionId) : keys.doubt(scope, key, executionId))
        )
      )
      const kept = keep(answer)
      if (kept._tag === "Remember") yield* keys.finish(scope, key, executionId, kept.status, kept.body)
      // What broke inside of better-auth is an answer here, and says as little as a defect does.
      else {yield* letGo(
          kept._tag === "Release" ? keys.release(scope, key, executionId) : keys.doubt(scope, key, executionId)
        )}
      return answer
    })
  }

  return IdempotentExecution.of({
    once: Effect.fnUntraced(function*(change, work) {
      const { again, key, owner, repeatable, scope } = change
      const claim = yield* Effect.provideService(
        keys.claim(scope, key, encrypted(change.print), repeatable),
        CurrentActor,
        owner
      )
      if (claim._tag === "OtherRequest") {
        return yield* ValidationFailed.of("Idempotency-Key", "was used with another request", "key_reused")
      }
      if (claim._tag === "Running") return yield* StillRunning.of()
      if (claim._tag === "InDoubt") return yield* inDoubt(claim.carriedOut)
      if (claim._tag === "Done") return again(claim.status, claim.body)
      // A client that hangs up ends its request. The work goes on: he comes again with the same key because he does
      // not know what became of it, and freeing the key after something was written would write it twice.
      const owned = Effect.provideService(claimed(change, claim.executionId, work), CurrentActor, owner)
      return yield* Fiber.join(yield* Effect.forkIn(owned, scopeOfService))
    })
  })
})
