import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer, Option } from "effect"
import {
  ClusterWorkflowEngine,
  type MessageStorage,
  RunnerAddress,
  RunnerHealth,
  Runners,
  RunnerServer,
  type RunnerStorage,
  Sharding,
  ShardingConfig
} from "effect/cluster"
import { RpcServer } from "effect/rpc"
import type { SocketServer } from "effect/socket"
import { randomUUID } from "node:crypto"
import { stockShards } from "../entities/StockEntity.ts"
import { AuthSecret } from "./auth/AuthSecret.ts"
import { clusterHealth, onlyProcess } from "./cluster/ClusterHealth.ts"
import * as ClusterStorage from "./cluster/ClusterStorage.ts"
import type { MessageArrivals } from "./cluster/MessageArrivals.ts"
import { ownShardsOnly, peerClient, peerServer, strictLines } from "./cluster/PeerTransport.ts"
import { withRestartDelays } from "./cluster/RestartDelays.ts"
import { AppConfig, type AppSettings } from "./config/AppConfig.ts"
import { hasPeers } from "./config/NetworkConfig.ts"
import { Database } from "./Database.ts"
import { freePort } from "./FreePort.ts"
import type { DeploymentHealth } from "./health/Readiness.ts"

/**
 * Pins every setting: runners that disagree, for example on the number of shards, would act for each other's actors. A
 * killed runner's work continues elsewhere within six seconds.
 */
const pinned: Omit<ShardingConfig.ShardingConfig["Service"], "runnerAddress" | "runnerListenAddress"> = {
  ...ShardingConfig.defaults,
  availableShardGroups: ["default", stockShards],
  assignedShardGroups: ["default", stockShards],
  shardLockExpiration: "6 seconds",
  shardLockRefreshInterval: "1 second",
  refreshAssignmentsInterval: "500 millis",
  runnerHealthCheckInterval: "2 seconds",
  entityMessagePollInterval: "500 millis",
  entityTerminationTimeout: "10 seconds",
  maxResidentEntities: 50_000,
  shardsPerGroup: 64
}

const unreachable = () => RunnerAddress.make(`${randomUUID()}.invalid`, 0)

const health = RunnerHealth.layerPing.pipe(Layer.provide(Runners.layerRpc), Layer.provide(peerClient))

const amongPeers = RunnerServer.layer.pipe(
  Layer.provide(ownShardsOnly),
  Layer.provideMerge(Sharding.layer),
  Layer.provideMerge(Runners.layerRpc),
  Layer.provide(RpcServer.layerProtocolSocketServer),
  Layer.provide(Layer.mergeAll(peerServer, peerClient, health)),
  Layer.provide(strictLines)
)

const alone = Layer.provideMerge(
  Sharding.layer,
  Layer.merge(Runners.layerNoop, RunnerHealth.layerNoop)
)

const clientOnly = RunnerServer.layerClientOnly.pipe(Layer.provide(peerClient), Layer.provide(strictLines))

const clusterOf = (settings: AppSettings): Layer.Layer<
  Sharding.Sharding | Runners.Runners,
  SocketServer.SocketServerError,
  | AuthSecret
  | DeploymentHealth
  | MessageArrivals
  | MessageStorage.MessageStorage
  | RunnerStorage.RunnerStorage
  | ShardingConfig.ShardingConfig
> => {
  if (settings.role === "api") return clientOnly
  return hasPeers(settings) ? amongPeers : Layer.provideMerge(onlyProcess, alone)
}

/**
 * Joins the cluster (ARCHITECTURE §5): a runner owns shards and actors, an api process is a client. Connections are
 * encrypted (`PeerTransport`); message and lock tables are in one database.
 */
export const clusterLayer = Layer.unwrap(
  Effect.gen(function*() {
    const config = yield* AppConfig
    const { url } = yield* Database
    const listens = hasPeers(config)
    const port = config.runnerPort === 0 && listens ? yield* Effect.promise(freePort) : config.runnerPort
    const address = listens ? RunnerAddress.make(config.runnerHost, port) : unreachable()
    const shardingConfig = ShardingConfig.layer({
      ...pinned,
      runnerAddress: config.role === "api" ? Option.none() : Option.some(address),
      runnerListenAddress: listens ? Option.some(address) : Option.none()
    })
    return ClusterWorkflowEngine.layer.pipe(
      Layer.provideMerge(withRestartDelays),
      Layer.provideMerge(clusterOf(config)),
      Layer.provideMerge(ClusterStorage.layer(url)),
      Layer.provideMerge(clusterHealth),
      Layer.provide([shardingConfig, AuthSecret.layer]),
      Layer.provide(NodeCrypto.layer)
    )
  })
)
