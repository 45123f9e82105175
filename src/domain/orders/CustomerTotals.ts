import { Schema } from "effect"

const figures = {
  /** Orders that were not cancelled. */
  count: Schema.Int,
  /** Total of the orders minus refunds, in minor units. */
  lifetimeSpend: Schema.Int,
  /** The same for one order, rounded. */
  averageBasket: Schema.Int
}

/** A customer's orders in one currency. */
const CurrencyTotals = Schema.Struct({ currency: Schema.String, ...figures }).annotate({ identifier: "CurrencyTotals" })
type CurrencyTotals = typeof CurrencyTotals.Type

/**
 * What a customer has bought in total (contract, platform §8). Amounts of different currencies are never added up: the
 * sums use the currency of most orders, and every currency is listed separately.
 */
export const CustomerTotals = Schema.Struct({
  ...figures,
  currency: Schema.NullOr(Schema.String),
  byCurrency: Schema.Array(CurrencyTotals)
}).annotate({ identifier: "CustomerTotals" })
export type CustomerTotals = typeof CustomerTotals.Type

/** Orders and amount of one currency, the one of most orders first. */
export interface SpentIn {
  readonly currency: string
  readonly count: number
  readonly spent: number
}

export const customerTotals = (spent: ReadonlyArray<SpentIn>): CustomerTotals => {
  const byCurrency = spent.map(({ count, currency, spent }): CurrencyTotals => ({
    currency,
    count,
    lifetimeSpend: spent,
    averageBasket: Math.round(spent / count)
  }))
  const [most] = byCurrency
  return {
    count: spent.reduce((sum, { count }) => sum + count, 0),
    lifetimeSpend: most?.lifetimeSpend ?? 0,
    averageBasket: most?.averageBasket ?? 0,
    currency: most?.currency ?? null,
    byCurrency
  }
}
