import type { Cart, CartLine, CartState } from "./Cart.ts"

/** A row of `carts` as the driver gives it: bigint columns as bigint, times as Date. */
export interface CartRow {
  readonly id: string
  readonly organization_id: string
  readonly customer_id: string | null
  readonly status: Cart["status"]
  readonly currency: string
  readonly email: string | null
  readonly secret_hash: string
  readonly version: bigint
  readonly metadata: Cart["metadata"]
  readonly expires_at: Date
  readonly created_at: Date
  readonly updated_at: Date
}

/** A row of `cart_lines` as `to_jsonb` gives it: numbers and texts only. */
export interface LineRow {
  readonly id: string
  readonly cart_id: string
  readonly entity_id: string
  readonly variant_id: string | null
  readonly quantity: number
  readonly unit_price_snapshot: number
  readonly currency: string
  readonly notes: string | null
  readonly metadata: CartLine["metadata"]
  readonly added_at: string
}

export const toLine = (row: LineRow): CartLine => ({
  id: row.id,
  cartId: row.cart_id,
  entityId: row.entity_id,
  variantId: row.variant_id,
  quantity: row.quantity,
  unitPriceSnapshot: row.unit_price_snapshot,
  currency: row.currency,
  notes: row.notes,
  metadata: row.metadata,
  addedAt: new Date(row.added_at)
})

export const toState = (row: CartRow): CartState => ({
  cart: {
    id: row.id,
    organizationId: row.organization_id,
    customerId: row.customer_id,
    status: row.status,
    currency: row.currency,
    email: row.email,
    metadata: row.metadata,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at
  },
  secretHash: row.secret_hash,
  version: Number(row.version)
})
