import { Context, Duration, Effect, Fiber, Layer, type Redacted, Semaphore } from "effect"
import { ClusterError, ShardingConfig } from "effect/cluster"
import { ShardTenure } from "./ActivationLookups.ts"
import { lockNumbers, type LockSession, openLockSession } from "./LockSession.ts"

const renewal = "1 second"

const allLost = () =>
  new ClusterError.PersistenceError({ cause: new Error("the session with the locks of shards ended") })

/** Lets the loop first process what came during a freeze, above all the session's end. */
const aTurnOfTheLoop = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

interface State {
  session: LockSession | undefined
  unreported: boolean
  address: string
}

const holdingsOf = (state: State, tenure: ShardTenure["Service"]) => {
  /** The holding ends before the lock: in between it counts as not held. */
  const giveUp = (session: LockSession, shardIds: ReadonlyArray<string>): ReadonlyArray<string> => {
    const own = shardIds.filter((id) => session.held.delete(id))
    tenure.end(own)
    return own
  }

  const releaseShards = (shardIds: () => Iterable<string>) =>
    Effect.suspend(() => {
      const { session } = state
      // Also without a session: an ended one's shards must not be released from the next.
      const released = [...shardIds()]
      if (session === undefined) return Effect.void
      const own = giveUp(session, released)
      return own.length === 0 ? Effect.void : session.unlock(own)
    })

  const next: Array<string> = []

  /** Batches releases: on a busy machine sixty round trips take seconds in which those shards stand still. */
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
 * Locks on shards, held by a separate session that a fiber keeps alive. They are lost only with the session. The server
 * ends it after silence for the lock expiration: a freeze of some seconds keeps the shards, a longer one loses them.
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

    const untilDone = <A, E>(work: Effect.Effect<A, E>) =>
      Effect.flatMap(forked(ClusterError.PersistenceError.refail(turn(work))), Fiber.join)

    const acquire = (address: string, shardIds: ReadonlyArray<string>) =>
      Effect.suspend(() => {
        let [taken, wanted]: [ReadonlyArray<string>, boolean] = [[], true]
        const work = Effect.gen(function*() {
          // The runner must first learn of the loss, or it would continue with lost shards.
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
      lossIsKnown: Effect.sync(() => {
        state.unreported = false
      })
    }
  })
}) {
  static readonly layer = (url: Redacted.Redacted<string>) => Layer.effect(ShardLocks, ShardLocks.make(url))
}
