import { PgConnection } from "@effect/sql-pg"
import { type Cause, Effect, Exit, Queue, type Redacted, Scope } from "effect"
import { ShardId, ShardingConfig } from "effect/cluster"
import type { SqlError } from "effect/sql"
import { connectingTo } from "../config/DatabaseTls.ts"
import { keepAlive } from "../Database.ts"

/**
 * Namespace of the locks in `SqlRunnerStorage`'s wire format: FNV-1a of the table prefix. PostgreSQL takes it signed
 * and shows it unsigned.
 */
export const lockNamespace: number = (() => {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode("effect-cluster:cluster")) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash | 0
})()

export const lockNumbers = (config: ShardingConfig.ShardingConfig["Service"]): ReadonlyMap<string, number> =>
  new Map(
    [...ShardingConfig.shardGroupConfig(config).available].flatMap((group, index) =>
      Array.from({ length: config.shardsPerGroup }, (_, shard) =>
        [ShardId.make(group, shard + 1).toString(), (index + 1) * 1_000_000 + shard + 1] as const)
    )
  )

export const runnersChanged = "stoa_runners_changed"

/** Ages in seconds. */
interface SeenRunner {
  readonly runner: string
  readonly healthy: boolean
  readonly silentFor: number
}

type Asked<A> = Effect.Effect<A, SqlError.SqlError | Cause.TimeoutError>

/** A database session that holds locks on shards. They end with it. */
export interface LockSession {
  readonly held: Set<string>
  /** False once the server may have ended the session for idleness. */
  readonly isCertain: () => boolean
  readonly confirm: (runnerAddress: string) => Asked<ReadonlySet<string | undefined>>
  readonly runners: ReturnType<typeof seenRunners>
  readonly take: (shardIds: ReadonlyArray<string>) => Asked<ReadonlyArray<string>>
  readonly unlock: (shardIds: ReadonlyArray<string>) => Asked<void>
  readonly close: Effect.Effect<void>
}

interface Options {
  readonly url: Redacted.Redacted<string>
  readonly numbers: ReadonlyMap<string, number>
  readonly expirationMs: number
  readonly onEnd: (session: LockSession) => Effect.Effect<void>
}

const confirmation = `with heartbeat as (update cluster_runners set last_heartbeat = now() where address = $1)
  select objid::text, null, null, null from pg_locks where locktype = 'advisory' and granted and objsubid = 2
    and classid = ${lockNamespace >>> 0} and pid = pg_backend_pid()
  union all
  select null, runner, healthy, case when address = $1 then 0 else extract(epoch from now() - last_heartbeat)::float8 end
  from cluster_runners`

/** Validity of a heartbeat's runners in ms: slightly longer than its interval. */
const knownFor = 1_500

const seenRunners = (expirationMs: number) => {
  let seen: { readonly at: number; readonly all: ReadonlyArray<SeenRunner> } | undefined
  return {
    see: (rows: ReadonlyArray<ReadonlyArray<unknown>>, at: number): void => {
      const all = rows.flatMap(([number, runner, healthy, silentFor]) =>
        number === null ? [{ runner: String(runner), healthy: healthy === true, silentFor: Number(silentFor) }] : []
      )
      seen = { at, all }
    },
    forget: (): void => {
      seen = undefined
    },
    /** Undefined when they may have changed since. */
    known: () => {
      if (seen === undefined) return undefined
      const age = performance.now() - seen.at
      if (age > knownFor) return undefined
      return seen.all.flatMap(({ healthy, runner, silentFor }) =>
        silentFor * 1_000 + age < expirationMs ? [[runner, healthy] as const] : []
      )
    }
  }
}

/** Certainty ends so long before the session may: the sharding asks once a second, and a query may take another. */
const marginMs = 2_500

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
        applicationName: "stoa-cluster-locks",
        startupParameters: { synchronous_commit: "off", idle_session_timeout: String(Math.ceil(expirationMs)) }
      })
      const connection = yield* connected.pin
      return { connection, calls: yield* connection.listen(runnersChanged) }
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

    const runners = seenRunners(expirationMs)

    const session: LockSession = {
      held: new Set(),
      runners,
      isCertain: () => performance.now() - answered < expirationMs - marginMs,
      confirm: (runnerAddress) =>
        Effect.suspend(() => {
          const asked = performance.now()
          return Effect.map(ask(confirmation, [runnerAddress]), (rows) => {
            runners.see(rows, asked)
            return new Set(rows.flatMap(([number]) => number === null ? [] : shards.get(Number(number))))
          })
        }),
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
    const changes = Effect.forever(Effect.tap(Queue.take(calls), () => Effect.sync(runners.forget)))
    yield* Effect.forkIn(Effect.catch(changes, () => onEnd(session)), own)
    return session
  }
)
