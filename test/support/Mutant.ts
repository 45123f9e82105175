import { startService } from "./Service.ts"

const hook = new URL("mutate.ts", import.meta.url).href

/**
 * Starts the service as a separate process in which one filter of organizations is taken out, named as in
 * `src/domain/catalog/brands/BrandRepo.ts#2`.
 */
export const startMutant = (mutant: string, databaseUrl: string) =>
  startService({
    databaseUrl,
    fromSources: ["--import", hook],
    environment: { STOA_MUTANT: mutant, STOA_LOG_LEVEL: "none" }
  })
