import { Effect } from "effect"
import { CurrentActor, type PluginDatabase } from "stoa/plugin"
import { nothingPosted, type Posted } from "./SubOrderShares.ts"
import type { FoundSubOrder, KeptLine, SubOrderStatus } from "./SubOrderState.ts"

interface FoundRow {
  readonly id: string
  readonly order_id: string
  readonly vendor_id: string
  readonly currency: string
  readonly status: SubOrderStatus
  readonly cancellation_reason: string | null
  readonly subtotal: bigint
  readonly refunded_amount: bigint
  readonly commission_amount: bigint
  readonly payout_amount: bigint
  readonly lines: ReadonlyArray<KeptLine>
  readonly posted: Partial<Posted>
}

const toFound = (row: FoundRow): FoundSubOrder => ({
  id: row.id,
  orderId: row.order_id,
  vendorId: row.vendor_id,
  currency: row.currency,
  status: row.status,
  cancellationReason: row.cancellation_reason,
  subtotal: Number(row.subtotal),
  refundedAmount: Number(row.refunded_amount),
  commissionAmount: Number(row.commission_amount),
  payoutAmount: Number(row.payout_amount),
  lines: row.lines,
  posted: { ...nothingPosted, ...row.posted }
})

/**
 * Locks the sub-orders of orders, in the order of their ids, and reads them with their lines and what the ledger says of
 * them, in one statement. Lines and entries are only written by who holds the lock of the order, so they are what they are.
 */
export const lockSubOrders = Effect.fnUntraced(
  function*({ sql }: PluginDatabase["Service"], orderIds: ReadonlyArray<string>) {
    const { organizationId } = yield* CurrentActor
    const rows = yield* sql<FoundRow>`select s.id, s.order_id, s.vendor_id, s.currency, s.status, s.cancellation_reason,
        s.subtotal, s.refunded_amount, s.commission_amount, s.payout_amount,
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
    return rows.map(toFound)
  },
  Effect.orDie
)
