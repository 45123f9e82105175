import { Context, Data, type Effect } from "effect"

/** What one look at the deployment found: who runs actors, which shards they own, and how long messages wait. */
export interface HealthChecks {
  /** Addresses of the runners that were heard of lately enough to count as alive. */
  readonly runners: ReadonlyArray<string>
  /** This process's own address among them; undefined for a process that runs no actors. */
  readonly self: string | undefined
  /** Numbers of all shards of the deployment. */
  readonly shards: ReadonlyArray<number>
  /** Numbers of those that a living runner owns. */
  readonly owned: ReadonlySet<number>
  /** Time in ms since which the oldest message that is due waits for a runner to take it; undefined: none waits. */
  readonly waitingSince: number | undefined
}

/** The database did not say how the deployment is, or not in time. */
export class HealthUnknown extends Data.TaggedError("VitalsUnknown")<{ readonly cause: unknown }> {}

/** Takes a look at the deployment: one statement, whatever the tables hold. */
export class DeploymentHealth extends Context.Service<DeploymentHealth, {
  readonly look: Effect.Effect<HealthChecks, HealthUnknown>
}>()("stoa/domain/health/DeploymentHealth") {}
