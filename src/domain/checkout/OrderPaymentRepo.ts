import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { exchangeMethod, orderTenders } from "../orders/Tender.ts"
import { CurrentActor } from "../platform/access/Actor.ts"
import { changeLogInsert } from "../platform/events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import { CartId, CustomerId, type OrderId, type PaymentId } from "../platform/ids/Id.ts"
import { Amount } from "../platform/money/Money.ts"
import { decoding } from "../platform/records/Rows.ts"

/** Names the amount without the credit of an exchange, and the payment to void first. */
export const ClaimedPayment = Schema.Struct({
  amount: Amount,
  currency: Schema.String,
  customerId: Schema.NullOr(CustomerId),
  cartId: Schema.NullOr(CartId),
  provider: Schema.NullOr(Schema.String),
  intentId: Schema.NullOr(Schema.String),
  /** The idempotency key of that payment. */
  key: Schema.String
})

export type ClaimedPayment = typeof ClaimedPayment.Type

const Attached = Schema.Struct({ attached: Schema.Boolean })

export interface NewPayment {
  readonly orderId: OrderId
  readonly paymentId: PaymentId
  readonly provider: string
}

export interface AuthorizedPayment extends NewPayment {
  readonly methodId: string
  readonly intentId: string
  /** The payment before it. */
  readonly replaced: Pick<ClaimedPayment, "intentId" | "provider">
  readonly asksShopper: boolean
  /** The deadline of an order that has none yet. */
  readonly seconds: number
}

/** Selects the credit of an exchange that pays an order `o`; null without one. */
const creditOf = (order: string) =>
  `(select t.amount from order_tenders t
    where t.order_id = ${order}.id and t.position = 0 and t.provider = '${exchangeMethod}')`

const claiming = (sql: SqlClient.SqlClient) => {
  const credit = sql.literal(creditOf("o"))

  /**
   * Undefined unless the order is pending, unpaid, not being captured, and waits for its shopper or has no payment.
   * Repeating a claim returns it again.
   */
  const claim = Effect.fn("OrderPaymentRepo.claim")(function*(orderId: OrderId, paymentId: PaymentId) {
    const actor = yield* CurrentActor
    const [claimed] = yield* decoding(sql, ClaimedPayment)`with before as materialized (
        select id, payment_claim_id from orders where id = ${orderId}::uuid
          and organization_id = ${actor.organizationId} for update),
      claimed as (
        update orders o set payment_claim_id = ${paymentId}::uuid, updated_at = now() from before
        where o.id = before.id and o.status = 'pending' and o.amount_captured is null and o.capture_amount is null
          and o.grand_total > 0 and not o.is_draft and o.imported_at is null
          and (o.payment_claim_id is null or o.payment_claim_id = ${paymentId}::uuid)
          and (o.payment_intent_id is null or o.payment_due_at is not null or o.payment_provider = ${exchangeMethod})
          and (not exists (select 1 from order_tenders t where t.order_id = o.id) or ${credit} < o.grand_total)
          -- The checkout may still be at work on its payment.
          and not exists (select 1 from checkout_runs r where r.id = o.id)
        returning o.*, before.payment_claim_id is null as is_new),
      added as (select 1 from claimed where is_new)${idempotencyRecord(sql, actor, "added")}
      select o.grand_total - coalesce(${credit}, 0) as amount, o.currency, o.customer_id as "customerId",
        o.cart_id as "cartId", nullif(o.payment_provider, ${exchangeMethod}) as provider,
        case when o.payment_provider <> ${exchangeMethod} then o.payment_intent_id end as "intentId",
        coalesce(o.payment_id, o.id)::text as key
      from claimed o`
    return claimed
  }, Effect.orDie)

  return { claim }
}

