import { Cause, Clock, Effect, Layer, Metric, Option } from "effect"
import {
  ClusterError,
  MessageStorage,
  type Reply,
  ShardId,
  type ShardingConfig,
  Snowflake,
  SqlMessageStorage
} from "effect/cluster"
import type { Digest } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as Batcher from "../../domain/platform/batching/Batcher.ts"
import * as ActivationLookups from "./ActivationLookups.ts"
import { ShardTenure } from "./ActivationLookups.ts"
import * as ClusterStatements from "./ClusterStatements.ts"
import { type ClaimedMessage, fromRow, type NewRequest } from "./ClusterStatements.ts"
import { askedWhenDue, MessageArrivals } from "./MessageArrivals.ts"

export const lookupsSpared = Metric.counter("stoa_cluster_lookups_spared", {
  description: "Activation look-ups of new workflow executions answered without a statement",
  incremental: true
})

const largestBatch = 500

// A failed batch says nothing about one item: try each alone.
const orAlone = <A, E2>(alone: Effect.Effect<A, E2>) => <E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | E2> =>
  Effect.catchCause(
    effect,
    (cause): Effect.Effect<A, E | E2> => Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : alone
  )

const requestOf = ({ envelope, primaryKey }: NewRequest) => ({
  entityType: envelope.address.entityType,
  entityId: envelope.address.entityId,
  tag: envelope.tag,
  shardId: ShardId.toString(envelope.address.shardId),
  primaryKey
})

type Stock = MessageStorage.Encoded
type Statements = ReturnType<typeof ClusterStatements.make>

const makeSave = Effect.fnUntraced(function*(
  stock: Stock,
  statements: Statements,
  lookups: ActivationLookups.ActivationLookups
) {
  const batcher = yield* Batcher.make({
    name: "messages.save",
    maxSize: largestBatch,
    write: (requests: ReadonlyArray<NewRequest>) =>
      Effect.map(
        statements.insertRequests(requests),
        (inserted) => requests.map(({ envelope }) => inserted.has(BigInt(envelope.requestId)))
      )
  })
  const alone = (request: NewRequest) =>
    Effect.map(stock.saveEnvelope(request), (result) =>
      // The batch may have committed although its answer was lost: the duplicate is this request's row.
      result._tag === "Duplicate" && result.originalId === BigInt(request.envelope.requestId)
        && Option.isNone(result.lastReceivedReply)
        ? MessageStorage.SaveResultEncoded.Success()
        : result)

  return (request: NewRequest) =>
    Effect.suspend(() => {
      lookups.touched(requestOf(request))
      const starting = lookups.starting(requestOf(request))
      const together = batcher.submit(request).pipe(
        Effect.onExit((exit) =>
          Effect.sync(() => {
            if (starting === undefined) return
            if (exit._tag === "Success" && exit.value) lookups.started(starting)
            else lookups.dropped(starting)
          })
        ),
        Effect.map((inserted) => inserted ? MessageStorage.SaveResultEncoded.Success() : undefined),
        orAlone<MessageStorage.SaveResult.Encoded | undefined, ClusterError.PersistenceError>(alone(request))
      )
      return Effect.flatMap(
        together,
        (result) => result === undefined ? stock.saveEnvelope(request) : Effect.succeed(result)
      )
    })
})

const makeSaveReply = Effect.fnUntraced(function*(stock: Stock, statements: Statements) {
  const batcher = yield* Batcher.make({
    name: "replies.save",
    maxSize: largestBatch,
    write: (replies: ReadonlyArray<Reply.WithExitEncoded>) =>
      Effect.as(statements.insertReplies(replies), replies.map(() => true))
  })
  // A batch may commit with its answer lost, even while replies are stored alone: a refusal counts only if the reply is
  // missing after it.
  const alone = (reply: Reply.WithExitEncoded) =>
    Effect.catchCause(stock.saveReply(reply), (refused) =>
      Effect.flatMap(
        Effect.orElseSucceed(statements.isReplyStored(reply.id), () => false),
        (stored) => stored ? Effect.void : Effect.failCause(refused)
      ))
  return (reply: Reply.WithExitEncoded) => Effect.asVoid(batcher.submit(reply)).pipe(orAlone(alone(reply)))
})

