import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import type { PricedCart } from "../../src/domain/checkout/PricedCart.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import type { Order } from "../../src/domain/orders/Order.ts"

/** As the store's own processes do it. */
export const inStore = Effect.provideService(CurrentActor, systemActor("org_default"))

let numbers = 0

/** A cart with one line, as a checkout has claimed it with stock held for it; the order its placing makes. */
export const aPendingOrder = Effect.fnUntraced(
  function*(promotions: PricedCart["promotions"] = [], customerId: string | null = null) {
    const sql = yield* SqlClient.SqlClient
    const [cartId, checkoutId, entityId] = [newId(), newId(), newId()]
    yield* sql`insert into carts (id, organization_id, status, currency, secret_hash, checkout_id, expires_at)
    values (${cartId}::uuid, 'org_default', 'checking_out', 'USD', 'hash', ${checkoutId}::uuid, now() + interval '1 day')`
    yield* sql`insert into cart_lines
      (id, organization_id, cart_id, entity_id, quantity, unit_price_snapshot, currency)
    values (${newId()}::uuid, 'org_default', ${cartId}::uuid, ${entityId}::uuid, 1, 1000, 'USD')`
    yield* sql`insert into holds (organization_id, holder, expires_at)
    values ('org_default', ${checkoutId}, now() + interval '1 hour')`
    const line = {
      id: newId(),
      entityId,
      entityType: "product",
      variantId: null,
      sku: null,
      title: "A thing",
      quantity: 1,
      unitPrice: 1000,
      totalPrice: 1000,
      discountAmount: 0,
      taxAmount: 0
    }
    const totals = {
      subtotal: 1000,
      discountTotal: 0,
      taxTotal: 0,
      taxIncluded: false,
      shippingTotal: 0,
      grandTotal: 1000
    }
    const pricedCart: PricedCart = {
      currency: "USD",
      customerId,
      cartSecretHash: "hash",
      lines: [line],
      promotions,
      rejectedCodes: [],
      metadata: {},
      ...totals
    }
    const order: Order = {
      id: checkoutId,
      organizationId: "org_default",
      orderNumber: `ORD-2020-${String(++numbers).padStart(6, "0")}`,
      customerId,
      status: "pending",
      currency: "USD",
      ...totals,
      amountCaptured: null,
      refundedTotal: 0,
      paymentIntentId: `pi_${checkoutId}`,
      paymentMethodId: "test",
      idempotencyKey: null,
      shippingAddress: null,
      metadata: {},
      placedAt: new Date(),
      updatedAt: new Date(),
      fulfilledAt: null,
      cancelledAt: null,
      lineItems: [{
        ...line,
        orderId: checkoutId,
        isCustomPrice: false,
        refundedQuantity: 0,
        fulfillmentStatus: "unfulfilled",
        metadata: {}
      }]
    }
    return { order, pricedCart, cartId, idempotencyKey: null, provider: "test" }
  }
)
