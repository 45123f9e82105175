import { PgConnection } from "@effect/sql-pg"
import { type Cause, Effect, Exit, Queue, type Redacted, Scope } from "effect"
import { ShardId, ShardingConfig } from "effect/cluster"
import type { SqlError } from "effect/sql"
import { connectingTo } from "../config/DatabaseTls.ts"
import { keepAlive } from "../Database.ts"

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

type Asked<A> = Effect.Effect<A, SqlError.SqlError | Cause.TimeoutError>

/** A session of the database that has locks on shards. They end when it does, and no other session can end them. */
export interface LockSession {
  /** Shards (`group:id`) whose locks it has. */
  readonly held: Set<string>
  /** Whether the server cannot have ended it for idleness yet. */
  readonly isCertain: () => boolean
  /** Writes the heartbeat of the runner, and returns the shards whose locks the session has. */
  readonly confirm: (runnerAddress: string) => Asked<ReadonlySet<string | undefined>>
  /** Takes those that are free. */
  readonly take: (shardIds: ReadonlyArray<string>) => Asked<ReadonlyArray<string>>
  readonly unlock: (shardIds: ReadonlyArray<string>) => Asked<void>
  readonly close: Effect.Effect<void>
}

interface Options {
  readonly url: Redacted.Redacted<string>
  readonly numbers: ReadonlyMap<string, number>
  /** The server ends the session, and its locks with it, when it has heard nothing for so long. */
  readonly expirationMs: number
  /** The session has ended, or does not answer. */
  readonly onEnd: (session: LockSession) => Effect.Effect<void>
}

/** Certainty ends so long before the session may: the sharding asks once a second, and a question may take another. */
const marginMs = 2_500

/** Opens one that lasts no longer than the scope. */
export const openLockSession = Effect.fnUntraced(
  function*({ expirationMs, numbers, onEnd, url }: Options, parent: Scope.Scope) {
    const own = yield* Scope.fork(parent)
    const shards = new Map([...numbers].map(([shardId, number]) => [number, shardId]))
    const numberOf = (shardId: string) => numbers.get(shardId) ?? 0
    let answered = performance.now()

    const connect = Effect.gen(function*() {
      const connected = yield* PgConnection.make({
        ...connectingTo(url),
        keepAlive,
        connectTimeout: "10 seconds",
        applicationName: "stoa-cluster-locks",
        startupParameters: { synchronous_commit: "off", idle_session_timeout: String(Math.ceil(expirationMs)) }
      })
      const connection = yield* connected.pin
      // No message arrives here. A listener learns of the end of its connection without a query.
      return { connection, calls: yield* connection.listen("stoa_shard_locks") }
    })
    const { calls, connection } = yield* connect.pipe(
      Scope.provide(own),
      Effect.onError(() => Scope.close(own, Exit.void))
    )

    const ask = (statement: string, values: ReadonlyArray<unknown> = []) =>
      Effect.suspend(() => {
        const sent = performance.now()
        return connection.queryValues(statement, values).pipe(
          Effect.timeout(expirationMs),
          Effect.tap(() =>
            Effect.sync(() => {
              answered = sent
            })
          ),
          Effect.tapCause(() => onEnd(session))
        )
      })

    const session: LockSession = {
      held: new Set(),
      isCertain: () => performance.now() - answered < expirationMs - marginMs,
      confirm: (runnerAddress) =>
        Effect.map(
          ask(
            `with heartbeat as (update cluster_runners set last_heartbeat = now() where address = $1)
            select objid::text from pg_locks where locktype = 'advisory' and granted and objsubid = 2
              and classid = ${lockNamespace >>> 0} and pid = pg_backend_pid()`,
            [runnerAddress]
          ),
          (rows) => new Set(rows.map(([number]) => shards.get(Number(number))))
        ),
      take: (shardIds) =>
        Effect.map(
          ask(`select number from unnest(array[${shardIds.map(numberOf).join(", ")}]) number
            where pg_try_advisory_lock(${lockNamespace}, number)`),
          (rows) => rows.flatMap(([number]) => shards.get(Number(number)) ?? [])
        ),
      unlock: (shardIds) =>
        Effect.asVoid(
          ask(`select ${shardIds.map((id) => `pg_advisory_unlock(${lockNamespace}, ${numberOf(id)})`).join(", ")}`)
        ),
      close: Scope.close(own, Exit.void)
    }
    yield* Effect.forkIn(Effect.catch(Effect.forever(Queue.take(calls)), () => onEnd(session)), own)
    return session
  }
)
