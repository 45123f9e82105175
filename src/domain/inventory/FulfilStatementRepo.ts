import type { SqlClient } from "effect/sql"
import { deductedFromHolds, movedVersions, openUnits } from "./OpenAllocationsRepo.ts"

/**
 * Deducts shipped units in one statement: what these holders hold of each sellable, `shipped` units of it or
 * everything, from the reserved warehouses in their order. On hand is decremented in SQL, so that concurrent shipments
 * add up. A holder with nothing left is fulfilled. The caller has locked the holds.
 */
export const fulfilStatement = <Row extends object>(
  sql: SqlClient.SqlClient,
  organization: string,
  orderId: string,
  holders: ReadonlyArray<string>,
  shipped: ReadonlyMap<string, number> | undefined
) =>
  sql<Row>`with ${openUnits(sql, organization, holders, shipped)},
    ${movedVersions(sql, organization)},
    gone as (
      update stock_levels s set on_hand = s.on_hand - l.quantity, reserved = s.reserved - l.quantity,
        updated_at = now()
      from (select sellable_id, warehouse_id, sum(quantity)::int4 as quantity from lines
        group by sellable_id, warehouse_id) l
      where s.organization_id = ${organization} and s.sellable_id = any(array(select sellable_id from locked))
        and s.sellable_id = l.sellable_id and s.warehouse_id = l.warehouse_id),
    ${deductedFromHolds(sql, organization, holders, "fulfilled")},
    noted as (
      insert into stock_movements (id, organization_id, entity_id, variant_id, warehouse_id, type, quantity,
        reference_type, reference_id)
      select gen_random_uuid(), ${organization}, s.entity_id, s.variant_id, l.warehouse_id, 'fulfillment',
        -l.quantity, 'order', ${orderId}
      from lines l join stock_levels s on s.sellable_id = l.sellable_id and s.warehouse_id = l.warehouse_id
      where s.organization_id = ${organization} and s.sellable_id = any(array(select sellable_id from locked)))
    select sellable_id, warehouse_id, quantity from lines`
