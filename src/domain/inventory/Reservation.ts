import type { WarehouseStock } from "./StockRules.ts"

/**
 * The stock of a sellable (variant, else entity) as the desk remembers it: units by active warehouse, and the version
 * of its row, which every writer moves. Version null: nobody ever stocked it.
 */
export interface StockSnapshot {
  readonly sellable: string
  readonly version: number | null
  readonly levels: ReadonlyArray<WarehouseStock>
}

/** Units of a sellable that a reservation takes from one warehouse. */
export interface ReservationLine {
  readonly sellable: string
  readonly entityId: string
  readonly warehouseId: string
  readonly quantity: number
}

/** A reservation that was decided: who holds, until when, and the pricing (JSON text) pinned beside it. */
export interface Reservation {
  readonly holder: string
  readonly ttlSeconds: number
  readonly pricing: string
  readonly lines: ReadonlyArray<ReservationLine>
}

/** What became of a hold; only `held` and `sold` claim units. */
export type HoldState = "held" | "sold" | "released" | "expired" | "fulfilled"

/** A holder's first word: what he holds or held, and the pricing that was written with it (JSON text). */
export interface PinnedHold {
  readonly holder: string
  readonly state: HoldState
  readonly pricing: string
}

/** What the write found. With a stale sellable nothing was written; else each holder is either fresh or had his hold. */
export interface ReservationOutcome {
  readonly stale: ReadonlyArray<string>
  readonly fresh: ReadonlySet<string>
  readonly had: ReadonlyArray<PinnedHold>
}

/** Who holds what was reserved by hand for an order; it never runs out. */
export const manualHolder = (orderId: string): string => `manual:${orderId}`
