import type { SqlClient } from "effect/sql"
import type { Reservation, ReservationLine, StockSnapshot } from "./Reservation.ts"

/** A line with its holder and the id of the movement that records it. */
interface HeldLine extends ReservationLine {
  readonly id: string
  readonly holder: string
}

/**
 * The group commit of the stock entity: one statement for any number of checkouts and lines. Locks follow the order of
 * all stock writers: existing holds (this waits for a running release and sees its outcome), versions by key, levels.
 * One outdated version stops the batch. The insert finds new holds by `on conflict`, and rows are picked by `=
 * any(array(...))` beside the joins: a plan made on an empty table would otherwise read every row of the organization.
 */
export const reserveStatement = <Row extends object>(
  sql: SqlClient.SqlClient,
  organization: string,
  fences: ReadonlyArray<StockSnapshot>,
  reservations: ReadonlyArray<Reservation>,
  lines: ReadonlyArray<HeldLine>
) => {
  const holders = reservations.map(({ holder }) => holder)
  const sellables = fences.map(({ sellable }) => sellable)
  return sql<Row>`with had as materialized (
      select holder, state, pricing::text as pricing from holds
      where organization_id = ${organization} and holder = any(${holders}::text[]) order by holder for update),
    locked as materialized (
      select sellable_id, version from stock_items
      where organization_id = ${organization} and sellable_id = any(${sellables}::uuid[])
        and (select count(*) from had) >= 0
      order by sellable_id for update),
    stale as (
      select f.sellable
      from unnest(${sellables}::uuid[], ${fences.map(({ version }) => version ?? -1)}::int8[]) f(sellable, version)
      left join locked on locked.sellable_id = f.sellable
      where locked.version is distinct from f.version),
    fresh as (
      insert into holds (organization_id, holder, expires_at, pricing)
      select ${organization}, a.holder, now() + a.ttl * interval '1 second', a.pricing::jsonb
      from unnest(${holders}::text[], ${reservations.map(({ ttlSeconds }) => ttlSeconds)}::int4[],
        ${reservations.map(({ pricing }) => pricing)}::text[]) a(holder, ttl, pricing)
      where not exists (select 1 from stale) and not exists (select 1 from had where had.holder = a.holder)
      order by a.holder
      on conflict (organization_id, holder) do nothing
      returning holder),
    lines as materialized (
      select l.* from unnest(${lines.map(({ id }) => id)}::uuid[], ${lines.map(({ holder }) => holder)}::text[],
        ${lines.map(({ sellable }) => sellable)}::uuid[], ${lines.map(({ entityId }) => entityId)}::uuid[],
        ${lines.map(({ warehouseId }) => warehouseId)}::uuid[], ${lines.map(({ quantity }) => quantity)}::int4[]
      ) l(id, holder, sellable, entity, warehouse, quantity) join fresh on fresh.holder = l.holder),
    moved as (
      update stock_items set version = version + 1
      where organization_id = ${organization} and sellable_id = any(array(select sellable from lines))),
    taken as (
      update stock_levels s set reserved = s.reserved + l.quantity, updated_at = now()
      from (select sellable, warehouse, sum(quantity)::int4 as quantity from lines group by sellable, warehouse) l
      where s.organization_id = ${organization} and s.sellable_id = any(array(select sellable from lines))
        and s.sellable_id = l.sellable and s.warehouse_id = l.warehouse),
    kept as (
      insert into hold_lines (organization_id, holder, sellable_id, warehouse_id, quantity)
      select ${organization}, holder, sellable, warehouse, quantity from lines),
    noted as (
      insert into stock_movements
        (id, organization_id, entity_id, variant_id, warehouse_id, type, quantity, reference_type, reference_id)
      select id, ${organization}, entity, nullif(sellable, entity), warehouse, 'reservation', quantity, 'checkout', holder
      from lines)
    select (select coalesce(array_agg(sellable), '{}') from stale) as stale,
      (select coalesce(array_agg(holder), '{}') from fresh) as fresh,
      (select coalesce(jsonb_agg(to_jsonb(had)), '[]') from had) as had`
}
