import type { SqlClient } from "effect/sql"
import { requestedUnits } from "./StockStatements.ts"
import { backorders } from "./StockTables.ts"

/**
 * Ends the wait for `units` of each sellable, or for all. The items are locked. Returns what no longer waits, as units
 * without a warehouse.
 */
export const withdrawn = (
  sql: SqlClient.SqlClient,
  organization: string,
  holders: ReadonlyArray<string>,
  units?: ReadonlyMap<string, number>
) =>
  sql`with lines as materialized (
      select b.holder, b.sellable_id,
        case when ${units === undefined} then b.quantity else least(b.quantity, a.quantity) end as quantity
      from backorders b left join ${requestedUnits(sql, units)} on a.sellable_id = b.sellable_id
      where b.organization_id = ${organization} and b.holder = any(${holders}::text[]) and b.quantity > 0
        and (${units === undefined} or a.quantity > 0)),
    served as (
      update backorders b set quantity = b.quantity - l.quantity from lines l
      where b.organization_id = ${organization} and b.holder = l.holder and b.sellable_id = l.sellable_id),
    fewer as (
      update stock_items i set version = version + 1, backordered = i.backordered - l.quantity
      from (select sellable_id, sum(quantity)::int4 as quantity from lines group by sellable_id) l
      where i.organization_id = ${organization} and i.sellable_id = l.sellable_id)
    select sellable_id as sellable, null::uuid as "warehouseId", sum(quantity)::int4 as quantity from lines
    group by sellable_id`

/** Lets a holder wait for units; the items exist and are locked. */
export const waiting = (
  sql: SqlClient.SqlClient,
  organization: string,
  holder: string,
  units: ReadonlyMap<string, number>
) =>
  sql`with more as (
      update stock_items i set version = version + 1, backordered = i.backordered + a.quantity
      from ${requestedUnits(sql, units)} where i.organization_id = ${organization} and i.sellable_id = a.sellable_id)
    insert into backorders as b ${
    backorders.insert(sql, {
      organizationId: sql`${organization}`,
      holder: sql`${holder}`,
      sellableId: "a.sellable_id",
      quantity: "a.quantity"
    })
  } from ${requestedUnits(sql, units)}
    on conflict (organization_id, holder, sellable_id) do update set quantity = b.quantity + excluded.quantity`