const makeRequestIdFor = Effect.fnUntraced(function*(
  stock: Stock,
  statements: Statements,
  lookups: ActivationLookups.ActivationLookups
) {
  const batcher = yield* Batcher.make({
    name: "messages.requestId",
    maxSize: largestBatch,
    write: (primaryKeys: ReadonlyArray<string>) =>
      Effect.map(
        statements.requestIds([...new Set(primaryKeys)]),
        (ids) =>
          primaryKeys.map((primaryKey) => Option.map(Option.fromUndefinedOr(ids.get(primaryKey)), Snowflake.Snowflake))
      )
  })
  return (primaryKey: string) =>
    Effect.suspend(() =>
      lookups.isKnownAbsent(primaryKey)
        ? Effect.as(Metric.update(lookupsSpared, 1), Option.none<Snowflake.Snowflake>())
        : orAlone(stock.requestIdForPrimaryKey(primaryKey))(batcher.submit(primaryKey))
    )
})

const maxKeyLength = 255

const quiet = Effect.withTracerEnabled(false)

const noting = (lookups: ActivationLookups.ActivationLookups) => (messages: Array<ClaimedMessage>) => {
  for (const { envelope } of messages) {
    if (envelope._tag === "Request") lookups.touched({ ...envelope.address, tag: envelope.tag })
  }
  return messages
}

/**
 * The stock storage with group-committed saves, final replies and look-ups, and a claim with a fixed text. Calls inside
 * a transaction are the stock storage's. Needs the known tables (`ClusterTables`).
 */
export const makeEncoded = Effect.gen(function*() {
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const clock = yield* Clock.Clock
  const stock = yield* SqlMessageStorage.makeEncodedStorage({})
  const statements = ClusterStatements.make(sql)
  const lookups = ActivationLookups.make(yield* ShardTenure, () => clock.currentTimeMillisUnsafe())
  const save = yield* makeSave(stock, statements, lookups)
  const saveReply = yield* makeSaveReply(stock, statements)
  const requestIdFor = yield* makeRequestIdFor(stock, statements, lookups)

  const unlessInTransaction = <A, E>(inside: Effect.Effect<A, E>, outside: Effect.Effect<A, E>) =>
    Effect.flatMap(Effect.serviceOption(sql.transactionService), (open) => Option.isSome(open) ? inside : outside)

  const encoded: MessageStorage.Encoded = {
    ...stock,
    saveEnvelope: (options) => {
      const { deliverAt, envelope, primaryKey } = options
      if (envelope._tag !== "Request" || primaryKey === null || primaryKey.length > maxKeyLength) {
        return stock.saveEnvelope(options)
      }
      return unlessInTransaction(
        stock.saveEnvelope(options),
        save({ envelope, primaryKey, deliverAt }).pipe(ClusterError.PersistenceError.refail, quiet)
      )
    },
    saveReply: (reply) =>
      reply._tag !== "WithExit" ? stock.saveReply(reply) : unlessInTransaction(
        stock.saveReply(reply),
        saveReply(reply).pipe(ClusterError.PersistenceError.refail, quiet)
      ),
    requestIdForPrimaryKey: (primaryKey) =>
      primaryKey.length > maxKeyLength ? stock.requestIdForPrimaryKey(primaryKey) : unlessInTransaction(
        stock.requestIdForPrimaryKey(primaryKey),
        requestIdFor(primaryKey).pipe(ClusterError.PersistenceError.refail, quiet)
      ),
    unprocessedMessages: (shardIds, now, options) =>
      options?.addresses?.length === 0 ? Effect.succeed([]) : statements.claim(
        shardIds,
        now,
        options?.limit,
        options?.addresses
      ).pipe(
        Effect.map((rows) => noting(lookups)(rows.map(fromRow))),
        ClusterError.PersistenceError.refail,
        quiet
      ),
    unprocessedMessagesById: (ids, now) => Effect.map(stock.unprocessedMessagesById(ids, now), noting(lookups))
  }
  return encoded
})

/**
 * Effect's SQL message storage with group commit: same tables and guarantees. Its `SqlClient` should have separate
 * connections (`ClusterStorage`).
 */
export const layer: Layer.Layer<
  MessageStorage.MessageStorage,
  never,
  SqlClient.SqlClient | ShardingConfig.ShardingConfig | Digest.Digest | ShardTenure | MessageArrivals
> = Layer.effect(
  MessageStorage.MessageStorage,
  Effect.flatMap(
    Effect.zipWith(makeEncoded, MessageArrivals, askedWhenDue),
    MessageStorage.makeEncoded
  )
).pipe(
  Layer.provide(Snowflake.layerGenerator)
)
