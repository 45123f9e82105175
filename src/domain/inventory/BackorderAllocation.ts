import { changeLogTable } from "../platform/events/ChangeLogRepo.ts"

/** An entry of the change log from within the database: the writer of the stock is not known there. */
const entry = (type: string, subject: string, payload: string, from: string) =>
  `insert into ${changeLogTable}
    select gen_random_uuid(), owner, '${type}', 'inventory', ${subject}, ${payload}, null, null, 'user', null, null, null,
      'local' from ${from}`

/**
 * Gives free units of active warehouses to the orders that wait longest. Each writer of a level has locked its
 * item, so that only one allocates. It writes no order: a change of an order locks that and waits for the item.
 */
const allocate = `create function stock_allocate_waiting(owner text, sellable uuid) returns void language plpgsql as $$
  declare
    level record;
  begin
    if not exists (select from stock_items
      where organization_id = owner and sellable_id = sellable and backordered > 0) then
      return;
    end if;
    for level in select l.id, l.warehouse_id, l.entity_id, l.variant_id, l.on_hand - l.reserved as free
      from stock_levels l join warehouses w on w.id = l.warehouse_id and w.is_active
      where l.organization_id = owner and l.sellable_id = sellable and l.on_hand > l.reserved
      order by w.priority, w.id
    loop
      with waiting as (
        select holder, quantity, sum(quantity) over (order by created_at, holder) - quantity as earlier
        from backorders where organization_id = owner and sellable_id = sellable and quantity > 0),
      given as materialized (
        select holder, quantity - least(quantity, level.free - earlier) as left_over,
          least(quantity, level.free - earlier)::int4 as units
        from waiting where earlier < level.free),
      served as (
        update backorders b set quantity = b.quantity - g.units from given g
        where b.organization_id = owner and b.sellable_id = sellable and b.holder = g.holder),
      kept as (
        insert into hold_lines (organization_id, holder, sellable_id, warehouse_id, quantity)
        select owner, holder, sellable, level.warehouse_id, units from given
        on conflict (organization_id, holder, sellable_id, warehouse_id)
          do update set quantity = hold_lines.quantity + excluded.quantity),
      noted as (
        insert into stock_movements (id, organization_id, entity_id, variant_id, warehouse_id, type, quantity,
          reference_type, reference_id, reason)
        select gen_random_uuid(), owner, level.entity_id, level.variant_id, level.warehouse_id, 'reservation', units,
          'order', holder, 'waited for stock' from given),
      emitted as (${
  entry(
    "inventory.backorder.allocated",
    "level.id::text",
    `jsonb_build_object('orderId', holder, 'entityId', level.entity_id, 'variantId', level.variant_id,
        'warehouseId', level.warehouse_id, 'quantity', units, 'backordered', left_over)`,
    "given"
  )
}),
      fewer as (
        update stock_items set backordered = backordered - (select sum(units) from given)
        where organization_id = owner and sellable_id = sellable and exists (select from given))
      update stock_levels set reserved = reserved + (select sum(units) from given), updated_at = now()
      where id = level.id and exists (select from given);
    end loop;
  end $$`

const triggers = [
  `create function stock_freed() returns trigger language plpgsql as $$
  begin
    perform stock_allocate_waiting(new.organization_id, new.sellable_id);
    return null;
  end $$`,
  `create trigger stock_levels_added after insert on stock_levels for each row
    when (new.on_hand > new.reserved) execute function stock_freed()`,
  `create trigger stock_levels_freed after update on stock_levels for each row
    when (new.on_hand > new.reserved and new.on_hand - new.reserved > old.on_hand - old.reserved)
    execute function stock_freed()`
]

/** A level that falls to its threshold says so once. Goods that come in for orders that wait were never there. */
const low = [
  `create function stock_low() returns trigger language plpgsql as $$
  declare
    owner text := new.organization_id;
  begin
    ${
    entry(
      "inventory.low",
      "new.id::text",
      `jsonb_build_object('entityId', new.entity_id, 'variantId', new.variant_id, 'warehouseId', new.warehouse_id,
      'available', new.on_hand - new.reserved, 'reorderThreshold', new.reorder_threshold,
      'reorderQuantity', new.reorder_quantity)`,
      "(select 1) one"
    )
  };
    return null;
  end $$`,
  `create trigger stock_levels_low after update on stock_levels for each row
    when (new.on_hand - new.reserved <= new.reorder_threshold and old.on_hand - old.reserved > old.reorder_threshold
      and pg_trigger_depth() = 0)
    execute function stock_low()`
]

/** Statements for units that are sold before they are there (contract-commerce §1). */
export const backorderAllocation: ReadonlyArray<string> = [
  "alter table stock_items add column backordered int not null default 0 check (backordered >= 0)",
  // Units that a checkout or an order waits for; `stock_items.backordered` is their sum.
  `create table backorders (
    organization_id text not null,
    holder text not null,
    sellable_id uuid not null,
    quantity int not null check (quantity >= 0),
    created_at timestamptz not null default now(),
    primary key (organization_id, holder, sellable_id)
  )`,
  "create index backorders_waiting on backorders (organization_id, sellable_id, created_at, holder) where quantity > 0",
  // Joined by other modules: columns keep name and meaning.
  "create view backorders_read as select organization_id, holder, sellable_id, quantity, created_at from backorders",
  "create view stock_items_read as select organization_id, sellable_id, backordered from stock_items",
  allocate,
  ...triggers,
  ...low
]
