import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer, Option } from "effect"
import { ClusterWorkflowEngine, RunnerAddress, ShardingConfig } from "effect/cluster"
import * as ClusterStorage from "./cluster/ClusterStorage.ts"
import { clusterVitals } from "./cluster/ClusterVitals.ts"
import { withRestartDelays } from "./cluster/RestartDelays.ts"
import { AppConfig } from "./config/AppConfig.ts"
import { Database } from "./Database.ts"
import { freePort } from "./FreePort.ts"

/**
 * All that there is to set, so that no variable of the environment changes any of it: runners that disagree, on how many
 * shards there are for example, would each act for actors of the others.
 *
 * What a killed runner had goes on elsewhere within six seconds: its locks end with its connection, and it counts as dead
 * once it does not answer for 2.5 s. A frozen one, and a killed one that was itself the one that asks, loses its locks and
 * counts as dead when it was not heard of for the lock expiration; the others look twice a second. A process that stands
 * still for less keeps its shards (`ShardLocks`). Durable clocks wake on the message poll.
 */
const pinned: Omit<ShardingConfig.ShardingConfig["Service"], "runnerAddress" | "runnerListenAddress"> = {
  ...ShardingConfig.defaults,
  shardLockExpiration: "6 seconds",
  shardLockRefreshInterval: "2 seconds",
  refreshAssignmentsInterval: "500 millis",
  runnerHealthCheckInterval: "2 seconds",
  entityMessagePollInterval: "500 millis",
  entityTerminationTimeout: "10 seconds",
  maxResidentEntities: 50_000,
  // Every confirmation of the locks reads them all, so no more than spread well over ten runners.
  shardsPerGroup: 64
}

/** The binary form, which is the default, loses the answers of actors in other processes (Effect 4.1.0). */
const serialization = "ndjson"

/**
 * This process's part of the cluster (ARCHITECTURE §5): a runner owns shards and their actors, an api process is a
 * client only. Both speak over sockets and share the message and lock tables of one database.
 */
export const clusterLayer = Layer.unwrap(
  Effect.gen(function*() {
    const config = yield* AppConfig
    const { url } = yield* Database
    const clientOnly = config.role === "api"
    const port = config.runnerPort === 0 ? yield* Effect.promise(freePort) : config.runnerPort
    const address = RunnerAddress.make(config.runnerHost, port)
    const shardingConfig = {
      ...pinned,
      runnerAddress: clientOnly ? Option.none() : Option.some(address),
      runnerListenAddress: clientOnly ? Option.none() : Option.some(RunnerAddress.make(config.runnerHost, port))
    }
    const sharding = ShardingConfig.layerFromEnv(shardingConfig)
    const storage = Layer.provide(ClusterStorage.layer(url), sharding)
    const cluster = clientOnly
      ? NodeClusterSocket.layer({ clientOnly: true, storage: "byo", serialization, shardingConfig })
      : NodeClusterSocket.layer({ storage: "byo", serialization, shardingConfig })
    return ClusterWorkflowEngine.layer.pipe(
      Layer.provideMerge(withRestartDelays),
      Layer.provideMerge(cluster),
      Layer.provideMerge(storage),
      Layer.merge(Layer.provide(clusterVitals, sharding)),
      Layer.provide(NodeCrypto.layer)
    )
  })
)
