import { Data } from "effect"
import type { StockShort } from "./StockRules.ts"

/** What a placed order holds more (above 0) or less of a sellable (variant, else entity). Units. */
export interface HoldChange {
  readonly orderId: string
  readonly entityId: string
  readonly sellable: string
  readonly units: number
}

/** There is less than an order wants to hold in addition. */
export class UnitsShort extends Data.TaggedError("UnitsShort")<Omit<StockShort, "sellable">> {}
