import type { WarehouseStock } from "./StockRules.ts"

/** Stock of a sellable (variant, else entity) by active warehouse. Every write increases `version`; null: never stocked. */
export interface StockSnapshot {
  readonly sellable: string
  readonly version: number | null
  readonly levels: ReadonlyArray<WarehouseStock>
}

/** Units of a sellable to reserve in one warehouse. */
export interface ReservationLine {
  readonly sellable: string
  readonly entityId: string
  readonly warehouseId: string
  readonly quantity: number
}

/** An allocated reservation; `pricing` is JSON text stored with it. */
export interface Reservation {
  readonly holder: string
  readonly ttlSeconds: number
  readonly pricing: string
  readonly lines: ReadonlyArray<ReservationLine>
}

/** State of a hold; only `held` and `sold` reserve units. */
export type HoldState = "held" | "sold" | "released" | "expired" | "fulfilled"

/** The hold of a holder and the pricing (JSON text) stored with it. */
export interface PinnedHold {
  readonly holder: string
  readonly state: HoldState
  readonly pricing: string
}

/**
 * Result of a write. If a sellable is stale, nothing was written; otherwise each holder is new or already had a hold.
 */
export interface ReservationOutcome {
  readonly stale: ReadonlyArray<string>
  readonly fresh: ReadonlySet<string>
  readonly existing: ReadonlyArray<PinnedHold>
}

/** The holder of a manual reservation for an order, which never expires. */
export const manualHolder = (orderId: string): string => `manual:${orderId}`
