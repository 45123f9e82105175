import { Context, Effect, Layer } from "effect"
import type { Database } from "../database/DatabaseRepo.ts"
import type { Jobs } from "../jobs/Jobs.ts"

/**
 * The core services by name, for hooks and plugins: what `src/layers/ServiceRegistry.ts` puts into it. Services hold hooks,
 * hooks reach services through this record, and neither imports the other (ADR 20).
 */
export interface CoreServices {}

/** What a process consists of once it has started. */
export interface RegisteredServices {
  readonly services: CoreServices
  /** Absent in a process that was built without a job queue, as some tests are. */
  readonly jobs: Jobs["Service"] | undefined
  readonly database: Database
}

/**
 * Services for handlers of this process. It exists before the services, so that they can be built with hooks, and is
 * filled once all of them are built.
 */
export class ServiceRegistry extends Context.Service<ServiceRegistry, {
  readonly fill: (parts: RegisteredServices) => Effect.Effect<void>
  /** Undefined until it is filled, which is before anything is served. */
  readonly parts: () => RegisteredServices | undefined
}>()("stoa/domain/platform/modules/ServiceRegistry") {
  static readonly layer = Layer.sync(ServiceRegistry, () => emptyServiceRegistry())
}

/** An empty service registry, to be filled after startup. */
export const emptyServiceRegistry = (): ServiceRegistry["Service"] => {
  let filled: RegisteredServices | undefined
  return {
    fill: (parts) =>
      Effect.sync(() => {
        filled = parts
      }),
    parts: () => filled
  }
}
