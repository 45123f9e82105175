import { DateTime, Effect } from "effect"
import { systemActor } from "../../domain/access/Actor.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { demoRows } from "./DemoRows.ts"
import { seedOnce } from "./SeedRepo.ts"

/**
 * Fills the default organization with a demo store: products with words in two languages, prices in two currencies,
 * stock and promotions, so that a first start has something to sell. A store that has any catalog entity is left as it
 * is, also when two processes start at once.
 */
export const seedDemoStore = Effect.gen(function*() {
  const { defaultOrganizationId } = yield* StoreSettings
  const now = DateTime.toDateUtc(yield* DateTime.now)
  const { events, rows } = demoRows(defaultOrganizationId, now)
  const seeded = yield* seedOnce(systemActor(defaultOrganizationId, "system:seed"), rows, events)
  yield* Effect.logInfo(
    seeded
      ? `demo store: ${rows.catalog_entities.length} products, ${rows.variants.length} variants, promotion WELCOME10`
      : "demo store: not needed, the store has a catalog"
  )
})
