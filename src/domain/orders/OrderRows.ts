import type { Order, OrderLine } from "./Order.ts"

/** A row of `orders` from the driver: bigint columns as bigint, times as Date. */
export interface OrderRow {
  readonly id: string
  readonly organization_id: string
  readonly order_number: string
  readonly customer_id: string | null
  readonly status: Order["status"]
  readonly currency: string
  readonly subtotal: bigint
  readonly tax_total: bigint
  readonly tax_included: boolean
  readonly shipping_total: bigint
  readonly discount_total: bigint
  readonly grand_total: bigint
  readonly amount_captured: bigint | null
  readonly refunded_total: bigint
  readonly payment_intent_id: string | null
  readonly payment_method_id: string | null
  readonly payment_provider: string | null
  readonly tax_provider: string | null
  readonly idempotency_key: string | null
  readonly cart_id: string | null
  readonly cart_secret_hash: string | null
  readonly shipping_address: Order["shippingAddress"]
  readonly metadata: Order["metadata"]
  readonly is_draft: boolean
  readonly revision: number
  readonly placed_at: Date
  readonly updated_at: Date
  readonly fulfilled_at: Date | null
  readonly cancelled_at: Date | null
  readonly imported_at: Date | null
}

/** A row of `order_lines` as `to_jsonb` encodes it: only numbers and texts. */
export interface OrderLineRow {
  readonly id: string
  readonly order_id: string
  readonly entity_id: string
  readonly entity_type: string
  readonly variant_id: string | null
  readonly sku: string | null
  readonly title: string
  readonly quantity: number
  readonly unit_price: number
  readonly total_price: number
  readonly is_custom_price: boolean
  readonly tax_amount: number
  readonly discount_amount: number
  readonly refunded_quantity: number
  readonly fulfillment_status: OrderLine["fulfillmentStatus"]
  readonly metadata: OrderLine["metadata"]
}

export const toOrderLine = (row: OrderLineRow): OrderLine => ({
  id: row.id,
  orderId: row.order_id,
  entityId: row.entity_id,
  entityType: row.entity_type,
  variantId: row.variant_id,
  sku: row.sku,
  title: row.title,
  quantity: row.quantity,
  unitPrice: row.unit_price,
  totalPrice: row.total_price,
  isCustomPrice: row.is_custom_price,
  taxAmount: row.tax_amount,
  discountAmount: row.discount_amount,
  refundedQuantity: row.refunded_quantity,
  fulfillmentStatus: row.fulfillment_status,
  metadata: row.metadata
})

/** The public record, without internal fields (provider, hash of the cart's secret). */
export const toOrder = (row: OrderRow, lines: ReadonlyArray<OrderLineRow>): Order => ({
  id: row.id,
  organizationId: row.organization_id,
  orderNumber: row.order_number,
  customerId: row.customer_id,
  status: row.status,
  currency: row.currency,
  subtotal: Number(row.subtotal),
  taxTotal: Number(row.tax_total),
  taxIncluded: row.tax_included,
  shippingTotal: Number(row.shipping_total),
  discountTotal: Number(row.discount_total),
  grandTotal: Number(row.grand_total),
  amountCaptured: row.amount_captured === null ? null : Number(row.amount_captured),
  refundedTotal: Number(row.refunded_total),
  paymentIntentId: row.payment_intent_id,
  paymentMethodId: row.payment_method_id,
  idempotencyKey: row.idempotency_key,
  shippingAddress: row.shipping_address,
  metadata: row.metadata,
  ...(row.is_draft ? { isDraft: true } : {}),
  ...(row.imported_at === null ? {} : { importedAt: row.imported_at }),
  placedAt: row.placed_at,
  updatedAt: row.updated_at,
  fulfilledAt: row.fulfilled_at,
  cancelledAt: row.cancelled_at,
  lineItems: lines.map(toOrderLine)
})
