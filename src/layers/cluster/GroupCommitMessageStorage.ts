import { Clock, Effect, Layer, Option } from "effect"
import type { ShardingConfig } from "effect/cluster"
import { ClusterError, MessageStorage, Snowflake, SqlMessageStorage } from "effect/cluster"
import type { Digest } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as ActivationLookups from "./ActivationLookups.ts"
import type { ClaimedMessage } from "./ClusterRows.ts"
import { fromRow } from "./ClusterRows.ts"
import * as ClusterStatements from "./ClusterStatements.ts"
import { makeRequestIdFor, makeSave, makeSaveReply } from "./GroupCommitBatches.ts"
import { ShardTenure } from "./ShardTenure.ts"

/** Longest key the `message_id` column holds as it is; the stock storage stores the hash of a longer one. */
const maxKeyLength = 255

const quiet = Effect.withTracerEnabled(false)

/** Runs a pass over messages that leave the storage, so that nothing stays "known" about entities already at work. */
const noting = (lookups: ActivationLookups.ActivationLookups) => (messages: Array<ClaimedMessage>) => {
  for (const { envelope } of messages) {
    if (envelope._tag === "Request") lookups.touched({ ...envelope.address, tag: envelope.tag })
  }
  return messages
}

/**
 * The stock storage with four members replaced: saves of keyed requests, final replies and look-ups by key are group
 * committed, and the claim has a fixed text. Everything else, and every call inside a transaction of this client, is
 * the stock storage's own. The tables must exist and be the known ones (`ClusterTables`).
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

  // A batch runs on a connection of its own, so a call inside a transaction must not join one.
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
 * Effect's SQL message storage with group commit. Same tables, same guarantees: a save or a reply that has been
 * answered is committed. Its `SqlClient` should have connections of its own (`ClusterStorage`).
 */
export const layer: Layer.Layer<
  MessageStorage.MessageStorage,
  never,
  SqlClient.SqlClient | ShardingConfig.ShardingConfig | Digest.Digest | ShardTenure
> = Layer.effect(MessageStorage.MessageStorage, Effect.flatMap(makeEncoded, MessageStorage.makeEncoded)).pipe(
  Layer.provide(Snowflake.layerGenerator)
)
