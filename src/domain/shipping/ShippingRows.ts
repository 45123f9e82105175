import type { ShippingRate } from "./ShippingRate.ts"
import type { ShippingZone } from "./ShippingZone.ts"

/** A row of `shipping_zones` as the driver gives it. */
export interface ShippingZoneRow {
  readonly id: string
  readonly organization_id: string
  readonly name: string
  readonly countries: ReadonlyArray<string>
  readonly states: ReadonlyArray<string> | null
  readonly priority: number
  readonly is_active: boolean
  readonly metadata: ShippingZone["metadata"]
  readonly created_at: Date
  readonly updated_at: Date
}

/** A row of `shipping_rates` as the driver gives it. */
export interface ShippingRateRow {
  readonly id: string
  readonly organization_id: string
  readonly zone_id: string
  readonly name: string
  readonly currency: string
  readonly amount: bigint
  readonly min_subtotal: bigint | null
  readonly max_subtotal: bigint | null
  readonly min_weight_grams: bigint | null
  readonly max_weight_grams: bigint | null
  readonly free_shipping_threshold: bigint | null
  readonly is_active: boolean
  readonly metadata: ShippingRate["metadata"]
  readonly created_at: Date
  readonly updated_at: Date
}

const numberOf = (value: bigint | null): number | null => value === null ? null : Number(value)

export const toZone = (row: ShippingZoneRow): ShippingZone => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  countries: row.countries,
  states: row.states,
  priority: row.priority,
  isActive: row.is_active,
  metadata: row.metadata,
  createdAt: row.created_at,
  updatedAt: row.updated_at
})

export const toRate = (row: ShippingRateRow): ShippingRate => ({
  id: row.id,
  organizationId: row.organization_id,
  zoneId: row.zone_id,
  name: row.name,
  currency: row.currency,
  amount: Number(row.amount),
  minSubtotal: numberOf(row.min_subtotal),
  maxSubtotal: numberOf(row.max_subtotal),
  minWeightGrams: numberOf(row.min_weight_grams),
  maxWeightGrams: numberOf(row.max_weight_grams),
  freeShippingThreshold: numberOf(row.free_shipping_threshold),
  isActive: row.is_active,
  metadata: row.metadata,
  createdAt: row.created_at,
  updatedAt: row.updated_at
})
