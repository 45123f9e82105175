import { Context, Effect, Layer } from "effect"
import type { MessageStorage } from "effect/cluster"

/**
 * How long a message may wait that this process has not heard of, in ms: its sender died before it could say so, or the word
 * was lost, or another process saved it for a later time.
 */
const longestWait = 2_000

/**
 * Whether messages may be waiting for this process. The sharding looks for them twice a second, which is also how soon it
 * notices other things; most of these looks need no statement.
 */
export class MessageArrivals extends Context.Service<MessageArrivals>()("stoa/layers/cluster/MessageArrivals", {
  make: Effect.sync(() => {
    let arrived = true
    let due = Infinity
    let shards = ""
    let lookedAt = -Infinity
    return {
      /** A message was saved or became free, here or in a process that says so. */
      note: (): void => {
        arrived = true
      },
      /** A message was saved that is to be delivered at this time, in ms. */
      noteDelayed: (at: number): void => {
        due = Math.min(due, at)
      },
      /** Whether to look. Then the look begins: what arrives from now on is for the next one. */
      begin: (shardIds: ReadonlyArray<string>, now: number): boolean => {
        const names = shardIds.join()
        // A clock may be set back.
        const isDue = arrived || now >= due || names !== shards || Math.abs(now - lookedAt) >= longestWait
        if (!isDue) return false
        if (now >= due) due = Infinity
        arrived = false
        shards = names
        lookedAt = now
        return true
      }
    }
  })
}) {
  /** One record per process. */
  static readonly layer = Layer.effect(MessageArrivals, MessageArrivals.make)
}

/** The storage, which is asked for messages only while some may be waiting. */
export const askedWhenDue = (
  storage: MessageStorage.Encoded,
  { begin, note, noteDelayed }: MessageArrivals["Service"]
): MessageStorage.Encoded => {
  const noting =
    <Args extends ReadonlyArray<unknown>, A, E, R>(change: (...args: Args) => Effect.Effect<A, E, R>) =>
    (...args: Args) =>
      // Also after a failure: the answer may have been lost, and not the change.
      Effect.ensuring(change(...args), Effect.sync(note))
  const save = noting(storage.saveEnvelope)
  return {
    ...storage,
    saveEnvelope: (message) => {
      if (message.deliverAt !== null) noteDelayed(message.deliverAt)
      return save(message)
    },
    clearReplies: noting(storage.clearReplies),
    resetRequests: noting(storage.resetRequests),
    resetAddresses: noting(storage.resetAddresses),
    resetShards: noting(storage.resetShards),
    unprocessedMessages: (shardIds, now, options) => {
      // A runner that is full asks for some addresses only, and still has to ask for all.
      if (options?.addresses !== undefined) return storage.unprocessedMessages(shardIds, now, options)
      if (!begin(shardIds, now)) return Effect.succeed([])
      return storage.unprocessedMessages(shardIds, now, options).pipe(
        Effect.tap((found) => Effect.sync(() => found.length >= (options?.limit ?? Infinity) ? note() : undefined)),
        Effect.onError(() => Effect.sync(note))
      )
    }
  }
}