const ending = (sql: SqlClient.SqlClient) => {
  /** False when the order left `pending` meanwhile: the caller must void the payment. Repeating it is harmless. */
  const attach = Effect.fn("OrderPaymentRepo.attach")(function*(payment: AuthorizedPayment) {
    const { asksShopper, intentId, methodId, orderId, paymentId, provider, replaced, seconds } = payment
    const actor = yield* CurrentActor
    const change = {
      type: "payments.authorize",
      entityType: "order",
      entityId: orderId,
      payload: { orderId, provider, paymentIntentId: intentId },
      before: { orderId, provider: replaced.provider, paymentIntentId: replaced.intentId }
    } as const
    const [row] = yield* decoding(sql, Attached)`with attached as (
        update orders set payment_intent_id = ${intentId}, payment_provider = ${provider},
          payment_method_id = ${methodId}, payment_id = payment_claim_id, payment_claim_id = null, updated_at = now(),
          payment_due_at = case when ${asksShopper}::boolean
            then coalesce(payment_due_at, now() + make_interval(secs => ${seconds})) end
        where id = ${orderId}::uuid and organization_id = ${actor.organizationId} and status = 'pending'
          and payment_claim_id = ${paymentId}::uuid and amount_captured is null
        returning *),
      tender as (
        insert into order_tenders (organization_id, order_id, ${sql.literal(orderTenders.names)})
          select attached.organization_id, attached.id, ${sql.literal(orderTenders.columns("r"))}
          from attached cross join lateral (select jsonb_build_object('position', 1, 'provider', payment_provider,
              'label', payment_provider, 'intentId', payment_intent_id, 'isStoredValue', false,
              'amount', grand_total - ${sql.literal(creditOf("attached"))}, 'refunded', 0,
              'needsShopper', ${asksShopper}::boolean) as record) t
            cross join lateral ${sql.literal(orderTenders.row("t.record"))} r
          where ${sql.literal(creditOf("attached"))} is not null
        on conflict (order_id, position) do update set provider = excluded.provider, label = excluded.label,
          intent_id = excluded.intent_id, needs_shopper = excluded.needs_shopper),
      entry as (${changeLogInsert(sql, actor, [change], "attached")})
      select exists (select 1 from attached) or exists (select 1 from orders where id = ${orderId}::uuid
        and organization_id = ${actor.organizationId} and payment_id = ${paymentId}::uuid) as attached`
    return row?.attached ?? false
  }, Effect.orDie)

  /**
   * Leaves the order without a payment, or with what was exchanged for it, until the next one or until it expires. An
   * order that has ended or was paid meanwhile keeps its earlier payment, because its refunds name it.
   */
  const fail = Effect.fn("OrderPaymentRepo.fail")(function*({ orderId, paymentId, provider }: NewPayment) {
    const actor = yield* CurrentActor
    const change = {
      type: "payments.fail",
      entityType: "order",
      entityId: orderId,
      payload: { orderId, provider, paymentStatus: "failed" },
      before: { orderId, provider, paymentStatus: "processing" }
    } as const
    const ended = "(o.status = 'cancelled' or o.amount_captured is not null)"
    const kept = (column: string, tender: string) =>
      sql.literal(`case when ${ended} then o.${column} else (select t.${tender} from order_tenders t
        where t.order_id = o.id and t.position = 0 and t.provider = '${exchangeMethod}') end`)
    yield* sql`with failed as (
        update orders o set payment_intent_id = ${kept("payment_intent_id", "intent_id")},
          payment_provider = ${
      kept("payment_provider", "provider")
    }, payment_id = payment_claim_id, payment_claim_id = null, updated_at = now()
        where id = ${orderId}::uuid and organization_id = ${actor.organizationId}
          and payment_claim_id = ${paymentId}::uuid
        returning id, ${sql.literal(ended)} as ended),
      tender as (delete from order_tenders t using failed
        where t.order_id = failed.id and t.position = 1 and not failed.ended),
      entry as (${changeLogInsert(sql, actor, [change], "failed")})
      select 1`
  }, Effect.orDie)

  return { attach, fail }
}

/**
 * Another payment of an unpaid order. From its claim to its end nothing settles or cancels the order for the payment
 * before it.
 */
export class OrderPaymentRepo extends Context.Service<OrderPaymentRepo>()("stoa/domain/checkout/OrderPaymentRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => ({ ...claiming(sql), ...ending(sql) }))
}) {
  static readonly layer = Layer.effect(OrderPaymentRepo, OrderPaymentRepo.make)
}
