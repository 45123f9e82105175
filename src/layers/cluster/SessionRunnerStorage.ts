import { Duration, Effect, Layer, Schedule } from "effect"
import { ClusterError, RunnerStorage, ShardingConfig } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { ShardLocks } from "./ShardLocks.ts"

const make = Effect.gen(function*() {
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const locks = yield* ShardLocks
  const { shardLockExpiration } = yield* ShardingConfig.ShardingConfig
  const seconds = Math.ceil(Duration.toSeconds(Duration.fromInputUnsafe(shardLockExpiration)))
  const lastSign = sql`now() - make_interval(secs => ${seconds})`
  const heard = <A, E>(statement: Effect.Effect<A, E>) =>
    Effect.withTracerEnabled(ClusterError.PersistenceError.refail(statement), false)
  // The sharding looks every second or two whether the database is back. These looks last until then, or until it ends
  // them, so that no caller waits for the next one.
  const soon = <A, E>(statement: Effect.Effect<A, E>) =>
    heard(Effect.retry(statement, { schedule: Schedule.spaced("100 millis"), times: 50 }))

  return RunnerStorage.makeEncoded({
    register: (address, runner, healthy) =>
      soon(Effect.map(
        sql<{ machine_id: number }>`
          insert into cluster_runners (address, runner, last_heartbeat, healthy)
          values (${address}, ${runner}, now(), ${healthy})
          on conflict (address) do update
          set runner = excluded.runner, last_heartbeat = excluded.last_heartbeat, healthy = excluded.healthy
          returning machine_id`,
        ([row]) => row?.machine_id ?? 0
      )),
    unregister: (address) =>
      heard(Effect.asVoid(
        sql`delete from cluster_runners where address = ${address} or last_heartbeat < ${lastSign}`
      )),
    getRunners: soon(Effect.map(
      sql<{ runner: string; healthy: boolean }>`
        select runner, healthy from cluster_runners where last_heartbeat > ${lastSign}`,
      (rows) => rows.map(({ healthy, runner }) => [runner, healthy] as const)
    )),
    setRunnerHealth: (address, healthy) =>
      heard(Effect.asVoid(sql`update cluster_runners set healthy = ${healthy} where address = ${address}`)),
    acquire: (address, shardIds) => locks.acquire(address, shardIds),
    refresh: (address, shardIds) => {
      if (shardIds.length > 0) {
        return Effect.map(locks.held, (held) => shardIds.filter((shardId) => held.has(shardId)))
      }
      // How a runner without shards is heard of, and how one that lost them finds out that the database is back.
      return soon(sql`update cluster_runners set last_heartbeat = now() where address = ${address}`).pipe(
        Effect.andThen(locks.lossIsKnown),
        Effect.as([])
      )
    },
    release: (_, shardId) => locks.release(shardId),
    releaseAll: () => locks.releaseAll
  })
})

/**
 * Effect's table of runners, and the locks on shards in a separate session (`ShardLocks`).
 *
 * The stock storage asks the database on one connection whenever a reply is stored, and gives up that connection with all
 * its locks once an answer takes a third of the lock expiration: a process on a busy machine loses its shards again and
 * again. Its table, its locks and their numbers are kept, so that both kinds of processes can be in one deployment.
 */
export const layer: Layer.Layer<
  RunnerStorage.RunnerStorage,
  never,
  ShardLocks | SqlClient.SqlClient | ShardingConfig.ShardingConfig
> = Layer.effect(RunnerStorage.RunnerStorage, make)
