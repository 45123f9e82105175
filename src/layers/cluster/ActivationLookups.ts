import { Context, Effect, Layer } from "effect"

/**
 * Which shards this process holds, and since when: one number per uninterrupted holding.
 *
 * `ShardLocks` writes it, `GroupCommitMessageStorage` reads it. Two equal numbers for a shard, taken at two
 * moments, mean that this process did not lose the shard in between; no other runner can have run the
 * shard's entities in that time, unless this one already counts as dead and every reply it writes is refused.
 */
export class ShardTenure extends Context.Service<ShardTenure>()("stoa/layers/cluster/ShardTenure", {
  make: Effect.sync(() => {
    const holdings = new Map<string, number>()
    let last = 0
    return {
      /** The number of the present holding of a shard (`group:id`), or undefined when it is not held. */
      of: (shardId: string) => holdings.get(shardId),
      /** The shards were just acquired: a new holding begins, even if one was on record. */
      begin: (shardIds: Iterable<string>) => {
        last++
        for (const shardId of shardIds) holdings.set(shardId, last)
      },
      /** The shards were released or found lost. */
      end: (shardIds: Iterable<string>) => {
        for (const shardId of shardIds) holdings.delete(shardId)
      }
    }
  })
}) {
  /** One record per process; provide the same layer to both storages. */
  static readonly layer = Layer.effect(ShardTenure, ShardTenure.make)
}

/** A `run` row on its way into the table. */
export interface Starting {
  readonly execution: string
  readonly shardId: string
  readonly holding: number
  readonly at: number
  spoiled: boolean
}

interface Request {
  readonly entityType: string
  readonly entityId: string
  readonly tag: string
  readonly shardId: string
  readonly primaryKey: string
}

/** The key suffix of the one look-up that an activation of a workflow makes. */
export const interruptSuffix = "/deferred/Workflow/InterruptSignal"

const workflowPrefix = "Workflow/"
const maxCacheTtl = 1000

/**
 * Spares the SELECT that every activation of a NEW workflow execution makes: the engine asks for a stored interrupt of
 * the execution, and hands over the next execution only when that is answered, so that round trip bounds how many
 * executions a runner starts.
 *
 * Why "absent" is the right answer without asking. The engine's activation acts only on an interrupt whose request has
 * been ANSWERED. An interrupt is sent only to an execution whose `run` row exists, and it is answered only by the
 * entity on the runner that holds the shard. So for a row that this process inserted, an answer needs a claim of that
 * interrupt after the insert: by another runner, which the unbroken holding of the shard rules out; or by this one,
 * which goes through `touched` and removes the knowledge. One look-up also removes it, so a second activation always
 * asks the table, and nothing is known for longer than a second.
 *
 * `now` is in ms. The pinned engine behaviour is in test/cluster/ActivationLookups.test.ts.
 */
export const make = (tenure: ShardTenure["Service"], now: () => number) => {
  const known = new Map<string, Starting>()
  const writing = new Map<string, Set<Starting>>()

  const isYoung = (starting: Starting) => {
    const age = now() - starting.at
    return age >= 0 && age < maxCacheTtl
  }
  const leave = (starting: Starting) => {
    const others = writing.get(starting.execution)
    others?.delete(starting)
    if (others?.size === 0) writing.delete(starting.execution)
  }
  // A row still being written may already be visible to a claim; what happens to it then must not be forgotten.
  const forget = (execution: string) => {
    known.delete(execution)
    writing.get(execution)?.forEach((starting) => {
      starting.spoiled = true
    })
  }
  // Insertion order is age order, so the old ones are at the front.
  const forgetOld = () => {
    for (const [execution, starting] of known) {
      if (isYoung(starting)) return
      known.delete(execution)
    }
  }

  return {
    /** Before a request is written: notes a workflow's `run` row bound for a shard held here. */
    starting: ({ entityId, entityType, primaryKey, shardId, tag }: Request): Starting | undefined => {
      if (tag !== "run" || !entityType.startsWith(workflowPrefix)) return
      const execution = `${entityType}/${entityId}`
      const holding = tenure.of(shardId)
      if (holding === undefined || primaryKey !== `${execution}/run/`) return
      const starting: Starting = { execution, shardId, holding, at: now(), spoiled: false }
      const others = writing.get(execution)
      if (others === undefined) writing.set(execution, new Set([starting]))
      else others.add(starting)
      return starting
    },
    /** The row was inserted by this write: the execution is new. */
    started: (starting: Starting) => {
      leave(starting)
      forgetOld()
      if (!starting.spoiled) known.set(starting.execution, starting)
    },
    /** The row was not inserted, or its outcome is unknown. */
    dropped: leave,
    /** True when this key is known to have no answered request behind it. Asking uses the knowledge up. */
    isKnownAbsent: (primaryKey: string) => {
      if (!primaryKey.startsWith(workflowPrefix) || !primaryKey.endsWith(interruptSuffix)) return false
      const execution = primaryKey.slice(0, -interruptSuffix.length)
      const starting = known.get(execution)
      forget(execution)
      return starting !== undefined && isYoung(starting) && tenure.of(starting.shardId) === starting.holding
    },
    /** A request other than `run` was written for, or handed out to, this entity. */
    touched: ({ entityId, entityType, tag }: Omit<Request, "shardId" | "primaryKey">) => {
      if (tag !== "run" && entityType.startsWith(workflowPrefix)) forget(`${entityType}/${entityId}`)
    }
  }
}

/** What the message storage records and asks about executions that were just started. */
export type ActivationLookups = ReturnType<typeof make>
