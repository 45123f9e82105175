import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { type CurrentActor, currentOrganization } from "../domain/access/Actor.ts"
import { Unavailable } from "../domain/errors/ApiErrors.ts"
import { clockTolerance } from "./EntityCall.ts"
import { type HoldGone, type Reserved, type ReserveStock, StockDesk, type StockShort } from "./StockDesk.ts"

/** How long one call may take before it is repeated; a healthy desk answers within milliseconds. */
const oneTry = Duration.seconds(2)

/** How long a checkout waits in all: longer than a fail-over of the runner that owns the desk. */
const patience = Duration.seconds(15)

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

const make = (send: ReserveCall): StockDeskClient["Service"] => ({
  reserve: Effect.fn("StockDeskClient.reserve")(function*(request: Omit<ReserveStock, "deadline">) {
    const organization = yield* currentOrganization
    // The deadline of all tries together: at a desk with a long queue the first try may be served while the second one
    // waits, and that is as good.
    const deadline = (yield* Clock.currentTimeMillis) + Duration.toMillis(patience) - clockTolerance
    return yield* Effect.suspend(() => send(organization, { ...request, deadline })).pipe(
      Effect.timeout(oneTry),
      Effect.mapError(toUnavailable),
      // A desk that could not write answers with a defect. The same holder may come again: he reserves once.
      Effect.catchDefect(() => Effect.fail(Unavailable.of())),
      Effect.retry({ while: (error) => error._tag === "Unavailable", schedule: pauses }),
      Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(Unavailable.of()) })
    )
  })
})

/**
 * Reserves stock at the desk of the actor's organization, whatever happens to the process that runs it: a call without
 * an answer within 2 s is repeated with the same holder, and after 15 s the answer is 503. The holder must then be
 * released like after every other failure: one of the calls may still have been granted.
 */
export class StockDeskClient extends Context.Service<StockDeskClient, {
  readonly reserve: (
    request: Omit<ReserveStock, "deadline">
  ) => Effect.Effect<Reserved, StockShort | HoldGone | Unavailable, CurrentActor>
}>()("stoa/entities/StockDeskClient") {
  static readonly layer = Layer.effect(
    StockDeskClient,
    Effect.map(StockDesk.client, (deskOf) => make((organization, request) => deskOf(organization).reserve(request)))
  )
  /** Over any way to reach a desk. */
  static readonly layerOf = (send: ReserveCall): Layer.Layer<StockDeskClient> =>
    Layer.succeed(StockDeskClient, make(send))
}
