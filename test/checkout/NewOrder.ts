import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { chosenLine } from "../../src/domain/carts/Line.ts"
import type { RunToken } from "../../src/domain/checkout/CheckoutRunRepo.ts"
import { pendingOrder } from "../../src/domain/checkout/PendingOrder.ts"
import type { PricedCart } from "../../src/domain/checkout/PricedCart.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import {
  type CartId,
  type CustomerId,
  type EntityId,
  newId,
  type OrderId,
  type OrderLineId
} from "../../src/domain/platform/ids/Id.ts"

/** Runs as the processes of the store do. */
export const inStore = Effect.provideService(CurrentActor, systemActor("org_default"))

/** A priced cart with one unit. */
export const aPricedCart = (
  entityId = newId<EntityId>(),
  promotions: PricedCart["promotions"] = [],
  customerId: CustomerId | null = null
): PricedCart => {
  const shown = { title: "A thing", variantTitle: null, options: [], sku: null, slug: null, image: null }
  const item = { ...chosenLine({ entityId, quantity: 1 }), entityType: "product", ...shown }
  const price = {
    id: newId<OrderLineId>(),
    unitPrice: 1000,
    listPrice: 1000,
    totalPrice: 1000,
    discountAmount: 0,
    taxAmount: 0
  }
  return {
    currency: "USD",
    customerId,
    cartSecretHash: "hash",
    lines: [{ ...item, ...price }],
    promotions,
    rejectedCodes: [],
    metadata: {},
    subtotal: 1000,
    discountTotal: 0,
    taxTotal: 0,
    shippingTotal: 0,
    grandTotal: 1000
  }
}

let numbers = 0

/** A run of a checkout that a living process has. */
export const aRun = Effect.fnUntraced(function*(checkoutId: OrderId, organizationId = "org_default") {
  const sql = yield* SqlClient.SqlClient
  const owner = newId<RunToken>()
  yield* sql`insert into checkout_runs (id, organization_id, owner, process, payload)
    values (${checkoutId}::uuid, ${organizationId}, ${owner}::uuid, 1, '{}')`
  return { checkoutId, owner }
})

/** A cart with one line that a checkout has claimed, with stock held for it, and the order to create from it. */
export const aPendingOrder = Effect.fnUntraced(
  function*(promotions: PricedCart["promotions"] = [], customerId: CustomerId | null = null) {
    const sql = yield* SqlClient.SqlClient
    const [cartId, checkoutId, entityId] = [newId<CartId>(), newId<OrderId>(), newId<EntityId>()]
    yield* sql`insert into carts (id, organization_id, status, currency, secret_hash, checkout_id, expires_at)
    values (${cartId}::uuid, 'org_default', 'checking_out', 'USD', 'hash', ${checkoutId}::uuid, now() + interval '1 day')`
    yield* sql`insert into cart_lines
      (id, organization_id, cart_id, entity_id, quantity, unit_price_snapshot, currency)
    values (${newId()}::uuid, 'org_default', ${cartId}::uuid, ${entityId}::uuid, 1, 1000, 'USD')`
    yield* sql`insert into holds (organization_id, holder, expires_at)
    values ('org_default', ${checkoutId}, now() + interval '1 hour')`
    const { owner } = yield* aRun(checkoutId)
    const pricedCart = aPricedCart(entityId, promotions, customerId)
    const order = pendingOrder(pricedCart, {}, {
      id: checkoutId,
      organizationId: "org_default",
      orderNumber: `ORD-2018-${String(++numbers).padStart(6, "0")}`,
      paymentIntentId: `pi_${checkoutId}`,
      paymentMethodId: "test",
      idempotencyKey: null,
      placedAt: new Date(),
      metadata: {}
    })
    return { order, pricedCart, cartId, owner, provider: "test", payments: [] }
  }
)
