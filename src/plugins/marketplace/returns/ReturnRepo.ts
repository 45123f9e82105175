import { Effect } from "effect"
import { type PluginDatabase, rowsOf } from "stoa/plugin"
import { EntityUnits } from "../refunds/RefundChoice.ts"

const units = rowsOf(EntityUnits)

/**
 * Locks a sub-order until the transaction ends, so that of two concurrent returns of the same units the second one sees
 * the first. A separate statement, so that the next one reads what was written before the lock.
 */
export const lockSubOrder = ({ sql }: PluginDatabase["Service"], organizationId: string, subOrderId: string) =>
  Effect.orDie(sql`select 1 from marketplace_vendor_sub_orders
    where id = ${subOrderId}::uuid and organization_id = ${organizationId} for update`)

/** Units that returns of a sub-order ask for which have neither been refused nor refunded, by entity. */
export const claimedUnits = ({ sql }: PluginDatabase["Service"], organizationId: string, subOrderId: string) =>
  Effect.orDie(units(sql)`select u."entityId", sum(u.quantity)::int4 as quantity
    from marketplace_return_requests r,
      jsonb_to_recordset(coalesce(r.line_items, '[]')) as u("entityId" text, quantity int)
    where r.organization_id = ${organizationId} and r.sub_order_id = ${subOrderId}::uuid
      and r.status not in ('vendor_rejected', 'refunded')
    group by u."entityId"`)
