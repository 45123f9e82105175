import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { Draining } from "./Draining.ts"
import { DeploymentHealth, type HealthChecks } from "./HealthChecks.ts"
import { checksOf, HealthContributors } from "./HealthContributors.ts"
import { type AllChecks, allOk, complaints, judge, nothingCached, unreachable } from "./ReadinessRules.ts"

const Check = Schema.Struct({
  status: Schema.Literals(["ok", "failing", "unknown"]),
  message: Schema.optionalKey(Schema.String)
})

const Body = {
  version: Schema.String,
  /** `database`, `runners`, `shards`, `messages`, `migrations` and the checks of modules. */
  checks: Schema.StructWithRest(Schema.Struct({ database: Check, runners: Check, shards: Check, messages: Check }), [
    Schema.Record(Schema.String, Check)
  ])
}

/** The deployment works: it serves reads, and changes reach their entities (ARCHITECTURE §5). */
export const Ready = Schema.Struct({ status: Schema.Literal("ready"), ...Body })

/** 503: at least one check fails, and its message says why. Like health, not the error envelope. */
export class Unready extends Schema.Error<Unready>("Unready")({
  status: Schema.Literal("unready"),
  ...Body
}, { httpApiStatus: 503 }) {
  readonly _tag = "Unready"
}

/** A process that is shutting down runs no further checks. */
const stopping: AllChecks = {
  database: { status: "unknown" },
  runners: { status: "unknown" },
  shards: { status: "unknown" },
  messages: { status: "unknown" },
  process: { status: "failing", message: "This process was told to stop." }
}

/** The result of a check and its state for the next one. */
export interface Assessment {
  /** None while the database cannot be queried. */
  readonly healthChecks: Option.Option<HealthChecks>
  readonly checks: AllChecks
}

/**
 * Whether the deployment works, for `GET /api/ready` and the metrics. The database is queried at most once a second,
 * for any number of callers.
 */
export class Readiness extends Context.Service<Readiness, {
  readonly check: Effect.Effect<typeof Ready.Type, Unready>
  readonly assess: Effect.Effect<Assessment>
}>()("stoa/domain/health/Readiness") {
  static readonly layerOf = (version: string) =>
    Layer.effect(
      Readiness,
      Effect.gen(function*() {
        const { look } = yield* DeploymentHealth
        const contributions = yield* HealthContributors
        const farewell = yield* Draining
        let remembered = nothingCached
        let wasReady: boolean | undefined

        const tellChange = (checks: AllChecks) =>
          Effect.suspend(() => {
            const ready = allOk(checks)
            if (ready === wasReady) return Effect.void
            wasReady = ready
            return ready ? Effect.logInfo("ready") : Effect.logWarning(`not ready: ${complaints(checks)}`)
          })

        const assess = Effect.gen(function*() {
          const healthChecks = yield* Effect.tapError(
            look,
            ({ cause }) => Effect.logDebug("readiness is unknown", cause)
          )
            .pipe(
              Effect.option
            )
          const now = yield* Clock.currentTimeMillis
          const judged = Option.match(healthChecks, {
            onNone: () => unreachable,
            onSome: (found) => judge(remembered, found, now)
          })
          remembered = judged.remembered
          const checks: AllChecks = { ...judged.checks, ...yield* checksOf(contributions.all()) }
          yield* tellChange(checks)
          return { healthChecks, checks }
        })

        const latest = yield* Effect.cachedWithTTL(assess, "1 second")
        return Readiness.of({
          assess: latest,
          check: Effect.suspend(() =>
            farewell.begun
              ? Effect.fail(new Unready({ status: "unready", version, checks: stopping }))
              : Effect.flatMap(latest, ({ checks }) =>
                allOk(checks)
                  ? Effect.succeed({ status: "ready", version, checks } as const)
                  : Effect.fail(new Unready({ status: "unready", version, checks })))
          )
        })
      })
    )
}
