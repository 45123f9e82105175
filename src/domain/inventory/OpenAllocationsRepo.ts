import type { SqlClient } from "effect/sql"

/**
 * CTEs for every statement about some units of an order's holds: `open`, the held units in warehouse order, and `lines
 * (holder, sellable_id, warehouse_id, quantity)`, the first `units` of each sellable, or everything without `units`;
 * never more than is held. The caller has locked the holds.
 */
export const openUnits = (
  sql: SqlClient.SqlClient,
  organization: string,
  holders: ReadonlyArray<string>,
  units: ReadonlyMap<string, number> | undefined
) => {
  const everything = units === undefined
  return sql`open as materialized (
      select l.holder, l.sellable_id, l.warehouse_id, l.quantity,
        sum(l.quantity) over (partition by l.sellable_id order by w.priority, w.id, l.holder) - l.quantity as earlier
      from hold_lines l join holds h on h.organization_id = l.organization_id and h.holder = l.holder
      join warehouses w on w.id = l.warehouse_id
      where l.organization_id = ${organization} and l.holder = any(${holders}::text[]) and l.quantity > 0
        and h.organization_id = ${organization} and h.holder = any(${holders}::text[]) and h.state in ('held', 'sold')),
    lines as materialized (
      select o.holder, o.sellable_id, o.warehouse_id,
        case when ${everything} then o.quantity
          else least(o.quantity, a.quantity - o.earlier)::int4 end as quantity
      from open o left join ${requestedUnits(sql, units)} on a.sellable_id = o.sellable_id
      where ${everything} or a.quantity > o.earlier)`
}

/** Units by sellable as a table `a (sellable_id, quantity)`. */
export const requestedUnits = (sql: SqlClient.SqlClient, units: ReadonlyMap<string, number> | undefined) =>
  sql`unnest(${[...(units?.keys() ?? [])]}::uuid[], ${[...(units?.values() ?? [])]}::int4[]) a(sellable_id, quantity)`

/** CTEs after `lines` that deduct units from the holds only, and end holds that have nothing left in `state`. */
export const deductedFromHolds = (
  sql: SqlClient.SqlClient,
  organization: string,
  holders: ReadonlyArray<string>,
  state: "fulfilled" | "released"
) =>
  sql`taken as (
      update hold_lines h set quantity = h.quantity - l.quantity from lines l
      where h.organization_id = ${organization} and h.holder = any(${holders}::text[])
        and h.holder = l.holder and h.sellable_id = l.sellable_id and h.warehouse_id = l.warehouse_id),
    ended as (
      update holds set state = ${state}, expires_at = null, updated_at = now()
      where organization_id = ${organization} and holder = any(array(
        select o.holder from (select holder, sum(quantity) as quantity from open group by holder) o
        join (select holder, sum(quantity) as quantity from lines group by holder) l
          on l.holder = o.holder and l.quantity = o.quantity)))`

/** The parts that lock the versions of `lines` by key and move them; levels are touched after them by every stock writer. */
export const movedVersions = (sql: SqlClient.SqlClient, organization: string) =>
  sql`locked as materialized (
      select sellable_id from stock_items
      where organization_id = ${organization} and sellable_id = any(array(select sellable_id from lines))
      order by sellable_id for update),
    moved as (
      update stock_items set version = version + 1
      where organization_id = ${organization} and sellable_id = any(array(select sellable_id from locked)))`
