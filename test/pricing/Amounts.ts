import { Effect } from "effect"
import type { ResolvedPrice } from "../../src/domain/pricing/PriceResolution.ts"

/** The unit amounts of resolved prices, null where there was none. */
export const amounts = <E, R>(resolved: Effect.Effect<ReadonlyArray<ResolvedPrice | null>, E, R>) =>
  Effect.map(resolved, (prices) => prices.map((price): number | null => price?.finalAmount ?? null))
