import { Effect } from "effect"
import { CurrentActor, type OrderId, type PluginDatabase, rowsOf } from "stoa/plugin"
import { FoundSubOrder } from "./SubOrderState.ts"

const found = rowsOf(FoundSubOrder)

/**
 * Locks the sub-orders of orders, in the order of their ids, and reads them with their lines and their entries of the
 * ledger, in one statement. Writers of lines and entries hold the lock of the order, so neither changes meanwhile.
 */
export const lockSubOrders = Effect.fnUntraced(
  function*({ sql }: PluginDatabase["Service"], orderIds: ReadonlyArray<OrderId>) {
    const { organizationId } = yield* CurrentActor
    return yield* found(sql)`select s.id, s.order_id as "orderId", s.vendor_id as "vendorId", s.currency, s.status,
        s.cancellation_reason as "cancellationReason", s.subtotal::float8 as subtotal,
        s.refunded_amount::float8 as "refundedAmount", s.commission_amount::float8 as "commissionAmount",
        s.payout_amount::float8 as "payoutAmount",
        coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'orderLineId', l.order_line_id, 'entityId', l.entity_id,
            'variantId', l.variant_id, 'title', l.title, 'quantity', l.quantity, 'totalPrice', l.total_price,
            'refundedAmount', l.refunded_amount, 'commissionAmount', l.commission_amount, 'ruleId', l.rule_id,
            'rateBps', l.rate_bps, 'fixedFeeCents', l.fixed_fee_cents, 'minFeeCents', l.min_fee_cents,
            'maxFeeCents', l.max_fee_cents))
          from marketplace_sub_order_lines l where l.sub_order_id = s.id), '[]') as lines,
        coalesce((select jsonb_object_agg(e.type, e.amount) from (
          select type, sum(amount_cents) as amount from marketplace_vendor_balances
          where organization_id = ${organizationId} and sub_order_id = s.id
            and type in ('sale', 'commission', 'refund_deduction', 'commission_reversal') group by type) e), '{}') as posted
      from marketplace_vendor_sub_orders s
      where s.organization_id = ${organizationId} and s.order_id = any(${orderIds}::uuid[])
      order by s.id for update of s`
  },
  Effect.orDie
)
