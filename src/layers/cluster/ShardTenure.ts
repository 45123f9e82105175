import { Context, Effect, Layer } from "effect"

/**
 * Which shards this process holds, and since when: one number per uninterrupted holding.
 *
 * `ShardLocks` writes it, `GroupCommitMessageStorage` reads it. Two equal numbers for a shard, taken at two
 * moments, mean that this process did not lose the shard in between; no other runner can have run the
 * shard's entities in that time, unless this one already counts as dead and every reply it writes is refused.
 */
export class ShardTenure extends Context.Service<ShardTenure>()("stoa/layers/cluster/ShardTenure", {
  make: Effect.sync(() => {
    const holdings = new Map<string, number>()
    let last = 0
    return {
      /** The number of the present holding of a shard (`group:id`), or undefined when it is not held. */
      of: (shardId: string) => holdings.get(shardId),
      /** The shards were just acquired: a new holding begins, even if one was on record. */
      begin: (shardIds: Iterable<string>) => {
        last++
        for (const shardId of shardIds) holdings.set(shardId, last)
      },
      /** The shards were released or found lost. */
      end: (shardIds: Iterable<string>) => {
        for (const shardId of shardIds) holdings.delete(shardId)
      },
      /** All shards were released. */
      endAll: () => holdings.clear()
    }
  })
}) {
  /** One record per process; provide the same layer to both storages. */
  static readonly layer = Layer.effect(ShardTenure, ShardTenure.make)
}
