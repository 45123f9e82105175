import { Context, Effect, Layer, Schema } from "effect"
import { HealthRepo } from "./HealthRepo.ts"

/** The service can work (spec §4, GET /health). */
export const Healthy = Schema.Struct({ status: Schema.Literal("ok"), version: Schema.String })

/** 503: the process lives, its database does not answer (spec §4). Not the error envelope: the specification's own shape. */
export class Unhealthy extends Schema.Error<Unhealthy>("Unhealthy")({
  status: Schema.Literal("error"),
  version: Schema.String,
  database: Schema.Literal("unreachable")
}, { httpApiStatus: 503 }) {
  readonly _tag = "Unhealthy"
}

/** What `GET /api/health` answers. However many ask, and anybody may, the database is asked at most once a second. */
export class Health extends Context.Service<Health, {
  readonly check: Effect.Effect<typeof Healthy.Type, Unhealthy>
  /** What a process answers that lives, whatever its database does. */
  readonly alive: typeof Healthy.Type
}>()("stoa/domain/health/Health") {
  static readonly layerOf = (version: string) =>
    Layer.effect(
      Health,
      Effect.gen(function*() {
        const repo = yield* HealthRepo
        const latest = yield* Effect.cachedWithTTL(repo.databaseAnswers, "1 second")
        return Health.of({
          alive: { status: "ok", version },
          check: Effect.flatMap(latest, (answers) =>
            answers
              ? Effect.succeed({ status: "ok", version } as const)
              : Effect.fail(new Unhealthy({ status: "error", version, database: "unreachable" })))
        })
      })
    )
}
