import { Context, Effect, Layer } from "effect"
import type { MessageStorage } from "effect/cluster"

/** Longest wait in ms for an unannounced message: its sender died, or the notice was lost, or it was delayed. */
const longestWait = 2_000

/** Knows whether messages may be waiting. The sharding looks twice a second; most looks need no statement. */
export class MessageArrivals extends Context.Service<MessageArrivals>()("stoa/layers/cluster/MessageArrivals", {
  make: Effect.sync(() => {
    let arrived = true
    let due = Infinity
    let shards = ""
    let lookedAt = -Infinity
    return {
      note: (): void => {
        arrived = true
      },
      noteDelayed: (at: number): void => {
        due = Math.min(due, at)
      },
      begin: (shardIds: ReadonlyArray<string>, now: number): boolean => {
        const names = shardIds.join()
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
  static readonly layer = Layer.effect(MessageArrivals, MessageArrivals.make)
}

export const askedWhenDue = (
  storage: MessageStorage.Encoded,
  { begin, note, noteDelayed }: MessageArrivals["Service"]
): MessageStorage.Encoded => {
  const noting =
    <Args extends ReadonlyArray<unknown>, A, E, R>(change: (...args: Args) => Effect.Effect<A, E, R>) =>
    (...args: Args) =>
      // Also after a failure: the change may be committed.
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
      if (options?.addresses !== undefined) return storage.unprocessedMessages(shardIds, now, options)
      if (!begin(shardIds, now)) return Effect.succeed([])
      return storage.unprocessedMessages(shardIds, now, options).pipe(
        Effect.tap((found) => Effect.sync(() => found.length >= (options?.limit ?? Infinity) ? note() : undefined)),
        Effect.onError(() => Effect.sync(note))
      )
    }
  }
}
