import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { type CurrentActor, currentOrganization } from "../domain/access/Actor.ts"
import { Unavailable } from "../domain/errors/ApiErrors.ts"
import { clockTolerance } from "./EntityCall.ts"
import { type HoldGone, type Reserved, type ReserveStock, StockEntity, type StockShort } from "./StockEntity.ts"

/** Time-out of one call; a healthy entity answers within milliseconds. */
const callTimeout = Duration.seconds(2)

/** Total time-out: longer than a fail-over of the entity's runner. */
const timeout = Duration.seconds(15)

/** Delays between calls grow to one second, with jitter, so that callers do not come back all at once. */
const delays = Schedule.jittered(Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("1 second")]))

type ReserveError = StockShort | HoldGone | Unavailable

const toUnavailable = (error: { readonly _tag: string }): ReserveError =>
  // The compiler cannot separate delivery errors from the entity's errors by tag.
  error._tag === "StockShort" || error._tag === "HoldGone" ? (error as StockShort | HoldGone) : Unavailable.of()

/** Calls the stock entity of an organization. */
export type ReserveCall = (
  organization: string,
  request: ReserveStock
) => Effect.Effect<Reserved, { readonly _tag: string }>

const make = (send: ReserveCall): StockClient["Service"] => ({
  reserve: Effect.fn("StockClient.reserve")(function*(request: Omit<ReserveStock, "deadline">) {
    const organization = yield* currentOrganization
    // One deadline for all calls: under load, the first may be served while a later one waits.
    const deadline = (yield* Clock.currentTimeMillis) + Duration.toMillis(timeout) - clockTolerance
    return yield* Effect.suspend(() => send(organization, { ...request, deadline })).pipe(
      Effect.timeout(callTimeout),
      Effect.mapError(toUnavailable),
      // A failed write answers with a defect. Repeating it is safe: a holder reserves once.
      Effect.catchDefect(() => Effect.fail(Unavailable.of())),
      Effect.retry({ while: (error) => error._tag === "Unavailable", schedule: delays }),
      Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(Unavailable.of()) })
    )
  })
})

/**
 * Reserves stock at the entity of the actor's organization. Repeats a call without an answer after 2 s with the same
 * holder, and fails with 503 after 15 s. Release the holder after every failure: one of the calls may have succeeded.
 */
export class StockClient extends Context.Service<StockClient, {
  readonly reserve: (
    request: Omit<ReserveStock, "deadline">
  ) => Effect.Effect<Reserved, StockShort | HoldGone | Unavailable, CurrentActor>
}>()("stoa/entities/StockClient") {
  static readonly layer = Layer.effect(
    StockClient,
    Effect.map(
      StockEntity.client,
      (clientOf) => make((organization, request) => clientOf(organization).reserve(request))
    )
  )
  /** Over any transport. */
  static readonly layerOf = (send: ReserveCall): Layer.Layer<StockClient> => Layer.succeed(StockClient, make(send))
}
