import { Effect, Layer, Schedule } from "effect"
import { ShardId, Sharding, ShardingConfig } from "effect/cluster"
import { DeploymentHealth } from "../health/Readiness.ts"

const advice = "This process listens for no other one, so what they own it cannot reach. " +
  "Set STOA_RUNNER_HOST and STOA_RUNNER_PORT for every process of the deployment, or end the others."

/** A predecessor that was killed has its shards for some seconds more. */
const firstLook = "15 seconds"

/** Says it in the log when a process that listens for nobody is not the only one on its database. */
export const onlyProcess = Layer.effectDiscard(Effect.gen(function*() {
  const sharding = yield* Sharding.Sharding
  const healthChecks = yield* DeploymentHealth
  const { shardsPerGroup } = yield* ShardingConfig.ShardingConfig
  const look = Effect.gen(function*() {
    const { owned } = yield* healthChecks.look
    const own = Array.from({ length: shardsPerGroup }, (_, index) => ShardId.make("default", index + 1))
      .filter((shardId) => sharding.hasShardId(shardId)).length
    if (owned.size > own) yield* Effect.logWarning(`${owned.size - own} shards belong to other processes. ${advice}`)
  })
  // A database that is away says so elsewhere.
  yield* Effect.ignore(look).pipe(
    Effect.repeat(Schedule.spaced("1 minute")),
    Effect.delay(firstLook),
    Effect.forkScoped
  )
}))
