import { Clock, Context, Data, Effect, Layer, Option } from "effect"
import { type Check, Unhealthy, Unready } from "../../http/health/HealthApi.ts"
import { Health } from "../../http/health/HealthHttp.ts"
import { Draining } from "../../http/server/RequestId.ts"
import { checksOf, HealthContributors } from "./HealthContributors.ts"
import { HealthRepo } from "./HealthRepo.ts"

export interface HealthChecks {
  readonly runners: ReadonlyArray<string>
  readonly self: string | undefined
  readonly shards: ReadonlyArray<number>
  readonly owned: ReadonlySet<number>
  /** Milliseconds: when the oldest waiting message became due. */
  readonly waitingSince: number | undefined
}

export class HealthUnknown extends Data.TaggedError("HealthUnknown")<{ readonly cause: unknown }> {}

/** Checks the deployment in one statement of constant cost. */
export class DeploymentHealth extends Context.Service<DeploymentHealth, {
  readonly look: Effect.Effect<HealthChecks, HealthUnknown>
}>()("stoa/layers/health/DeploymentHealth") {}

export type Checks = {
  readonly database: Check
  readonly runners: Check
  readonly shards: Check
  readonly messages: Check
}

export type AllChecks = Checks & Readonly<Record<string, Check>>

export interface Cached {
  /** Only after a healthy check does a shard without owner get a grace period. */
  readonly settled: boolean
  readonly unowned: ReadonlyMap<number, number>
}

export const nothingCached: Cached = { settled: false, unowned: new Map() }

/** Milliseconds, the maximum of a fail-over (ARCHITECTURE §5): a dead process must not make all others unready. */
export const shardGrace = 10_000

/** Milliseconds (bars, fail-over). */
export const longestWait = 30_000

const ok: Check = { status: "ok" }
const unknown: Check = { status: "unknown", message: "The database was not asked." }
const failing = (message: string): Check => ({ status: "failing", message })

/** Without the database: its restart releases all locks, so shards get no grace period. */
export const unreachable: { readonly checks: Checks; readonly cached: Cached } = {
  checks: {
    database: failing("The database does not answer."),
    runners: unknown,
    shards: unknown,
    messages: unknown
  },
  cached: nothingCached
}

const checkRunners = ({ runners, self }: HealthChecks): Check => {
  if (runners.length === 0) return failing("No runner is alive.")
  return self === undefined || runners.includes(self) ? ok : failing("This runner is not registered.")
}

const checkShards = (missing: number, all: number, late: boolean): Check => {
  if (missing === all) return failing("No shard has an owner.")
  return missing > 0 && late ? failing(`${missing} of ${all} shards have no owner.`) : ok
}

/** Checks the wait of a queue's oldest item at `now`, in ms: `checkWait("A job", oldestDue, now)`. */
export const checkWait = (thing: string, since: number | undefined, now: number, longest = longestWait): Check =>
  since !== undefined && now - since >= longest
    ? failing(`${thing} has been waiting for a runner for more than ${longest / 1_000} s.`)
    : ok

export const judge = (
  { settled, unowned }: Cached,
  healthChecks: HealthChecks,
  now: number
): { readonly checks: Checks; readonly cached: Cached } => {
  const missing = healthChecks.shards.filter((shard) => !healthChecks.owned.has(shard))
  const since = new Map(missing.map((shard) => [shard, unowned.get(shard) ?? now]))
  const late = !settled || [...since.values()].some((first) => now - first >= shardGrace)
  const runners = checkRunners(healthChecks)
  const shards = checkShards(missing.length, healthChecks.shards.length, late)
  return {
    checks: { database: ok, runners, shards, messages: checkWait("A message", healthChecks.waitingSince, now) },
    cached: { settled: runners.status === "ok" && shards.status === "ok", unowned: since }
  }
}

export const allOk = (checks: AllChecks): boolean => Object.values<Check>(checks).every(({ status }) => status === "ok")

export const complaints = (checks: AllChecks): string =>
  Object.values<Check>(checks).flatMap(({ message, status }) => status === "failing" ? [message] : []).join(" ")

const stopping: AllChecks = {
  database: { status: "unknown" },
  runners: { status: "unknown" },
  shards: { status: "unknown" },
  messages: { status: "unknown" },
  process: { status: "failing", message: "This process is stopping." }
}

export interface Assessment {
  readonly healthChecks: Option.Option<HealthChecks>
  readonly checks: AllChecks
}

/** The deployment's readiness, for `GET /api/ready` and metrics. Queries the database at most once a second. */
export class Readiness extends Context.Service<Readiness>()("stoa/layers/health/Readiness", {
  make: (version: string) =>
    Effect.gen(function*() {
      const { look } = yield* DeploymentHealth
      const contributions = yield* HealthContributors
      const farewell = yield* Draining
      let cached = nothingCached
      let wasReady: boolean | undefined

      const logChange = (checks: AllChecks) =>
        Effect.suspend(() => {
          const ready = allOk(checks)
          if (ready === wasReady) return Effect.void
          wasReady = ready
          return ready ? Effect.logInfo("ready") : Effect.logWarning(`not ready: ${complaints(checks)}`)
        })

      const assess = Effect.gen(function*() {
        const healthChecks = yield* look.pipe(
          Effect.tapError(({ cause }) => Effect.logDebug("readiness is unknown", cause)),
          Effect.option
        )
        const now = yield* Clock.currentTimeMillis
        const judged = Option.match(healthChecks, {
          onNone: () => unreachable,
          onSome: (found) => judge(cached, found, now)
        })
        cached = judged.cached
        const checks: AllChecks = { ...judged.checks, ...yield* checksOf(contributions.all()) }
        yield* logChange(checks)
        return { healthChecks, checks }
      })

      const latest = yield* Effect.cachedWithTTL(assess, "1 second")
      return {
        assess: latest,
        check: Effect.suspend(() =>
          farewell.begun
            ? Effect.fail(new Unready({ status: "unready", version, checks: stopping }))
            : Effect.flatMap(latest, ({ checks }) =>
              allOk(checks)
                ? Effect.succeed({ status: "ready", version, checks } as const)
                : Effect.fail(new Unready({ status: "unready", version, checks })))
        )
      }
    })
}) {
  static readonly layerOf = (version: string) => Layer.effect(Readiness, Readiness.make(version))
}

export const healthLayer = (version: string) =>
  Layer.effect(
    Health,
    Effect.gen(function*() {
      const repo = yield* HealthRepo
      const farewell = yield* Draining
      const latest = yield* Effect.cachedWithTTL(repo.databaseAnswers, "1 second")
      return Health.of({
        alive: { status: "ok", version },
        ready: (yield* Readiness).check,
        check: Effect.suspend(() => {
          if (farewell.begun) return Effect.fail(new Unhealthy({ status: "error", version, database: "closing" }))
          return Effect.flatMap(latest, (answers) =>
            answers
              ? Effect.succeed({ status: "ok", version } as const)
              : Effect.fail(new Unhealthy({ status: "error", version, database: "unreachable" })))
        })
      })
    })
  )
