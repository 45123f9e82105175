import { Context, Effect, Layer } from "effect"

/**
 * Numbers each uninterrupted holding of a shard. Two equal numbers at two moments: no other runner ran the shard's
 * entities in between, unless this one counts as dead and all its replies are refused.
 */
export class ShardTenure extends Context.Service<ShardTenure>()("stoa/layers/cluster/ShardTenure", {
  make: Effect.sync(() => {
    const holdings = new Map<string, number>()
    let last = 0
    return {
      of: (shardId: string) => holdings.get(shardId),
      begin: (shardIds: Iterable<string>) => {
        last++
        for (const shardId of shardIds) holdings.set(shardId, last)
      },
      end: (shardIds: Iterable<string>) => {
        for (const shardId of shardIds) holdings.delete(shardId)
      }
    }
  })
}) {
  /** One per process; provide the same layer to both storages. */
  static readonly layer = Layer.effect(ShardTenure, ShardTenure.make)
}

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

export const interruptSuffix = "/deferred/Workflow/InterruptSignal"

const workflowPrefix = "Workflow/"
const maxCacheTtl = 1000

/**
 * Spares the look-up of a stored interrupt when a NEW execution is activated. Only an answered interrupt matters, and
 * only the runner that holds the shard answers one: for a row that this process inserted, the unbroken holding excludes
 * other runners, and claims of this process go through `touched`. A look-up uses the knowledge up; it expires after a
 * second. `now` is in ms.
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
  const forget = (execution: string) => {
    known.delete(execution)
    writing.get(execution)?.forEach((starting) => {
      starting.spoiled = true
    })
  }
  const forgetOld = () => {
    for (const [execution, starting] of known) {
      if (isYoung(starting)) return
      known.delete(execution)
    }
  }

  return {
    /** Before the write: notes a workflow's `run` row for a shard held here. */
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
    started: (starting: Starting) => {
      leave(starting)
      forgetOld()
      if (!starting.spoiled) known.set(starting.execution, starting)
    },
    dropped: leave,
    isKnownAbsent: (primaryKey: string) => {
      if (!primaryKey.startsWith(workflowPrefix) || !primaryKey.endsWith(interruptSuffix)) return false
      const execution = primaryKey.slice(0, -interruptSuffix.length)
      const starting = known.get(execution)
      forget(execution)
      return starting !== undefined && isYoung(starting) && tenure.of(starting.shardId) === starting.holding
    },
    touched: ({ entityId, entityType, tag }: Omit<Request, "shardId" | "primaryKey">) => {
      if (tag !== "run" && entityType.startsWith(workflowPrefix)) forget(`${entityType}/${entityId}`)
    }
  }
}

export type ActivationLookups = ReturnType<typeof make>
