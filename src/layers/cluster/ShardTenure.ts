import { Context, Layer } from "effect"

/**
 * Which shards this process holds, and since when: one number per uninterrupted holding.
 *
 * `ShardLocks` writes it, `GroupCommitMessageStorage` reads it. Two equal numbers for a shard, taken at two
 * moments, mean that this process did not lose the shard in between; no other runner can have run the
 * shard's entities in that time, unless this one already counts as dead and every reply it writes is refused.
 */
export class ShardTenure extends Context.Service<ShardTenure, {
  /** The number of the present holding of a shard (`group:id`), or undefined when it is not held. */
  readonly of: (shardId: string) => number | undefined
  /** The shards were just acquired: a new holding begins, even if one was on record. */
  readonly begin: (shardIds: Iterable<string>) => void
  /** The shards were released or found lost. */
  readonly end: (shardIds: Iterable<string>) => void
  /** All shards were released. */
  readonly endAll: () => void
}>()("stoa/layers/cluster/ShardTenure") {
  /** One record per process; provide the same layer to both storages. */
  static readonly layer = Layer.sync(ShardTenure, () => {
    const holdings = new Map<string, number>()
    let last = 0
    return {
      of: (shardId) => holdings.get(shardId),
      begin: (shardIds) => {
        last++
        for (const shardId of shardIds) holdings.set(shardId, last)
      },
      end: (shardIds) => {
        for (const shardId of shardIds) holdings.delete(shardId)
      },
      endAll: () => holdings.clear()
    }
  })
}
