import { Clock, Effect } from "effect"
import type { ClusterError } from "effect/cluster"
import { Unavailable } from "../domain/platform/errors/ApiErrors.ts"
import { isWorthRepeating } from "../domain/platform/errors/Transience.ts"

/** How long a caller waits for an entity: longer than a fail-over, shorter than a client's timeout. */
const timeout = 5_000

/** Tolerated difference between the clocks of two machines; a deadline ends this long before its caller gives up. */
export const clockTolerance = 1_000

/** The time after which an entity must not start a message: its caller has answered 503, and the client may retry. */
export const deadline: Effect.Effect<number> = Effect.map(
  Clock.currentTimeMillis,
  (now) => now + timeout - clockTolerance
)

/** Fails past the deadline: the caller no longer waits for the result. */
export const unlessPast = (until: number): Effect.Effect<void, Unavailable> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => (now > until ? Effect.fail(Unavailable.of()) : Effect.void))

/**
 * Turns defects that a retry may fix, for example a lost database connection, into 503. Entities use it themselves,
 * because a defect reaches a caller in another process only as text.
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
 * Calls an entity with a time-out and turns delivery errors into 503 (ARCHITECTURE §4.6). A time-out interrupts the
 * entity's work, so 503 does not say whether the change was made; a retry with an idempotency key does.
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
