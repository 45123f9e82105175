import { Context, Effect, Layer } from "effect"
import { Draining } from "./Draining.ts"
import { type Healthy, Unhealthy } from "./HealthAnswer.ts"
import { HealthRepo } from "./HealthRepo.ts"

/** The response of `GET /api/health`. The route is public, so the database is checked at most once a second. */
export class Health extends Context.Service<Health, {
  readonly check: Effect.Effect<typeof Healthy.Type, Unhealthy>
  /** The response of a live process, independent of the database. */
  readonly alive: typeof Healthy.Type
}>()("stoa/domain/health/Health") {
  static readonly layerOf = (version: string) =>
    Layer.effect(
      Health,
      Effect.gen(function*() {
        const repo = yield* HealthRepo
        const farewell = yield* Draining
        const latest = yield* Effect.cachedWithTTL(repo.databaseAnswers, "1 second")
        return Health.of({
          alive: { status: "ok", version },
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
}
