import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { type CurrentActor, currentOrganization } from "../domain/access/Actor.ts"
import { Unavailable } from "../domain/errors/ApiErrors.ts"
import { clockTolerance } from "./EntityCall.ts"
import { type HoldGone, type Reserved, type ReserveStock, StockEntity, type StockShort } from "./StockEntity.ts"

/** How long one call may take before it is repeated; a healthy desk answers within milliseconds. */
const oneTry = Duration.seconds(2)

/** How long a checkout waits in all: longer than a fail-over of the runner that owns the desk. */
const timeout = Duration.seconds(15)

/** The wait between tries grows to a second, with a share of chance so that a crowd does not come back as one. */
const pauses = Schedule.jittered(Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("1 second")]))

type ReserveError = StockShort | HoldGone | Unavailable

const toUnavailable = (error: { readonly _tag: string }): ReserveError =>
  // What the delivery failed with is told from the desk's own answers by name; the compiler sees one union.
  error._tag === "StockShort" || error._tag === "HoldGone" ? (error as StockShort | HoldGone) : Unavailable.of()

/** One call of the desk of an organization. */
export type ReserveCall = (
  organization: string,
  request: ReserveStock
) => Effect.Effect<Reserved, { readonly _tag: string }>

const make = (send: ReserveCall): StockClient["Service"] => ({
  reserve: Effect.fn("StockClient.reserve")(function*(request: Omit<ReserveStock, "deadline">) {
    const organization = yield* currentOrganization
    // The deadline of all tries together: at a desk with a long queue the first try may be served while the second one
    // waits, and that is as good.
    const deadline = (yield* Clock.currentTimeMillis) + Duration.toMillis(timeout) - clockTolerance
    return yield* Effect.suspend(() => send(organization, { ...request, deadline })).pipe(
      Effect.timeout(oneTry),
      Effect.mapError(toUnavailable),
      // A desk that could not write answers with a defect. The same holder may come again: he reserves once.
      Effect.catchDefect(() => Effect.fail(Unavailable.of())),
      Effect.retry({ while: (error) => error._tag === "Unavailable", schedule: pauses }),
      Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(Unavailable.of()) })
    )
  })
})

/**
 * Reserves stock at the desk of the actor's organization, whatever happens to the process that runs it: a call without
 * an answer within 2 s is repeated with the same holder, and after 15 s the answer is 503. The holder must then be
 * released like after every other failure: one of the calls may still have been granted.
 */
export class StockClient extends Context.Service<StockClient, {
  readonly reserve: (
    request: Omit<ReserveStock, "deadline">
  ) => Effect.Effect<Reserved, StockShort | HoldGone | Unavailable, CurrentActor>
}>()("stoa/entities/StockClient") {
  static readonly layer = Layer.effect(
    StockClient,
    Effect.map(StockEntity.client, (deskOf) => make((organization, request) => deskOf(organization).reserve(request)))
  )
  /** Over any way to reach a desk. */
  static readonly layerOf = (send: ReserveCall): Layer.Layer<StockClient> => Layer.succeed(StockClient, make(send))
}
