import type { SqlClient } from "effect/sql"
import { releaseStock } from "./ReleaseStockRepo.ts"

/** Units of one sellable that a holder returns, from any of its warehouses or from one. */
export interface Returning {
  readonly organization: string
  readonly holder: string
  readonly sellable: string
  readonly warehouseId: string | null
  readonly quantity: number
  readonly reason: string
}

/**
 * CTEs shared by partial releases: the holder's units of the sellable (`held`), the requested number of them from the
 * warehouse of the lowest priority on (`lines`), returned to their levels and removed from the hold's lines. The caller
 * has locked the hold.
 */
export const returnUnits = (sql: SqlClient.SqlClient, returning: Returning) => {
  const { holder, organization, quantity, reason, sellable, warehouseId } = returning
  return sql`held as materialized (
      select l.*, sum(l.quantity) over (order by w.priority desc, w.id desc) - l.quantity as earlier
      from hold_lines l join warehouses w on w.id = l.warehouse_id
      where l.organization_id = ${organization} and l.holder = ${holder} and l.sellable_id = ${sellable}::uuid
        and (${warehouseId}::uuid is null or l.warehouse_id = ${warehouseId}::uuid)),
    lines as materialized (
      select holder, sellable_id, warehouse_id, least(quantity, ${quantity}::int4 - earlier)::int4 as quantity
      from held where quantity > 0 and ${quantity}::int4 > earlier),
    ${releaseStock(sql, organization, reason)},
    left_over as (update hold_lines h set quantity = h.quantity - l.quantity from lines l
      where h.organization_id = ${organization} and h.holder = ${holder} and h.sellable_id = l.sellable_id
        and h.warehouse_id = l.warehouse_id)`
}
