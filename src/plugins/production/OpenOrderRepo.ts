import { Schema } from "effect"
import { type EntityId, rowsOf, statement } from "stoa/plugin"

const documents = rowsOf(Schema.Struct({ document: Schema.String }))

/** A production order that is open and makes the entity, or has taken some of it. */
export const openOrderOf = statement("ProductionOrders.open", function*(sql, organizationId, entityId: EntityId) {
  const [row] = yield* documents(sql`select 'production order ' || o.order_number as document
    from production_orders o
    where o.organization_id = ${organizationId} and o.status in ('planned', 'in_progress')
      and (o.entity_id = ${entityId}::uuid or exists (select from production_consumption c
        where c.production_order_id = o.id and c.entity_id = ${entityId}::uuid))
    limit 1`)
  return row?.document
})
