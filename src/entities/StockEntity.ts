import { Cause, Clock, Context, Data, Effect, Exit, Layer, Metric, Queue, Random, Result, Schema } from "effect"
import { ClusterSchema, Entity, type Envelope, Sharding } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { countReservations, ReservationRepo } from "../domain/inventory/ReservationRepo.ts"
import { maxUnits } from "../domain/inventory/StockLevel.ts"
import { CurrentActor, currentOrganization, systemActor } from "../domain/platform/access/Actor.ts"
import { Unavailable } from "../domain/platform/errors/ApiErrors.ts"
import { EntityId, Uuid, WarehouseId } from "../domain/platform/ids/Id.ts"
import { clockTolerance } from "./EntityCall.ts"
import { serveBatch, StockEntityCache, type StockReply, type StockRequest } from "./StockEntityBatch.ts"

/** One sellable has too little stock over all active warehouses; nothing was reserved. Units. */
export class StockShort extends Schema.TaggedError<StockShort>()("StockShort", {
  sellableId: Schema.String,
  title: Schema.String,
  available: Schema.Int,
  requested: Schema.Int
}) {}

export class HoldGone extends Schema.TaggedError<HoldGone>()("HoldGone", { holder: Schema.String }) {}

/**
 * `pricing` is the JSON value that its holder stored first, perhaps with other spaces or key order. `fresh` is false
 * for a repeat.
 */
export const Reserved = Schema.TaggedStruct("Reserved", { pricing: Schema.String, fresh: Schema.Boolean })
export type Reserved = typeof Reserved.Type

/**
 * `holder` is the checkout id, `sellableId` the variant, else the entity. The stock is held for `ttlSeconds` with
 * `pricing` (JSON text). Past `deadline` (epoch ms) the request is dropped.
 */
export const ReserveStock = Schema.Struct({
  holder: Schema.String,
  lines: Schema.Array(Schema.Struct({
    sellableId: Uuid,
    entityId: EntityId,
    quantity: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxUnits })),
    title: Schema.String,
    /** Units of the sellable that may wait for stock, with those that wait already. Absent: none. */
    backorders: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxUnits })))
  })),
  warehouseId: Schema.optional(WarehouseId),
  ttlSeconds: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 31_536_000 })),
  pricing: Schema.String,
  deadline: Schema.Int
})
export type ReserveStock = typeof ReserveStock.Type

/**
 * A shard changes hands when all that runs on it has ended, and a checkout ends when it has its stock: on one shard,
 * both would wait for each other until the termination timeout.
 */
export const stockShards = "stock"

/**
 * The stock entity of an organization. The call is volatile: repeat it with the same holder after a time-out, and
 * release the holder when the checkout fails (contract 3.6).
 */
export const StockEntity = Entity.make("StockEntity", [
  Rpc.make("reserve", { payload: ReserveStock, success: Reserved, error: Schema.Union([StockShort, HoldGone]) })
]).annotate(ClusterSchema.ShardGroup, () => stockShards)

const batchSize = 250

/** A sum that grows faster than the count means a rush. */
const batches = Metric.histogram("stoa_stock_batch_size", {
  description: "Checkouts written in one batch of a stock entity",
  boundaries: [1, 2, 4, 8, 16, 32, 64, 128, 250]
})

const cacheCapacity = 50_000

/** After a failed batch each request is tried alone, but after so many failures in a row the rest fails with it. */
const maxFailures = 3

type RpcsOf<E> = E extends Entity.Entity<infer _Type, infer Rpcs> ? Rpcs : never
type Request = Envelope.Request<RpcsOf<typeof StockEntity>>
type Replier = Entity.Replier<RpcsOf<typeof StockEntity>>
type Outcome = Exit.Exit<ReadonlyMap<string, StockReply>>

type Group = readonly [Request, ...ReadonlyArray<Request>]

const toStockRequest = ([{ payload }]: Group): StockRequest => ({
  holder: payload.holder,
  pricing: payload.pricing,
  ttlSeconds: payload.ttlSeconds,
  warehouseId: payload.warehouseId,
  lines: payload.lines.map(({ sellableId, title: _, ...line }) => ({ ...line, sellable: sellableId }))
})

const answerTo = (
  payload: ReserveStock,
  answer: StockReply | undefined,
  repeat: boolean
): Exit.Exit<Reserved, StockShort | HoldGone> => {
  if (answer === undefined) return Exit.die(new Error("The stock entity left a request of its batch unanswered."))
  if (answer._tag === "Gone") return Exit.fail(new HoldGone({ holder: payload.holder }))
  if (answer._tag === "Reserved") {
    return Exit.succeed({ _tag: "Reserved", pricing: answer.pricing, fresh: answer.fresh && !repeat })
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

const recordMetrics = (outcome: Outcome) => {
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
      const outcome = failures < maxFailures ? yield* Effect.tap(serve([group]), recordMetrics) : failed
      failures = Exit.isSuccess(outcome) ? 0 : failures + 1
      yield* replyTo(replier, [group], outcome)
    }
  }
)

