import { statements } from "stoa/plugin"

/** Lots that leave first, of lots `l`: blocked ones last, and what expired last of all where customers get the goods. */
const turn = (sold: string) =>
  `l.is_blocked, ${sold} and coalesce(l.expiry_date < (now() at time zone 'utc')::date, false), l.expiry_date nulls last,
    l.created_at, l.id`

/**
 * Takes what left stock out of lots: first the batches that a document names (`stoa.lots_named`), then in turn. Lots never say
 * more than is on hand. Each statement that moves stock has locked its levels, so that no other one changes these lots.
 */
const follow = `create function warehouse_lots_follow() returns trigger language plpgsql as $$
  declare
    named jsonb := coalesce(nullif(current_setting('stoa.lots_named', true), ''), '[]');
  begin
    if not exists (select from moved where type not in ('reservation', 'release')) then
      return null;
    end if;
    perform set_config('stoa.lots_named', '', true);
    with place as materialized (
      select organization_id, entity_id, variant_id, warehouse_id,
        coalesce(-sum(quantity) filter (where quantity < 0), 0) as units,
        bool_or(type in ('fulfillment', 'sale')) as sold, min(reference_type) as reference_type,
        min(reference_id) as reference_id
      from moved where type not in ('reservation', 'release') group by 1, 2, 3, 4),
    lot as materialized (
      select l.*, p.units, p.reference_type, p.reference_id, greatest(coalesce(s.quantity_on_hand, 0), 0) as on_hand,
        coalesce(n.units, 0) as named_units,
        row_number() over (partition by l.organization_id, l.entity_id, l.variant_id, l.warehouse_id
          order by ${turn("p.sold")}) as turn
      from place p
        join warehouse_lots l on l.organization_id = p.organization_id and l.entity_id = p.entity_id
          and l.warehouse_id = p.warehouse_id and l.variant_id is not distinct from p.variant_id and l.quantity > 0
        left join plugin_stock_levels s on s.organization_id = p.organization_id and s.warehouse_id = p.warehouse_id
          and s.entity_id = p.entity_id and s.variant_id is not distinct from p.variant_id
        left join jsonb_to_recordset(named) n (sellable uuid, warehouse uuid, batch text, units int)
          on n.sellable = coalesce(p.variant_id, p.entity_id) and n.warehouse = p.warehouse_id
          and n.batch = l.batch_number),
    chosen as (
      select *, greatest(least(quantity, named_units + quantity - sum(quantity) over (
        partition by entity_id, variant_id, warehouse_id, batch_number order by turn)), 0) as picked
      from lot),
    rest as (
      select *, greatest(
          least(units - sum(picked) over place, sum(case when is_blocked then 0 else quantity - picked end) over place),
          sum(quantity - picked) over place - on_hand) as wanted,
        sum(quantity - picked) over (place order by turn) - (quantity - picked) as earlier
      from chosen window place as (partition by entity_id, variant_id, warehouse_id)),
    taken as materialized (
      select *, (picked + greatest(least(quantity - picked, wanted - earlier), 0))::int as gone from rest),
    lowered as (
      update warehouse_lots l set quantity = l.quantity - t.gone, updated_at = now()
      from taken t where l.id = t.id and t.gone > 0)
    insert into warehouse_lot_movements (organization_id, lot_id, entity_id, variant_id, warehouse_id, batch_number,
      expiry_date, quantity, reference_type, reference_id)
    select organization_id, id, entity_id, variant_id, warehouse_id, batch_number, expiry_date, gone,
      left(nullif(reference_type, ''), 255), left(nullif(reference_id, ''), 255)
    from taken where gone > 0 order by turn;
    return null;
  end $$`

/** Lots that say more than is on hand, from before they followed stock. */
const within = `with lot as (
    select l.id, l.quantity, greatest(coalesce(s.quantity_on_hand, 0), 0) as on_hand,
      sum(l.quantity) over place as all_units, sum(l.quantity) over (place order by ${
  turn("false")
}) - l.quantity as earlier
    from warehouse_lots l left join plugin_stock_levels s on s.organization_id = l.organization_id
      and s.warehouse_id = l.warehouse_id and s.entity_id = l.entity_id and s.variant_id is not distinct from l.variant_id
    where l.quantity > 0
    window place as (partition by l.organization_id, l.entity_id, l.variant_id, l.warehouse_id))
  update warehouse_lots l set quantity = l.quantity - least(o.quantity, o.all_units - o.on_hand - o.earlier), updated_at = now()
  from lot o where l.id = o.id and o.all_units - o.on_hand > o.earlier`

/** Lots that parcels took before lots followed stock; the batch names the goods where one of the order's had it. */
const shipped = `do $$ begin
  if to_regclass('warehouse_shipped_lots') is not null then
    execute 'insert into warehouse_lot_movements (organization_id, lot_id, entity_id, variant_id, warehouse_id, batch_number,
        expiry_date, quantity, reference_type, reference_id, created_at)
      select s.organization_id, l.id, l.entity_id, l.variant_id, l.warehouse_id, t."batchNumber", t."expiryDate", t.quantity,
        ''order'', s.order_id::text, s.created_at
      from warehouse_shipped_lots s
        cross join lateral jsonb_to_recordset(s.lots) t ("batchNumber" text, "expiryDate" date, quantity int)
        cross join lateral (select min(l.id::text)::uuid as lot from warehouse_lots l
          join plugin_order_lines o on o.organization_id = s.organization_id and o.order_id = s.order_id
            and o.entity_id = l.entity_id and o.variant_id is not distinct from l.variant_id
          where l.organization_id = s.organization_id and l.batch_number = t."batchNumber"
            and l.expiry_date is not distinct from t."expiryDate"
          having count(distinct coalesce(l.variant_id, l.entity_id)) = 1) known
        join warehouse_lots l on l.id = known.lot';
  end if;
end $$`

/** Brings lots of the version before into order. */
export const formerLots = [within, shipped]

export const lotMigrations = {
  "0001_lots_follow_stock": statements(follow),
  "0002_former_lots": statements(...formerLots)
}
