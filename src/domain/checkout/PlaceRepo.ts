import { Context, Effect, Layer } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { CheckoutFailed } from "../errors/ApiErrors.ts"
import { outboxInsert } from "../events/OutboxRepo.ts"
import { newId } from "../ids/Id.ts"
import type { Order } from "../orders/Order.ts"
import type { Decision } from "./Checkout.ts"

/** An order to be placed: the record as it will be, and what its placing consumes. */
export interface Placement {
  readonly order: Order
  readonly decision: Decision
  readonly cartId: string
  readonly idempotencyKey: string | null
  readonly provider: string
}

/** How a placing ended: now, in an earlier run, or not at all since the reservation had run out. */
export type Placed = "placed" | "already" | "reservation-gone"

/**
 * The one place where several modules' tables are written, because one statement is what makes an order, its lines, its
 * stock, its promotion usage, the end of its cart and its announcement one event. Lock order: hold, cart, promotions
 * by id, then inserts.
 */
export class PlaceRepo extends Context.Service<PlaceRepo, {
  /** Writes the order. Fails when a promotion reached its limit meanwhile: the constraints count, not this process. */
  readonly place: (placement: Placement) => Effect.Effect<Placed, CheckoutFailed, CurrentActor>
  /** Records the captured amount, once. `intentId` is the provider's payment. */
  readonly settle: (orderId: string, intentId: string, captured: number) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/checkout/PlaceRepo") {}

const usageExhausted = (error: SqlError.SqlError): boolean =>
  error.reason._tag === "ConstraintError" && /promotions_(usage|customer)_limit/.test(constraintOf(error))

const constraintOf = (error: SqlError.SqlError): string => JSON.stringify(error.reason.cause ?? "") + String(error.reason.cause)

export const placeRepoLayer = Layer.effect(
  PlaceRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /** Each limited by a constraint of its table, so that 10 × L buyers use a code exactly L times. */
    const usage = (decision: Decision, orderId: string) => {
      const ids = decision.promotions.map((one) => one.promotionId)
      const limited = decision.customerId === null ? [] : decision.promotions
      return sql`locked as (select p.id from promotions p, cart where p.id = any(${ids}::uuid[]) order by p.id for update of p),
        used as (update promotions p set used_count = p.used_count + 1 from locked where p.id = locked.id returning p.id),
        usages as (insert into promotion_usages (organization_id, promotion_id, order_id, customer_id)
          select cart.organization_id, used.id, ${orderId}::uuid, ${decision.customerId}::uuid from used, cart),
        counted as (insert into promotion_customer_usages as u (promotion_id, customer_id, used_count, usage_limit)
          select (l->>'promotionId')::uuid, ${decision.customerId}::uuid, 1, (l->>'perCustomer')::int
          from jsonb_array_elements(${JSON.stringify(limited)}::jsonb) l, cart order by 1
          on conflict (promotion_id, customer_id) do update
            set used_count = u.used_count + 1, usage_limit = excluded.usage_limit),`
    }

    const insertOrder = ({ cartId, decision, idempotencyKey, order, provider }: Placement) =>
      sql`insert into orders (id, organization_id, order_number, customer_id, status, currency, subtotal, tax_total,
          shipping_total, discount_total, grand_total, payment_intent_id, payment_method_id, payment_provider,
          idempotency_key, cart_id, cart_secret_hash, shipping_address, metadata, placed_at, updated_at)
        select ${order.id}::uuid, cart.organization_id, ${order.orderNumber}, ${order.customerId}::uuid, 'pending',
          ${order.currency}, ${order.subtotal}::bigint, ${order.taxTotal}::bigint, ${order.shippingTotal}::bigint,
          ${order.discountTotal}::bigint, ${order.grandTotal}::bigint, ${order.paymentIntentId}, ${order.paymentMethodId},
          ${provider}, ${idempotencyKey}::text, ${cartId}::uuid, ${decision.cartSecretHash},
          ${JSON.stringify(order.shippingAddress)}::jsonb, ${JSON.stringify(order.metadata)}::jsonb,
          ${order.placedAt}::timestamptz, ${order.placedAt}::timestamptz
        from cart returning id, organization_id`

    const insertLines = (order: Order) =>
      sql`insert into order_lines (id, organization_id, order_id, position, entity_id, entity_type, variant_id, sku,
          title, quantity, unit_price, total_price, tax_amount, discount_amount)
        select (l->>'id')::uuid, o.organization_id, o.id, n, (l->>'entityId')::uuid, l->>'entityType',
          (l->>'variantId')::uuid, l->>'sku', l->>'title', (l->>'quantity')::int, (l->>'unitPrice')::bigint,
          (l->>'totalPrice')::bigint, (l->>'taxAmount')::bigint, (l->>'discountAmount')::bigint
        from o, jsonb_array_elements(${JSON.stringify(order.lineItems)}::jsonb) with ordinality t(l, n)`

    const write = Effect.fnUntraced(function*(placement: Placement) {
      const actor = yield* CurrentActor
      const { cartId, decision, order } = placement
      const event = { type: "orders.create", entityType: "order", entityId: order.id, payload: order } as const
      const rows = yield* sql<{ readonly placed: boolean; readonly existed: boolean }>`with
        hold as (update holds set state = 'sold', expires_at = null, updated_at = now()
          where organization_id = ${actor.organizationId} and holder = ${order.id} and state = 'held'
            and exists (select 1 from carts where id = ${cartId}::uuid and checkout_id = ${order.id}::uuid
              and status = 'checking_out') returning 1),
        cart as (update carts set status = 'checked_out', version = version + 1, updated_at = now()
          where id = ${cartId}::uuid and organization_id = ${actor.organizationId} and checkout_id = ${order.id}::uuid
            and status = 'checking_out' and exists (select 1 from hold) returning id, organization_id),
        ${decision.promotions.length === 0 ? sql.literal("") : usage(decision, order.id)}
        o as (${insertOrder(placement)}),
        lines as (${insertLines(order)}),
        history as (insert into order_status_history (id, organization_id, order_id, from_status, to_status, reason, changed_by)
          select ${newId()}::uuid, organization_id, id, 'pending', 'pending', 'order_created', ${actor.userId}::text from o),
        event as (${outboxInsert(sql, actor, [event], "o")})
        select exists (select 1 from o) as placed, exists (select 1 from orders where id = ${order.id}::uuid) as existed`
      return rows[0]?.placed === true ? "placed" as const : rows[0]?.existed === true ? "already" as const : "reservation-gone" as const
    })

    const place = Effect.fn("PlaceRepo.place")((placement: Placement) =>
      write(placement).pipe(
        Effect.catchTag("SqlError", (error) =>
          usageExhausted(error)
            ? Effect.fail(CheckoutFailed.of("A promotion code has reached its usage limit."))
            : Effect.die(error))
      )
    )

    const settle = Effect.fn("PlaceRepo.settle")(function*(orderId: string, intentId: string, captured: number) {
      const { organizationId } = yield* CurrentActor
      yield* sql`update orders set amount_captured = ${captured}::bigint, payment_intent_id = ${intentId}, updated_at = now()
        where id = ${orderId}::uuid and organization_id = ${organizationId} and amount_captured is null`
    }, Effect.orDie)

    return PlaceRepo.of({ place, settle })
  })
)