const serveNext = Effect.fnUntraced(function*(serve: Serve, replier: Replier, requests: ReadonlyArray<Request>) {
  const now = yield* Clock.currentTimeMillis
  const late = requests.filter(({ payload }) => payload.deadline < now)
  // The sender has given up and released its holder.
  yield* replyTo(
    replier,
    byHolder(late),
    Exit.die(new Error("The request reached the stock entity past its deadline."))
  )
  const groups = byHolder(requests.filter(({ payload }) => payload.deadline >= now))
  if (groups.length === 0) return
  yield* Metric.update(batches, groups.length)
  const outcome = yield* Effect.tap(serve(groups), recordMetrics)
  if (Exit.isSuccess(outcome)) return yield* replyTo(replier, groups, outcome)
  yield* Effect.logWarning(`The stock entity failed to write ${groups.length} requests at once`, outcome.cause)
  if (groups.length === 1) return yield* replyTo(replier, groups, outcome)
  return yield* oneByOne(serve, replier, groups, outcome)
})

/**
 * Takes all waiting requests, allocates in memory and writes one statement: a commit per batch and not per buyer. The
 * version rows guard the stock, because two entities of one organization can exist for moments after a partition.
 */
export const stockEntityActor = (options: { readonly capacity?: number } = {}) =>
  StockEntity.toLayerQueue(
    Effect.gen(function*() {
      const repo = yield* ReservationRepo
      const actor = systemActor((yield* Entity.CurrentAddress).entityId)
      const cache = new StockEntityCache(options.capacity ?? cacheCapacity)
      const serve: Serve = (groups) =>
        serveBatch(repo, cache, groups.map(toStockRequest)).pipe(
          Effect.provideService(CurrentActor, actor),
          // After a failure the cache may differ from the table.
          Effect.onExit((exit) => (Exit.isFailure(exit) ? Effect.sync(() => cache.clear()) : Effect.void)),
          Effect.exit
        )
      return (queue, replier) =>
        Queue.takeBetween(queue, 1, batchSize).pipe(
          Effect.flatMap((requests) => serveNext(serve, replier, requests)),
          // A dead loop would answer every later call with this defect.
          Effect.catchCause((cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.failCause(cause)
              : Effect.logError("The stock entity failed", cause)
          ),
          Effect.forever
        )
    }),
    { disableFatalDefects: true, maxIdleTime: "5 minutes" }
  )

/** Milliseconds of one call; a healthy entity answers within a few. */
const callTimeout = 2_000

/** Milliseconds of all calls together: longer than a fail-over of the entity's runner. */
const timeout = 15_000

/** Milliseconds; they grow, with jitter: callers do not come back all at once. */
const delays = { first: 50, longest: 1_000 } as const

/** This process stops and reaches no entity any more; another process can still reserve. */
export class ProcessStopping extends Data.TaggedError("ProcessStopping") {}

type ReserveError = StockShort | HoldGone | ProcessStopping | Unavailable

const toReserveError = (error: { readonly _tag: string }, stopping: boolean): ReserveError => {
  if (error._tag === "StockShort" || error._tag === "HoldGone") return error as StockShort | HoldGone
  return stopping && error._tag === "EntityNotAssignedToRunner" ? new ProcessStopping() : Unavailable.of()
}

export type ReserveCall = (
  organization: string,
  request: ReserveStock
) => Effect.Effect<Reserved, { readonly _tag: string }>

const client = (send: ReserveCall, isStopping: Effect.Effect<boolean>): StockClient["Service"] => ({
  reserve: Effect.fn("StockClient.reserve")(function*(request: Omit<ReserveStock, "deadline">) {
    const organization = yield* currentOrganization
    const until = (yield* Clock.currentTimeMillis) + timeout
    // One deadline for all calls: under load, the first may be served while a later one waits.
    const call = Effect.suspend(() => send(organization, { ...request, deadline: until - clockTolerance })).pipe(
      Effect.timeout(callTimeout),
      Effect.catch((error) => Effect.flatMap(isStopping, (stopping) => Effect.fail(toReserveError(error, stopping)))),
      // A failed write answers with a defect. Repeating it is safe: a holder reserves once.
      Effect.catchDefect(() => Effect.fail(Unavailable.of()))
    )
    for (let delay: number = delays.first;; delay = Math.min(2 * delay, delays.longest)) {
      const answer = yield* Effect.result(call)
      if (Result.isSuccess(answer)) return answer.success
      const pause = delay * (yield* Random.nextBetween(0.8, 1.2))
      const isLate = (yield* Clock.currentTimeMillis) + pause + callTimeout > until
      if (answer.failure._tag !== "Unavailable" || isLate) return yield* answer.failure
      yield* Effect.sleep(pause)
    }
  })
})

/**
 * Reserves stock at the entity. Repeats a call without an answer after 2 s with the same holder, and fails with 503
 * after 15 s. Release the holder after every failure: one of the calls may have succeeded.
 */
export class StockClient extends Context.Service<StockClient, {
  readonly reserve: (
    request: Omit<ReserveStock, "deadline">
  ) => Effect.Effect<Reserved, ReserveError, CurrentActor>
}>()("stoa/entities/StockClient") {
  static readonly layer = Layer.effect(
    StockClient,
    Effect.gen(function*() {
      const clientOf = yield* StockEntity.client
      const { isShutdown } = yield* Sharding.Sharding
      return client((organization, request) => clientOf(organization).reserve(request), isShutdown)
    })
  )
  static readonly layerOf = (send: ReserveCall, isStopping = Effect.succeed(false)): Layer.Layer<StockClient> =>
    Layer.succeed(StockClient, client(send, isStopping))
}
