import { Clock, Effect } from "effect"
import type { ClusterError } from "effect/cluster"
import { Unavailable } from "../domain/errors/ApiErrors.ts"
import { isWorthRepeating } from "../domain/errors/Transience.ts"

/** How long a caller waits for an actor: longer than a fail-over hop, shorter than a client's timeout. */
const timeout = 5_000

/**
 * How far the clocks of two machines may be apart. A caller names a moment that is so much before it gives up, and an
 * actor whose clock is behind by no more starts on nothing that nobody waits for.
 */
export const clockTolerance = 1_000

/**
 * The moment after which an actor must not start on a message any more. A caller that gave up answers 503 and its
 * client tries again; without this the first message would still be carried out behind both their backs.
 */
export const deadline: Effect.Effect<number> = Effect.map(
  Clock.currentTimeMillis,
  (now) => now + timeout - clockTolerance
)

/** An actor skips what nobody waits for any more. */
export const unlessPast = (until: number): Effect.Effect<void, Unavailable> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => (now > until ? Effect.fail(Unavailable.of()) : Effect.void))

/**
 * 503 for what fails because the database is away or an earlier try came first; every other defect stays one. An actor says so itself, because its
 * caller in another process gets of a defect nothing but a text.
 */
export const orUnavailable = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unavailable, R> =>
  Effect.catchDefect(work, (defect) =>
    isWorthRepeating(defect)
      ? Effect.andThen(Effect.logWarning("a change was not made", defect), Effect.fail(Unavailable.of()))
      : Effect.die(defect))

type DeliveryError =
  | ClusterError.MailboxFull
  | ClusterError.AlreadyProcessingMessage
  | ClusterError.PersistenceError
  | ClusterError.EntityNotAssignedToRunner

const isDeliveryError = (error: { readonly _tag: string }): boolean =>
  error._tag === "MailboxFull" || error._tag === "AlreadyProcessingMessage" || error._tag === "PersistenceError" ||
  error._tag === "EntityNotAssignedToRunner"

/**
 * Calls an actor: volatile, with a time limit; whatever goes wrong on the way there becomes 503 (ARCHITECTURE §4.6).
 * A caller who gives up ends the actor's work as well, and the statement that it waits for is called off a few
 * milliseconds later. So 503 says nothing of whether the change was made; who sends a key is told when he comes again.
 */
export const call = <A, E extends { readonly _tag: string }, R>(
  message: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, DeliveryError> | Unavailable, R> =>
  message.pipe(
    orUnavailable,
    Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(Unavailable.of()) }),
    Effect.mapError((error) =>
      // The test above narrows by name what the compiler knows as a union of four classes.
      isDeliveryError(error) ? Unavailable.of() : error as Exclude<E, DeliveryError> | Unavailable
    )
  )
