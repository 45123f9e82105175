import type { Price } from "./Price.ts"
import type { PriceModifier } from "./PriceModifier.ts"
import type { ModifierType } from "./PriceResolution.ts"

interface BoundsRow {
  readonly customer_group_id: string | null
  readonly min_quantity: number | null
  readonly max_quantity: number | null
  readonly valid_from: Date | null
  readonly valid_until: Date | null
}

/** A row of `prices` from the driver. */
export interface PriceRecordRow extends BoundsRow {
  readonly id: string
  readonly organization_id: string
  readonly entity_id: string
  readonly variant_id: string | null
  readonly currency: string
  readonly amount: bigint
  readonly compare_at_amount: bigint | null
  readonly metadata: { readonly [key: string]: unknown }
  readonly created_at: Date
  readonly updated_at: Date
}

/** A row of `price_modifiers` from the driver. */
export interface PriceModifierRow extends BoundsRow {
  readonly id: string
  readonly organization_id: string
  readonly name: string
  readonly type: ModifierType
  readonly value: bigint
  readonly priority: number
  readonly entity_id: string | null
  readonly variant_id: string | null
  readonly currency: string | null
  readonly conditions: { readonly [key: string]: unknown }
  readonly metadata: { readonly [key: string]: unknown }
  readonly created_at: Date
  readonly updated_at: Date
}

const boundsOf = (row: BoundsRow) => ({
  customerGroupId: row.customer_group_id,
  minQuantity: row.min_quantity,
  maxQuantity: row.max_quantity,
  validFrom: row.valid_from,
  validUntil: row.valid_until
})

export const toPrice = (row: PriceRecordRow): Price => ({
  id: row.id,
  organizationId: row.organization_id,
  entityId: row.entity_id,
  variantId: row.variant_id,
  currency: row.currency,
  amount: Number(row.amount),
  compareAtAmount: row.compare_at_amount === null ? null : Number(row.compare_at_amount),
  ...boundsOf(row),
  metadata: row.metadata,
  createdAt: row.created_at,
  updatedAt: row.updated_at
})

export const toModifier = (row: PriceModifierRow): PriceModifier => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  type: row.type,
  value: Number(row.value),
  priority: row.priority,
  entityId: row.entity_id,
  variantId: row.variant_id,
  currency: row.currency,
  ...boundsOf(row),
  conditions: row.conditions,
  metadata: row.metadata,
  createdAt: row.created_at,
  updatedAt: row.updated_at
})
