import { Effect } from "effect"
import { CurrentActor, type PluginDatabase, rowsOf } from "stoa/plugin"
import { EntityUnits } from "../refunds/RefundChoice.ts"

const units = rowsOf(EntityUnits)

/** Units that returns of a sub-order ask for which have neither been refused nor refunded, by entity. */
export const claimedUnits = Effect.fn("ReturnRepo.claimedUnits")(
  function*({ sql }: PluginDatabase["Service"], subOrderId: string) {
    const { organizationId } = yield* CurrentActor
    return yield* units(sql)`select u."entityId", sum(u.quantity)::int4 as quantity
      from marketplace_return_requests r,
        jsonb_to_recordset(coalesce(r.line_items, '[]')) as u("entityId" text, quantity int)
      where r.organization_id = ${organizationId} and r.sub_order_id = ${subOrderId}::uuid
        and r.status not in ('vendor_rejected', 'refunded')
      group by u."entityId"`
  },
  Effect.orDie
)
