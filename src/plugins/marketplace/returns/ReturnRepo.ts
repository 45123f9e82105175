import { rowsOf, statement } from "stoa/plugin"
import { EntityUnits } from "../refunds/RefundChoice.ts"

const units = rowsOf(EntityUnits)

/** Units that returns without one of the core ask for which have neither been refused nor refunded, by entity. */
export const claimedUnits = statement("ReturnRepo.claimedUnits", function*(sql, organizationId, subOrderId: string) {
  return yield* units(sql`select u."entityId", sum(u.quantity)::int4 as quantity
    from marketplace_return_requests r,
      jsonb_to_recordset(coalesce(r.line_items, '[]')) as u("entityId" text, quantity int)
    where r.organization_id = ${organizationId} and r.sub_order_id = ${subOrderId}::uuid and r.core_return_id is null
      and r.status not in ('vendor_rejected', 'refunded')
    group by u."entityId"`)
})
