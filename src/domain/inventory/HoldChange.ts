import { Data } from "effect"
import type { StockShort } from "./StockRules.ts"

/** What a placed order holds more (above 0) or less of a sellable (variant, else entity). Units. */
export interface HoldChange {
  readonly orderId: string
  readonly entityId: string
  readonly sellable: string
  readonly units: number
}

/** Less stock is available than an order needs in addition. */
export class UnitsShort extends Data.TaggedError("UnitsShort")<Omit<StockShort, "sellable">> {}
