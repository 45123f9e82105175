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
  /** `database`, `runners`, `shards`, `messages`, `migrations` and what modules contribute. */
  checks: Schema.StructWithRest(Schema.Struct({ database: Check, runners: Check, shards: Check, messages: Check }), [
    Schema.Record(Schema.String, Check)
  ])
}

/** The deployment does its work: reads are answered, changes reach their actors (ARCHITECTURE §5). */
export const Ready = Schema.Struct({ status: Schema.Literal("ready"), ...Body })

/** 503: at least one check fails, and the message of each that does says why. Not the error envelope, like health. */
export class Unready extends Schema.Error<Unready>("Unready")({
  status: Schema.Literal("unready"),
  ...Body
}, { httpApiStatus: 503 }) {
  readonly _tag = "Unready"
}

/** Nothing is asked any more of a process that was told to stop. */
const stopping: AllChecks = {
  database: { status: "unknown" },
  runners: { status: "unknown" },
  shards: { status: "unknown" },
  messages: { status: "unknown" },
  process: { status: "failing", message: "This process was told to stop." }
}

/** What was found, and what it means. */
export interface Assessment {
  /** None while the database cannot be asked. */
  readonly healthChecks: Option.Option<HealthChecks>
  readonly checks: AllChecks
}

/**
 * Whether the deployment does its work, as `GET /api/ready` and the metrics tell it. However many ask, the database is
 * asked at most once a second.
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
