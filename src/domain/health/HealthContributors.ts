import { Context, Effect, Layer } from "effect"
import type { Check } from "./ReadinessRules.ts"

/** What a module adds to what operators are told of the deployment. */
export interface Contribution {
  /** Name of its check in the answer of readiness. */
  readonly name: string
  /** Asked once a second at most; what fails or takes longer than two seconds is `unknown`, which is not ready. */
  readonly check?: Effect.Effect<Check, object>
  /** Brings its gauges up to date before the metrics are written. What fails leaves them as they were. */
  readonly metrics?: Effect.Effect<void, object>
}

/**
 * Checks and metrics of modules, registered while the process starts: `Contributions.add(Effect.map(JobRepo, (repo) =>
 * ({ name: "jobs", check: … })))`.
 */
export class HealthContributors extends Context.Service<HealthContributors, {
  /** Two of one name are a mistake that ends the start. */
  readonly register: (contribution: Contribution) => Effect.Effect<void>
  readonly all: () => ReadonlyArray<Contribution>
}>()("stoa/domain/health/HealthContributors") {
  static readonly layer = Layer.sync(HealthContributors, () => {
    const known = new Map<string, Contribution>()
    return {
      register: (contribution: Contribution) =>
        Effect.suspend(() => {
          const { name } = contribution
          if (known.has(name)) return Effect.die(new Error(`Two contributions to readiness are called '${name}'.`))
          known.set(name, contribution)
          return Effect.void
        }),
      all: () => [...known.values()]
    }
  })

  /** Registers a contribution that needs services of its own. */
  static readonly add = <E, R>(
    contribution: Effect.Effect<Contribution, E, R>
  ): Layer.Layer<never, E, HealthContributors | R> =>
    Layer.effectDiscard(
      Effect.flatMap(contribution, (made) => Effect.flatMap(HealthContributors, ({ register }) => register(made)))
    )
}

/** How long a module may take to say how it is. */
const timeout = "2 seconds"

/** What all of them say now, by name; nothing one of them does keeps the others from their say. */
export const checksOf = (contributions: ReadonlyArray<Contribution>) =>
  Effect.map(
    Effect.forEach(contributions, ({ check, name }) =>
      check === undefined ? Effect.succeed([]) : check.pipe(
        Effect.timeout(timeout),
        Effect.catchCause((cause) => Effect.as(Effect.logDebug(`the check ${name} could not be made`, cause), unasked)),
        Effect.map((found) => [[name, found] as const])
      ), { concurrency: "unbounded" }),
    (checks): Readonly<Record<string, Check>> => Object.fromEntries(checks.flat())
  )

const unasked: Check = { status: "unknown", message: "The check could not be made." }

/** Has all of them bring their metrics up to date. */
export const metricsOf = (contributions: ReadonlyArray<Contribution>): Effect.Effect<void> =>
  Effect.forEach(contributions, ({ metrics = Effect.void, name }) =>
    metrics.pipe(
      Effect.timeout(timeout),
      Effect.catchCause((cause) => Effect.logDebug(`the metrics of ${name} could not be read`, cause))
    ), { concurrency: "unbounded", discard: true })
