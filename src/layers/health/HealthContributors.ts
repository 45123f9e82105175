import { Context, Effect, Layer } from "effect"
import type { Check } from "../../http/health/HealthApi.ts"

export interface Contribution {
  readonly name: string
  /** Called at most once a second. A failure or a timeout of two seconds is `unknown`, which is not ready. */
  readonly check?: Effect.Effect<Check, object>
  /** Updates gauges before the export. A failure leaves them unchanged. */
  readonly metrics?: Effect.Effect<void, object>
}

export class HealthContributors extends Context.Service<HealthContributors>()("stoa/layers/health/HealthContributors", {
  make: Effect.sync(() => {
    const known = new Map<string, Contribution>()
    return {
      register: (contribution: Contribution) =>
        Effect.suspend(() => {
          const { name } = contribution
          if (known.has(name)) return Effect.die(new Error(`Two contributions to readiness are called '${name}'.`))
          known.set(name, contribution)
          return Effect.void
        }),
      all: (): ReadonlyArray<Contribution> => [...known.values()]
    }
  })
}) {
  static readonly layer = Layer.effect(HealthContributors, HealthContributors.make)

  static readonly add = <E, R>(
    contribution: Effect.Effect<Contribution, E, R>
  ): Layer.Layer<never, E, HealthContributors | R> =>
    Layer.effectDiscard(
      Effect.flatMap(contribution, (made) => Effect.flatMap(HealthContributors, ({ register }) => register(made)))
    )
}

const timeout = "2 seconds"

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

export const metricsOf = (contributions: ReadonlyArray<Contribution>): Effect.Effect<void> =>
  Effect.forEach(contributions, ({ metrics = Effect.void, name }) =>
    metrics.pipe(
      Effect.timeout(timeout),
      Effect.catchCause((cause) => Effect.logDebug(`the metrics of ${name} could not be read`, cause))
    ), { concurrency: "unbounded", discard: true })
