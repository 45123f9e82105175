import { Cause, Clock, Effect, Exit, Metric, Queue } from "effect"
import { Entity, type Envelope } from "effect/cluster"
import { CurrentActor, systemActor } from "../domain/access/Actor.ts"
import { countReservations } from "../domain/inventory/ReservationMetrics.ts"
import { ReservationRepo } from "../domain/inventory/ReservationRepo.ts"
import { HoldGone, type Reserved, type ReserveStock, StockEntity, StockShort } from "./StockEntity.ts"
import { serveBatch } from "./StockEntityBatch.ts"
import { StockEntityCache } from "./StockEntityCache.ts"
import type { StockReply, StockRequest } from "./StockRequest.ts"

/** Most requests written in one statement. */
const batchSize = 250

/** How far reservations share statements: a sum that grows faster than the count means a rush. */
const batches = Metric.histogram("stoa_stock_batch_size", {
  description: "Checkouts written in one batch of a stock desk",
  boundaries: [1, 2, 4, 8, 16, 32, 64, 128, 250]
})

/** Sellables a desk remembers; each costs a few numbers. */
const remembered = 50_000

/** One poisonous request must not fail its batch, but an outage must not be tried once per request either. */
const failuresInARow = 3

type RpcsOf<E> = E extends Entity.Entity<infer _Type, infer Rpcs> ? Rpcs : never
type Request = Envelope.Request<RpcsOf<typeof StockEntity>>
type Replier = Entity.Replier<RpcsOf<typeof StockEntity>>
type Outcome = Exit.Exit<ReadonlyMap<string, StockReply>>

/** All waiting requests of one holder: the first is served, the others are repeats of it. */
type Group = readonly [Request, ...ReadonlyArray<Request>]

const toStockEntity = ([{ payload }]: Group): StockRequest => ({
  holder: payload.holder,
  pricing: payload.pricing,
  ttlSeconds: payload.ttlSeconds,
  // Ids name map entries here and come back from the database in lower case.
  lines: payload.lines.map(({ entityId, quantity, sellableId }) => ({
    sellable: sellableId.toLowerCase(),
    entityId: entityId.toLowerCase(),
    quantity
  }))
})

const answerTo = (
  payload: ReserveStock,
  answer: StockReply | undefined,
  repeat: boolean
): Exit.Exit<Reserved, StockShort | HoldGone> => {
  if (answer === undefined) return Exit.die(new Error("The stock desk left a request of its batch unanswered."))
  if (answer._tag === "Gone") return Exit.fail(new HoldGone({ holder: payload.holder }))
  if (answer._tag === "Reserved") {
    return Exit.succeed({ _tag: "Reserved", pricing: answer.pinned, fresh: answer.fresh && !repeat })
  }
  const { available, requested, sellable: sellableId } = answer.short
  const title = payload.lines.find((line) => line.sellableId.toLowerCase() === sellableId)?.title ?? sellableId
  return Exit.fail(new StockShort({ sellableId, title, available, requested }))
}

const byHolder = (requests: ReadonlyArray<Request>): ReadonlyArray<Group> => {
  const groups = new Map<string, [Request, ...Array<Request>]>()
  for (const request of requests) {
    const group = groups.get(request.payload.holder)
    if (group === undefined) groups.set(request.payload.holder, [request])
    else group.push(request)
  }
  return [...groups.values()]
}

/** Counts what a batch came to; a holder who had his stock already is granted nothing new. */
const tally = (outcome: Outcome) => {
  if (Exit.isFailure(outcome)) return Effect.void
  const answers = [...outcome.value.values()]
  const granted = answers.filter((answer) => answer._tag === "Reserved" && answer.fresh).length
  const refused = answers.filter(({ _tag }) => _tag === "Short").length
  return Effect.andThen(countReservations("granted", granted), countReservations("refused", refused))
}

const replyTo = (replier: Replier, groups: ReadonlyArray<Group>, outcome: Outcome) =>
  Effect.forEach(groups, (group) =>
    Effect.forEach(group, (request, index) =>
      replier.complete(
        request,
        Exit.isSuccess(outcome)
          ? answerTo(request.payload, outcome.value.get(request.payload.holder), index > 0)
          : Exit.failCause(outcome.cause)
      ), { discard: true }), { discard: true })

type Serve = (groups: ReadonlyArray<Group>) => Effect.Effect<Outcome>

const oneByOne = Effect.fnUntraced(
  function*(serve: Serve, replier: Replier, groups: ReadonlyArray<Group>, failed: Outcome) {
    let failures = 0
    for (const group of groups) {
      const outcome = failures < failuresInARow ? yield* Effect.tap(serve([group]), tally) : failed
      failures = Exit.isSuccess(outcome) ? 0 : failures + 1
      yield* replyTo(replier, [group], outcome)
    }
  }
)

const serveNext = Effect.fnUntraced(function*(serve: Serve, replier: Replier, requests: ReadonlyArray<Request>) {
  const now = yield* Clock.currentTimeMillis
  const late = requests.filter(({ payload }) => payload.deadline < now)
  // Whoever sent it has given up and released the holder; granting it now would hold stock for nobody.
  yield* replyTo(replier, byHolder(late), Exit.die(new Error("The request reached the stock desk past its deadline.")))
  const groups = byHolder(requests.filter(({ payload }) => payload.deadline >= now))
  if (groups.length === 0) return
  yield* Metric.update(batches, groups.length)
  const outcome = yield* Effect.tap(serve(groups), tally)
  if (Exit.isSuccess(outcome) || groups.length === 1) return yield* replyTo(replier, groups, outcome)
  yield* Effect.logWarning(`The stock desk failed to write ${groups.length} requests at once`, outcome.cause)
  return yield* oneByOne(serve, replier, groups, outcome)
})

/**
 * Behaviour of the desk: it takes whatever waits, decides in memory and writes it in one statement, so a rush costs a
 * commit per batch and not per buyer. The version rows in the table guard the stock, not this actor: two desks of one
 * organization can exist for moments after a partition.
 */
export const stockEntityActor = (options: { readonly capacity?: number } = {}) =>
  StockEntity.toLayerQueue(
    Effect.gen(function*() {
      const repo = yield* ReservationRepo
      const actor = systemActor((yield* Entity.CurrentAddress).entityId)
      const memory = new StockEntityCache(options.capacity ?? remembered)
      const serve: Serve = (groups) =>
        serveBatch(repo, memory, groups.map(toStockEntity)).pipe(
          Effect.provideService(CurrentActor, actor),
          // After a failure nobody knows what was written: the table says, at the next look.
          Effect.onExit((exit) => (Exit.isFailure(exit) ? Effect.sync(() => memory.clear()) : Effect.void)),
          Effect.exit
        )
      return (queue, replier) =>
        Queue.takeBetween(queue, 1, batchSize).pipe(
          Effect.flatMap((requests) => serveNext(serve, replier, requests)),
          // A dead loop would answer every later call with its last defect.
          Effect.catchCause((cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.failCause(cause)
              : Effect.logError("The stock desk stumbled", cause)
          ),
          Effect.forever
        )
    }),
    { disableFatalDefects: true, maxIdleTime: "5 minutes" }
  )
