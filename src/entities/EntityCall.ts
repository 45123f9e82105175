import { Clock, Effect } from "effect"
import type { ClusterError } from "effect/cluster"
import { Unavailable } from "../domain/platform/errors/ApiErrors.ts"
import { isWorthRepeating } from "../domain/platform/errors/Transience.ts"

/** Longer than a fail-over, shorter than a client's timeout. */
const timeout = 5_000

/** Between the clocks of two machines; a deadline ends this long before its caller gives up. */
export const clockTolerance = 1_000

/** Past it an entity must not start a message: its caller has answered 503, and the client may retry. */
export const deadline: Effect.Effect<number> = Effect.map(
  Clock.currentTimeMillis,
  (now) => now + timeout - clockTolerance
)

export const unlessPast = (until: number): Effect.Effect<void, Unavailable> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => (now > until ? Effect.fail(Unavailable.of()) : Effect.void))

/**
 * Turns defects that a retry may fix into 503. Entities use it themselves, because a defect reaches a caller in another
 * process only as text.
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
 * Calls an entity with a time-out; delivery errors become 503 (ARCHITECTURE §4.6). A time-out interrupts the entity's
 * work: only a retry with an idempotency key tells if the change was made.
 */
export const call = <A, E extends { readonly _tag: string }, R>(
  message: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, DeliveryError> | Unavailable, R> =>
  message.pipe(
    orUnavailable,
    Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(Unavailable.of()) }),
    Effect.mapError((error) =>
      isDeliveryError(error) ? Unavailable.of() : error as Exclude<E, DeliveryError> | Unavailable
    )
  )
