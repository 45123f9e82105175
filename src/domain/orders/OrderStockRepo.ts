import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Actor } from "../access/Actor.ts"

/** What becomes of the stock an order still holds: everything is handed over, or what was not goes back for sale. */
export type StockOutcome = "fulfil" | "release"

/**
 * Ends the hold of an order: units handed over leave the shelf (on hand and reserved down), others only stop being
 * reserved. On `release` the units of lines that were already fulfilled still leave the shelf, so that nothing stays
 * reserved for ever. Exactly what was reserved in each warehouse is moved, not what a warehouse's priority says now. An order whose hold
 * has ended, or that never had one, is left alone. Rows are locked as everywhere: hold, then `stock_items` by
 * sellable, then levels; every touched sellable's version moves, so the stock desk notices. To be called inside the
 * transaction that has locked the order's row.
 */
export const endHold = (actor: Actor, orderId: string, outcome: StockOutcome) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`with hold as (
        update holds set state = ${
      outcome === "fulfil" ? "fulfilled" : "released"
    }, expires_at = null, updated_at = now()
        where organization_id = ${actor.organizationId} and holder = ${orderId} and state in ('held', 'sold')
        returning organization_id, holder),
      held as materialized (
        select l.sellable_id, l.warehouse_id, l.quantity,
          ${outcome === "fulfil"}::boolean or not exists (select 1 from order_lines o
            where o.order_id = ${orderId}::uuid and coalesce(o.variant_id, o.entity_id) = l.sellable_id
              and o.fulfillment_status <> 'fulfilled') as leaves
        from hold_lines l join hold using (organization_id, holder) where l.quantity > 0),
      items as materialized (
        select i.sellable_id from stock_items i
        where i.organization_id = ${actor.organizationId} and i.sellable_id in (select sellable_id from held)
        order by i.sellable_id for update),
      fence as (
        update stock_items i set version = i.version + 1 from items
        where i.organization_id = ${actor.organizationId} and i.sellable_id = items.sellable_id),
      levels as (
        update stock_levels s set reserved = s.reserved - held.quantity,
          on_hand = s.on_hand - case when held.leaves then held.quantity else 0 end, updated_at = now()
        from items join held using (sellable_id)
        where s.organization_id = ${actor.organizationId} and s.sellable_id = items.sellable_id
          and s.warehouse_id = held.warehouse_id
        returning s.entity_id, s.variant_id, s.warehouse_id, held.quantity, held.leaves)
      insert into stock_movements (id, organization_id, entity_id, variant_id, warehouse_id, type, quantity,
        reference_type, reference_id, performed_by)
      select gen_random_uuid(), ${actor.organizationId}, entity_id, variant_id, warehouse_id,
        case when leaves then 'fulfillment' else 'release' end, quantity, 'order', ${orderId}, ${actor.userId}::text
      from levels`).pipe(Effect.asVoid)
