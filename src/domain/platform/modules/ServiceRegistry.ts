import { Context, Effect, Layer } from "effect"
import type { Database } from "../database/DatabaseRepo.ts"
import type { Jobs } from "../jobs/Jobs.ts"

/**
 * Core services by name; `src/layers/ServiceRegistry.ts` fills it. Services hold hooks and hooks reach services here,
 * so neither imports the other (ADR 20).
 */
export interface CoreServices {}

export interface RegisteredServices {
  readonly services: CoreServices
  readonly jobs: Jobs["Service"] | undefined
  readonly database: Database
}

/** Services for handlers. It exists before the services, so that they can be built with hooks. */
export class ServiceRegistry extends Context.Service<ServiceRegistry, {
  readonly fill: (parts: RegisteredServices) => Effect.Effect<void>
  readonly parts: () => RegisteredServices | undefined
}>()("stoa/domain/platform/modules/ServiceRegistry") {
  static readonly layer = Layer.sync(ServiceRegistry, () => emptyServiceRegistry())
}

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
