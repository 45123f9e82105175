import { Cause, Effect, Metric, Option } from "effect"
import type { ClusterError, Reply } from "effect/cluster"
import { MessageStorage, ShardId, Snowflake } from "effect/cluster"
import * as Batcher from "../../domain/batching/Batcher.ts"
import type * as ActivationLookups from "./ActivationLookups.ts"
import type { NewRequest } from "./ClusterRows.ts"
import type * as ClusterStatements from "./ClusterStatements.ts"

/** Activation look-ups of new executions that were answered without a statement. */
export const lookupsSpared = Metric.counter("stoa_cluster_lookups_spared", {
  description: "Activation look-ups of new workflow executions answered without a statement",
  incremental: true
})

const largestBatch = 500

// A batch that failed says nothing about one item, so each of its items is tried alone; an interrupt is obeyed.
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

/** Saves of keyed requests: one INSERT per batch; a key that exists already is answered by the stock storage. */
export const makeSave = Effect.fnUntraced(function*(
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
      // The batch may have been committed although its answer was lost; then this request met its own row.
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

/** Final replies: one statement per batch. */
export const makeSaveReply = Effect.fnUntraced(function*(stock: Stock, statements: Statements) {
  const batcher = yield* Batcher.make({
    name: "replies.save",
    maxSize: largestBatch,
    write: (replies: ReadonlyArray<Reply.WithExitEncoded>) =>
      Effect.as(statements.insertReplies(replies), replies.map(() => true))
  })
  return (reply: Reply.WithExitEncoded) =>
    Effect.asVoid(batcher.submit(reply)).pipe(
      // Committed with its answer lost: storing it again would be refused as a second final reply.
      orAlone(Effect.flatMap(
        Effect.orElseSucceed(statements.isReplyStored(reply.id), () => false),
        (stored) => stored ? Effect.void : stock.saveReply(reply)
      ))
    )
})

/** Look-ups of request ids by key: one SELECT per batch, none for the first look-up of an execution just started. */
export const makeRequestIdFor = Effect.fnUntraced(function*(
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
