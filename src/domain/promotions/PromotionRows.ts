import type { Promotion } from "./Promotion.ts"
import type { PromotionConditions, PromotionType } from "./PromotionRules.ts"

/** A row of `promotions` from the driver. */
export interface PromotionRecordRow {
  readonly id: string
  readonly organization_id: string
  readonly code: string | null
  readonly name: string
  readonly type: PromotionType
  /** numeric: all digits as text. */
  readonly value: string
  readonly currency: string | null
  readonly buy_quantity: number | null
  readonly get_quantity: number | null
  readonly is_automatic: boolean
  readonly is_active: boolean
  readonly stackable: boolean
  readonly priority: number
  readonly conditions: PromotionConditions
  readonly usage_limit_total: number | null
  readonly usage_limit_per_customer: number | null
  readonly used_count: number
  readonly valid_from: Date | null
  readonly valid_until: Date | null
  readonly metadata: { readonly [key: string]: unknown }
  readonly created_at: Date
  readonly updated_at: Date
}

export const toPromotion = (row: PromotionRecordRow): Promotion => ({
  id: row.id,
  organizationId: row.organization_id,
  code: row.code,
  name: row.name,
  type: row.type,
  value: Number(row.value),
  currency: row.currency,
  buyQuantity: row.buy_quantity,
  getQuantity: row.get_quantity,
  isAutomatic: row.is_automatic,
  isActive: row.is_active,
  stackable: row.stackable,
  priority: row.priority,
  conditions: row.conditions,
  usageLimitTotal: row.usage_limit_total,
  usageLimitPerCustomer: row.usage_limit_per_customer,
  usedCount: row.used_count,
  validFrom: row.valid_from,
  validUntil: row.valid_until,
  metadata: row.metadata,
  createdAt: row.created_at,
  updatedAt: row.updated_at
})
