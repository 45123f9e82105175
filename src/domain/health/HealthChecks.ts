import { Context, Data, type Effect } from "effect"

/** Result of one check of the deployment: its runners, their shards, and the delay of messages. */
export interface HealthChecks {
  /** Addresses of the runners whose last heartbeat is recent enough to count as alive. */
  readonly runners: ReadonlyArray<string>
  /** This process's address among them; undefined for a process that runs no entities. */
  readonly self: string | undefined
  /** Numbers of all shards of the deployment. */
  readonly shards: ReadonlyArray<number>
  /** Numbers of the shards that a live runner owns. */
  readonly owned: ReadonlySet<number>
  /** Time in ms since which the oldest due message waits for a runner; undefined without one. */
  readonly waitingSince: number | undefined
}

/** The database did not return the state of the deployment in time. */
export class HealthUnknown extends Data.TaggedError("VitalsUnknown")<{ readonly cause: unknown }> {}

/** Checks the deployment in one statement of constant cost. */
export class DeploymentHealth extends Context.Service<DeploymentHealth, {
  readonly look: Effect.Effect<HealthChecks, HealthUnknown>
}>()("stoa/domain/health/DeploymentHealth") {}
