import { Context, Duration, Effect, Fiber, Layer, type Redacted, Semaphore } from "effect"
import { ClusterError, ShardingConfig } from "effect/cluster"
import { ShardTenure } from "./ActivationLookups.ts"
import { lockNumbers, type LockSession, openLockSession } from "./LockSession.ts"

/** How often the session is heard of, which is also the runner's heartbeat. */
const renewal = "1 second"

/** The runner has to stop its work for its shards at once, and to acquire them again. */
const allLost = () =>
  new ClusterError.PersistenceError({ cause: new Error("the session with the locks of shards ended") })

/** Lets the loop hear first what came while it stood still: that the session has ended, above all. */
const aTurnOfTheLoop = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** The session that there is, and what the runner knows of it. */
interface State {
  session: LockSession | undefined
  /** Locks were lost, and the runner has not heard of it yet. */
  unreported: boolean
  address: string
}

/** What the runner holds, in step with what its session has. */
const holdingsOf = (state: State, tenure: ShardTenure["Service"]) => {
  /** The holding ends before the lock does: in between it counts as not held. */
  const giveUp = (session: LockSession, shardIds: ReadonlyArray<string>): ReadonlyArray<string> => {
    const own = shardIds.filter((id) => session.held.delete(id))
    tenure.end(own)
    return own
  }

  const releaseShards = (shardIds: () => Iterable<string>) =>
    Effect.suspend(() => {
      const { session } = state
      // Read also without a session: what an ended one had must not be released from the next one.
      const released = [...shardIds()]
      if (session === undefined) return Effect.void
      const own = giveUp(session, released)
      return own.length === 0 ? Effect.void : session.unlock(own)
    })

  const next: Array<string> = []

  /**
   * Adds a shard to those that are released next. The sharding releases one by one, and on a busy machine sixty round trips
   * take seconds in which nothing works for those shards.
   */
  const releaseNext = (shardId: string) => {
    next.push(shardId)
    return releaseShards(() => next.splice(0))
  }

  const confirm = (session: LockSession) =>
    Effect.map(session.confirm(state.address), (found) => {
      giveUp(session, [...session.held].filter((id) => !found.has(id)))
    })

  const take = Effect.fnUntraced(function*(session: LockSession, shardIds: ReadonlyArray<string>) {
    const missing = shardIds.filter((id) => !session.held.has(id))
    if (missing.length === 0) return []
    const taken = yield* session.take(missing)
    for (const shardId of taken) session.held.add(shardId)
    tenure.begin(taken)
    return taken
  })

  return { confirm, releaseNext, releaseShards, take }
}

/**
 * The locks on shards, held by a separate session that a fiber keeps alive.
 *
 * They are lost when the session ends and by nothing else. The server ends it when it heard nothing for the lock
 * expiration, so a process that is frozen for some seconds, or whose database does, keeps its shards, and one that
 * is frozen does not. A killed process' session ends with it.
 */
export class ShardLocks extends Context.Service<ShardLocks>()("stoa/layers/cluster/ShardLocks", {
  make: Effect.fnUntraced(function*(url: Redacted.Redacted<string>) {
    const config = yield* ShardingConfig.ShardingConfig
    const [scope, tenure] = yield* Effect.all([Effect.scope, ShardTenure])
    const turn = Semaphore.makeUnsafe(1).withPermits(1)
    const state: State = { session: undefined, unreported: false, address: "" }
    const { confirm, releaseNext, releaseShards, take } = holdingsOf(state, tenure)
    const forked = <A, E>(work: Effect.Effect<A, E>) => Effect.forkIn(work, scope, { startImmediately: true })

    const lose = (session: LockSession) =>
      Effect.suspend(() => {
        if (state.session === session) {
          state.session = undefined
          state.unreported = session.held.size > 0
          tenure.end(session.held)
        }
        return forked(session.close)
      })

    const open = openLockSession({
      url,
      numbers: lockNumbers(config),
      expirationMs: Duration.toMillis(Duration.fromInputUnsafe(config.shardLockExpiration)),
      onEnd: lose
    }, scope).pipe(Effect.tap((session) =>
      Effect.sync(() => {
        state.session = session
      })
    ))

    // A caller may stop waiting. The statement continues, so that the recorded state stays true.
    const untilDone = <A, E>(work: Effect.Effect<A, E>) =>
      Effect.flatMap(forked(ClusterError.PersistenceError.refail(turn(work))), Fiber.join)

    /** Takes those that are free, and returns those that are held now. */
    const acquire = (address: string, shardIds: ReadonlyArray<string>) =>
      Effect.suspend(() => {
        let [taken, wanted]: [ReadonlyArray<string>, boolean] = [[], true]
        const work = Effect.gen(function*() {
          // The runner has to hear first that those it had are gone, or it would go on with them.
          if (!wanted || state.unreported) return []
          state.address = address
          const session = state.session ?? (yield* open)
          if (!wanted) return []
          taken = yield* take(session, shardIds)
          if (!wanted) yield* releaseShards(() => taken)
          return shardIds.filter((id) => session.held.has(id))
        })
        return Effect.onInterrupt(untilDone(work), () => {
          wanted = false
          return forked(Effect.ignore(releaseShards(() => taken)))
        })
      })

    /**
     * What is held: known from the session's last answer, and asked for once that could be too old. Fails after a loss.
     */
    const held = Effect.gen(function*() {
      yield* aTurnOfTheLoop
      const { session } = state
      if (session === undefined || state.unreported) return yield* allLost()
      if (!session.isCertain()) {
        yield* untilDone(Effect.suspend(() => session.isCertain() ? Effect.void : confirm(session)))
        if (state.session !== session) return yield* allLost()
      }
      return session.held
    })

    yield* Effect.suspend(() => {
      const { session } = state
      return session === undefined || session.held.size === 0 ? Effect.void : Effect.ignore(turn(confirm(session)))
    }).pipe(Effect.delay(renewal), Effect.forever, Effect.withTracerEnabled(false), Effect.forkIn(scope))

    return {
      acquire,
      runners: () => state.session?.runners,
      held,
      release: (shardId: string) => Effect.suspend(() => untilDone(releaseNext(shardId))),
      releaseAll: untilDone(releaseShards(() => state.session?.held ?? [])),
      /** The runner knows that all were lost: others may be acquired. */
      lossIsKnown: Effect.sync(() => {
        state.unreported = false
      })
    }
  })
}) {
  /** Of one process; what is held is also written into its `ShardTenure`. */
  static readonly layer = (url: Redacted.Redacted<string>) => Layer.effect(ShardLocks, ShardLocks.make(url))
}
