import { Effect, Layer } from "effect"
import type { RunnerAddress, ShardId } from "effect/cluster"
import { ClusterError, RunnerStorage } from "effect/cluster"
import * as Batcher from "../../domain/batching/Batcher.ts"
import { ShardTenure } from "./ShardTenure.ts"

interface Refresh {
  readonly address: RunnerAddress.RunnerAddress
  readonly shardIds: ReadonlyArray<ShardId.ShardId>
}

/** What a refresh of several shards fails with that finds none of them held. */
const allLost = () => new ClusterError.PersistenceError({ cause: new Error("all locks of shards were lost at once") })

/**
 * Wraps a `RunnerStorage` so that all lock refreshes asked for while one is in flight are answered by ONE following
 * refresh of the union of their shards. A cluster runner confirms the lock of a shard before it stores any reply; with
 * hundreds of shards these confirmations hardly ever meet on the same shard, and each costs a heartbeat and a full read
 * of the advisory locks on the one lock connection.
 *
 * The fence is as strong as before: the shared refresh starts after every one of its callers asked, and each caller is
 * told only about the shards it asked for and which are really held. An empty refresh is the liveness probe of a
 * runner whose lock connection is in doubt; it goes straight through and must not queue behind that connection. A
 * failed refresh fails all its callers: trying each alone would multiply the load on a connection that is in trouble.
 *
 * Locks that are all gone at once went with their connection, and others may have them by now. Told only that they are not
 * held, the runner would let its actors finish for up to ten seconds, and have none of these shards again before; as a
 * failure it stops them at once and takes the shards anew.
 *
 * Also keeps `ShardTenure` up to date. Errors are those of the wrapped storage.
 */
export const make = Effect.gen(function*() {
  const inner = yield* RunnerStorage.RunnerStorage
  const tenure = yield* ShardTenure

  const refreshUnion = Effect.fnUntraced(
    function*(address: RunnerAddress.RunnerAddress, calls: ReadonlyArray<Refresh>) {
      const asked = new Map(
        calls.flatMap((call) => call.shardIds.map((shardId) => [shardId.toString(), shardId] as const))
      )
      const held = new Set((yield* inner.refresh(address, asked.values())).map((shardId) => shardId.toString()))
      tenure.end([...asked.keys()].filter((shardId) => !held.has(shardId)))
      return held
    }
  )

  const batcher = yield* Batcher.make<Refresh, Array<ShardId.ShardId>, ClusterError.PersistenceError>({
    name: "locks.refresh",
    maxSize: 10_000,
    write: Effect.fnUntraced(function*(calls) {
      // One process has one address; grouping keeps a stray second one correct.
      const byAddress = Map.groupBy(calls, (call) => `${call.address.host}:${call.address.port}`)
      const heldBy = new Map<string, ReadonlySet<string>>()
      for (const [key, group] of byAddress) {
        const [first] = group
        if (first !== undefined) heldBy.set(key, yield* refreshUnion(first.address, group))
      }
      return calls.map((call) => {
        const held = heldBy.get(`${call.address.host}:${call.address.port}`)
        return call.shardIds.filter((shardId) => held?.has(shardId.toString()) === true)
      })
    })
  })

  return RunnerStorage.RunnerStorage.of({
    ...inner,
    acquire: (address, shardIds) =>
      Effect.tap(
        inner.acquire(address, shardIds),
        (acquired) => Effect.sync(() => tenure.begin(acquired.map((shardId) => shardId.toString())))
      ),
    refresh: (address, shardIds) => {
      const asked = [...shardIds]
      if (asked.length === 0) return inner.refresh(address, asked)
      const confirmed = batcher.submit({ address, shardIds: asked })
      return asked.length === 1 ? confirmed : Effect.filterOrFail(confirmed, (held) => held.length > 0, allLost)
    },
    // The holding ends before the lock is given up: in between nobody may rely on it.
    release: (address, shardId) =>
      Effect.andThen(Effect.sync(() => tenure.end([shardId.toString()])), inner.release(address, shardId)),
    releaseAll: (address) => Effect.andThen(Effect.sync(() => tenure.endAll()), inner.releaseAll(address))
  })
})

/** `make` as a layer over the stock storage given to it; see `ClusterStorage` for the connections it should have. */
export const layer: Layer.Layer<RunnerStorage.RunnerStorage, never, RunnerStorage.RunnerStorage | ShardTenure> = Layer
  .effect(RunnerStorage.RunnerStorage, make)
