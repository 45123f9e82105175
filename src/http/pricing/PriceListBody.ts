import { Schema } from "effect"
import { Pagination, paginationOf } from "../../domain/paging/Paging.ts"
import { Price } from "../../domain/pricing/Price.ts"
import { PriceModifier } from "../../domain/pricing/PriceModifier.ts"
import type { PriceList } from "../../domain/pricing/Prices.ts"

/** Answer of `GET /pricing/prices`: an object of two lists, with the pagination of the prices (contract §7). */
export const PriceListBody = Schema.Struct({
  data: Schema.Struct({ prices: Schema.Array(Price), modifiers: Schema.Array(PriceModifier) }),
  meta: Schema.Struct({ pagination: Pagination })
})

/** The answer for a page of prices. */
export const toPriceListBody = ({ modifiers, prices }: PriceList): typeof PriceListBody.Type => ({
  data: { prices: prices.items, modifiers },
  meta: { pagination: paginationOf(prices) }
})
