import { Effect } from "effect"
import { linePricesOf, type PricedLine, Prices } from "../../src/domain/pricing/Prices.ts"

/** The unit amounts of the prices of lines, null where there is none. */
export const amounts = (
  lines: ReadonlyArray<PricedLine>,
  currency: string,
  groups: ReadonlyArray<string>,
  now: Date
) =>
  Prices.use((prices) =>
    Effect.map(
      prices.candidates(lines, currency, now),
      (found) =>
        linePricesOf(lines, found, { currency, groups, now, types: {} }).map((price): number | null =>
          price?.finalAmount ?? null
        )
    )
  )
