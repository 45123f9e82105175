import { ShardId, ShardingConfig } from "effect/cluster"

/**
 * Namespace of the advisory locks on shards, as `SqlRunnerStorage` has it: its wire format, FNV-1a of the table prefix.
 * PostgreSQL takes it as a signed number and shows it as an unsigned one.
 */
export const lockNamespace: number = (() => {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode("effect-cluster:cluster")) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash | 0
})()

/** Each shard (`group:id`) and the number of its lock, in the same format: a million for each group, in their order. */
export const lockNumbers = (config: ShardingConfig.ShardingConfig["Service"]): ReadonlyMap<string, number> =>
  new Map(
    [...ShardingConfig.shardGroupConfig(config).available].flatMap((group, index) =>
      Array.from({ length: config.shardsPerGroup }, (_, shard) =>
        [ShardId.make(group, shard + 1).toString(), (index + 1) * 1_000_000 + shard + 1] as const)
    )
  )
