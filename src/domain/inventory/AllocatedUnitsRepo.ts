import type { SqlClient } from "effect/sql"
import { newId } from "../ids/Id.ts"
import type { StockAllocation } from "./StockRules.ts"

/** Units of one sellable to allocate to a holder, for an order; the caller has locked hold and version. */
export interface UnitAllocation {
  readonly organization: string
  readonly holder: string
  readonly orderId: string
  readonly entityId: string
  readonly sellable: string
  readonly performedBy: string | null
  readonly allocations: ReadonlyArray<StockAllocation>
}

/**
 * CTEs shared by all allocations: moves the version, reserves the units at their levels (`taken`, with `units`), adds
 * them to the hold's lines and records a movement for each. `no_oversell` is the guard.
 */
export const allocateUnits = (sql: SqlClient.SqlClient, taking: UnitAllocation) => {
  const { allocations, entityId, holder, orderId, organization, performedBy, sellable } = taking
  return sql`lines as materialized (
      select * from unnest(${allocations.map(() => newId())}::uuid[],
        ${allocations.map(({ warehouseId }) => warehouseId)}::uuid[],
        ${allocations.map(({ quantity }) => quantity)}::int4[]) l(id, warehouse, quantity)),
    moved as (update stock_items set version = version + 1
      where organization_id = ${organization} and sellable_id = ${sellable}::uuid),
    taken as (update stock_levels s set reserved = s.reserved + l.quantity, updated_at = now() from lines l
      where s.organization_id = ${organization} and s.sellable_id = ${sellable}::uuid
        and s.warehouse_id = l.warehouse returning s.*, l.quantity as units),
    kept as (insert into hold_lines as h (organization_id, holder, sellable_id, warehouse_id, quantity)
      select ${organization}, ${holder}, ${sellable}::uuid, warehouse, quantity from lines
      on conflict (organization_id, holder, sellable_id, warehouse_id)
        do update set quantity = h.quantity + excluded.quantity),
    noted as (insert into stock_movements (id, organization_id, entity_id, variant_id, warehouse_id, type, quantity,
        reference_type, reference_id, performed_by)
      select id, ${organization}, ${entityId}::uuid, nullif(${sellable}::uuid, ${entityId}::uuid),
        warehouse, 'reservation', quantity, 'order', ${orderId}, ${performedBy}::text
      from lines)`
}
