import type { HealthChecks } from "./HealthChecks.ts"

/** A condition of readiness; `unknown` when the database could not be queried. */
export interface Check {
  readonly status: "ok" | "failing" | "unknown"
  /** One sentence for the operator, unless it is ok. */
  readonly message?: string
}

/** The checks of every process. */
export type Checks = {
  /** The database responds. */
  readonly database: Check
  /** A runner is alive; in a process that runs entities: this one is among them. */
  readonly runners: Check
  /** Every shard has an owner. */
  readonly shards: Check
  /** No message waits too long for a runner. */
  readonly messages: Check
}

/** The checks of the deployment and those of modules. */
export type AllChecks = Checks & Readonly<Record<string, Check>>

/** State that readiness keeps between checks. */
export interface Cached {
  /** The last check found all runners and shards healthy: only then does a shard without owner get a grace period. */
  readonly settled: boolean
  /** Shards without owner, and the time in ms of the check that first found it. */
  readonly unowned: ReadonlyMap<number, number>
}

export const nothingCached: Cached = { settled: false, unowned: new Map() }

/**
 * Grace period of shards without owner, in ms: the maximum time of a fail-over (ARCHITECTURE §5). A dead process must
 * not make all others unready.
 */
export const shardGrace = 10_000

/** Maximum wait of a message for a runner, in ms (bars, fail-over). */
export const longestWait = 30_000

const ok: Check = { status: "ok" }
const unknown: Check = { status: "unknown", message: "The database was not asked." }
const failing = (message: string): Check => ({ status: "failing", message })

/** The database could not be queried. Its restart also releases all locks, so shards get no grace period then. */
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
  // Without any owner there is no fail-over to wait for: every change fails.
  if (missing === all) return failing("No shard has an owner.")
  return missing > 0 && late ? failing(`${missing} of ${all} shards have no owner.`) : ok
}

/**
 * Whether the oldest item of a queue has waited too long at `now`; times in ms, undefined without one. Modules use it
 * for their queues: `checkWait("A job", oldestDue, now)`.
 */
export const checkWait = (thing: string, since: number | undefined, now: number, longest = longestWait): Check =>
  since !== undefined && now - since >= longest
    ? failing(`${thing} has been waiting for a runner for more than ${longest / 1_000} s.`)
    : ok

/** Evaluates a check at `now` (ms) with the state of the previous checks. */
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

/** True when no check fails. */
export const allOk = (checks: AllChecks): boolean => Object.values<Check>(checks).every(({ status }) => status === "ok")

/** The messages of the checks that are not ok, as one line. */
export const complaints = (checks: AllChecks): string =>
  Object.values<Check>(checks).flatMap(({ message, status }) => status === "failing" ? [message] : []).join(" ")
