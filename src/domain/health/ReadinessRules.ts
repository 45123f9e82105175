import type { HealthChecks } from "./HealthChecks.ts"

/** One thing that must hold for the deployment to be ready; `unknown` when the database could not be asked. */
export interface Check {
  readonly status: "ok" | "failing" | "unknown"
  /** One sentence for the operator, unless it is ok. */
  readonly message?: string
}

/** The checks that every process makes. */
export type Checks = {
  /** The database answers. */
  readonly database: Check
  /** A runner is alive; in a process that runs actors: this one is among them. */
  readonly runners: Check
  /** Every shard has an owner. */
  readonly shards: Check
  /** No message waits too long for a runner to take it. */
  readonly messages: Check
}

/** The checks of the deployment and those that modules contribute. */
export type AllChecks = Checks & Readonly<Record<string, Check>>

/** What readiness remembers from look to look. */
export interface Cached {
  /** The last looks found the deployment whole: only then is a shard without owner given time. */
  readonly settled: boolean
  /** Shards without owner, and the time in ms of the look that first missed it. */
  readonly unowned: ReadonlyMap<number, number>
}

export const nothingCached: Cached = { settled: false, unowned: new Map() }

/**
 * How long some shards may be without owner, in ms: as long as a fail-over may take (ARCHITECTURE §5). A process that
 * dies is no reason to call all others unready.
 */
export const shardGrace = 10_000

/** How long a message may wait for a runner to take it, in ms (bars, fail-over). */
export const longestWait = 30_000

const ok: Check = { status: "ok" }
const unknown: Check = { status: "unknown", message: "The database was not asked." }
const failing = (message: string): Check => ({ status: "failing", message })

/** The database could not be asked. Its return also ends all locks, so shards get no time then. */
export const unreachable: { readonly checks: Checks; readonly remembered: Cached } = {
  checks: {
    database: failing("The database does not answer."),
    runners: unknown,
    shards: unknown,
    messages: unknown
  },
  remembered: nothingCached
}

const checkRunners = ({ runners, self }: HealthChecks): Check => {
  if (runners.length === 0) return failing("No runner is alive.")
  return self === undefined || runners.includes(self) ? ok : failing("This runner is not registered.")
}

const checkShards = (missing: number, all: number, late: boolean): Check => {
  // With none there is nobody to wait for: every change is refused.
  if (missing === all) return failing("No shard has an owner.")
  return missing > 0 && late ? failing(`${missing} of ${all} shards have no owner.`) : ok
}

/**
 * Whether the oldest thing of a kind has been waiting too long at the time `now`; times in ms, undefined: none waits.
 * Modules judge their own queues by it: `checkWait("A job", oldestDue, now)`.
 */
export const checkWait = (thing: string, since: number | undefined, now: number, longest = longestWait): Check =>
  since !== undefined && now - since >= longest
    ? failing(`${thing} has been waiting for a runner for more than ${longest / 1_000} s.`)
    : ok

/** Judges a look at the time `now` (ms) by what the looks before it found. */
export const judge = (
  { settled, unowned }: Cached,
  healthChecks: HealthChecks,
  now: number
): { readonly checks: Checks; readonly remembered: Cached } => {
  const missing = healthChecks.shards.filter((shard) => !healthChecks.owned.has(shard))
  const since = new Map(missing.map((shard) => [shard, unowned.get(shard) ?? now]))
  const late = !settled || [...since.values()].some((first) => now - first >= shardGrace)
  const runners = checkRunners(healthChecks)
  const shards = checkShards(missing.length, healthChecks.shards.length, late)
  return {
    checks: { database: ok, runners, shards, messages: checkWait("A message", healthChecks.waitingSince, now) },
    remembered: { settled: runners.status === "ok" && shards.status === "ok", unowned: since }
  }
}

/** True when nothing stands in the way. */
export const allOk = (checks: AllChecks): boolean => Object.values<Check>(checks).every(({ status }) => status === "ok")

/** The messages of what is not ok, as one line. */
export const complaints = (checks: AllChecks): string =>
  Object.values<Check>(checks).flatMap(({ message, status }) => status === "failing" ? [message] : []).join(" ")
