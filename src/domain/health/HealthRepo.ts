import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** Is the database there? For the health route and the `doctor` command. */
export class HealthRepo extends Context.Service<HealthRepo, {
  /** True when a statement came back within two seconds. */
  readonly databaseAnswers: Effect.Effect<boolean>
}>()("stoa/domain/health/HealthRepo") {}

export const healthRepoLayer = Layer.effect(
  HealthRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    HealthRepo.of({
      databaseAnswers: sql`select 1`.pipe(
        Effect.timeout("2 seconds"),
        Effect.as(true),
        Effect.catch(() => Effect.succeed(false))
      )
    }))
)
