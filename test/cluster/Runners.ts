import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { type Duration, Effect, Exit, Layer, Option, Redacted, Scope } from "effect"
import { ClusterWorkflowEngine, RunnerAddress, RunnerHealth, Runners, Sharding, ShardingConfig } from "effect/cluster"
import type { WorkflowEngine } from "effect/workflow"
import * as ClusterStorage from "../../src/layers/cluster/ClusterStorage.ts"
import { freePort } from "../support/FreePort.ts"

/** One process as the product assembles it, with few shards so that it starts at once. */
export const aProcess = <E, R>(url: string, workflows: Layer.Layer<never, E, R>) =>
  workflows.pipe(
    Layer.provideMerge(ClusterWorkflowEngine.layer.pipe(Layer.provide(NodeCrypto.layer))),
    Layer.provideMerge(Sharding.layer),
    Layer.provideMerge(Runners.layerNoop),
    Layer.provideMerge(ClusterStorage.layer(Redacted.make(url))),
    Layer.provide(RunnerHealth.layerNoop),
    Layer.provide(
      ShardingConfig.layer({ shardsPerGroup: 8, entityMessagePollInterval: 50, refreshAssignmentsInterval: 50 })
    )
  )

/** A runner with these workflows, with connections, a socket and shards as in a separate process. */
export const aRunner = Effect.fnUntraced(
  function*(
    url: string,
    workflows: Layer.Layer<never, never, WorkflowEngine.WorkflowEngine>,
    locks: {
      readonly shardLockExpiration?: number
      readonly shardLockRefreshInterval?: number
      readonly entityTerminationTimeout?: Duration.Input
    } = {}
  ) {
    const shardingConfig = {
      runnerAddress: Option.some(RunnerAddress.make("127.0.0.1", yield* Effect.promise(freePort))),
      runnerListenAddress: Option.none(),
      shardsPerGroup: 8,
      shardLockExpiration: 60_000,
      ...locks,
      entityMessagePollInterval: 50,
      entityReplyPollInterval: 20,
      refreshAssignmentsInterval: 50
    }
    const layer = workflows.pipe(
      Layer.provideMerge(ClusterWorkflowEngine.layer.pipe(Layer.provide(NodeCrypto.layer))),
      Layer.provideMerge(NodeClusterSocket.layer({ storage: "byo", shardingConfig })),
      Layer.provideMerge(
        ClusterStorage.layer(Redacted.make(url)).pipe(Layer.provide(ShardingConfig.layer(shardingConfig)))
      )
    )
    const scope = yield* Scope.make()
    const context = yield* Effect.provideService(Layer.build(Layer.fresh(layer)), Scope.Scope, scope)
    const stop = Scope.close(scope, Exit.void)
    yield* Effect.addFinalizer(() => stop)
    return { context, stop }
  }
)
