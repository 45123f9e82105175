import type { SqlClient } from "effect/sql"

/**
 * Takes shipped units off the shelf in one statement: what these holders hold of each sellable, `shipped` units of it or
 * everything, from the warehouses that were reserved and in their order. On hand goes down in SQL arithmetic, so that
 * simultaneous shipments add up. A holder with nothing left is fulfilled. The caller has locked the holds.
 */
export const fulfilStatement = <Row extends object>(
  sql: SqlClient.SqlClient,
  organization: string,
  orderId: string,
  holders: ReadonlyArray<string>,
  shipped: ReadonlyMap<string, number> | undefined
) => {
  const everything = shipped === undefined
  return sql<Row>`with open as materialized (
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
      from open o left join unnest(${[...(shipped?.keys() ?? [])]}::uuid[], ${[...(shipped?.values() ?? [])]}::int4[])
        a(sellable_id, quantity) on a.sellable_id = o.sellable_id
      where ${everything} or a.quantity > o.earlier),
    locked as materialized (
      select sellable_id from stock_items
      where organization_id = ${organization} and sellable_id = any(array(select sellable_id from lines))
      order by sellable_id for update),
    moved as (
      update stock_items set version = version + 1
      where organization_id = ${organization} and sellable_id = any(array(select sellable_id from locked))),
    gone as (
      update stock_levels s set on_hand = s.on_hand - l.quantity, reserved = s.reserved - l.quantity,
        updated_at = now()
      from (select sellable_id, warehouse_id, sum(quantity)::int4 as quantity from lines
        group by sellable_id, warehouse_id) l
      where s.organization_id = ${organization} and s.sellable_id = any(array(select sellable_id from locked))
        and s.sellable_id = l.sellable_id and s.warehouse_id = l.warehouse_id),
    taken as (
      update hold_lines h set quantity = h.quantity - l.quantity from lines l
      where h.organization_id = ${organization} and h.holder = any(${holders}::text[])
        and h.holder = l.holder and h.sellable_id = l.sellable_id and h.warehouse_id = l.warehouse_id),
    ended as (
      update holds set state = 'fulfilled', expires_at = null, updated_at = now()
      where organization_id = ${organization} and holder = any(array(
        select o.holder from (select holder, sum(quantity) as quantity from open group by holder) o
        join (select holder, sum(quantity) as quantity from lines group by holder) l
          on l.holder = o.holder and l.quantity = o.quantity))),
    noted as (
      insert into stock_movements (id, organization_id, entity_id, variant_id, warehouse_id, type, quantity,
        reference_type, reference_id)
      select gen_random_uuid(), ${organization}, s.entity_id, s.variant_id, l.warehouse_id, 'fulfillment',
        -l.quantity, 'order', ${orderId}
      from lines l join stock_levels s on s.sellable_id = l.sellable_id and s.warehouse_id = l.warehouse_id
      where s.organization_id = ${organization} and s.sellable_id = any(array(select sellable_id from locked)))
    select sellable_id, warehouse_id, quantity from lines`
}
