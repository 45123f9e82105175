import { statements } from "../platform/database/MigrationStatements.ts"
import { countedBy } from "../platform/paging/migrations.ts"
import { backorderAllocation } from "./BackorderAllocation.ts"

export const migrations = {
  "0001_inventory": statements(
    `create table warehouses (
      id uuid primary key,
      organization_id text not null references organizations,
      name text not null,
      code text not null,
      address jsonb,
      is_active boolean not null default true,
      priority int not null default 0,
      metadata jsonb not null default '{}',
      unique (organization_id, code)
    )`,
    // The fence: one row per sellable (variant id, else entity id). Every change of a level moves the version: a stock
    // entity with cached stock notices.
    `create table stock_items (
      organization_id text not null,
      sellable_id uuid not null,
      version bigint not null default 0,
      primary key (organization_id, sellable_id)
    ) with (fillfactor = 50)`,
    `create table stock_levels (
      id uuid primary key,
      organization_id text not null,
      sellable_id uuid not null,
      warehouse_id uuid not null references warehouses,
      entity_id uuid not null,
      variant_id uuid,
      on_hand int not null default 0,
      reserved int not null default 0,
      incoming int not null default 0,
      unit_cost bigint,
      reorder_threshold int,
      reorder_quantity int,
      last_restocked_at timestamptz,
      updated_at timestamptz not null default now(),
      unique (organization_id, sellable_id, warehouse_id),
      -- No level without a fence.
      foreign key (organization_id, sellable_id) references stock_items,
      check (sellable_id = coalesce(variant_id, entity_id)),
      check (reserved >= 0),
      allow_negative boolean not null default false,
      constraint no_oversell check (reserved <= on_hand or allow_negative)
    ) with (fillfactor = 50)`,
    `create index stock_levels_entity on stock_levels (organization_id, entity_id)`,
    // Normally empty, so that the oversell audit reads nothing (`StockAuditRepo`).
    `create index stock_levels_oversold on stock_levels (organization_id) where reserved > on_hand and not allow_negative`,
    `create index stock_levels_warehouse on stock_levels (organization_id, warehouse_id, sellable_id)`,
    // One hold per checkout (its id) or manual reservation ('manual:' || order id). 'released' without lines is a
    // tombstone: a reservation that arrives after its release must fail.
    `create table holds (
      organization_id text not null,
      holder text not null,
      state text not null default 'held' check (state in ('held', 'sold', 'released', 'expired', 'fulfilled')),
      expires_at timestamptz,
      pricing jsonb,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (organization_id, holder)
    )`,
    `create index holds_due on holds (expires_at) where state = 'held' and expires_at is not null`,
    `create index holds_ended on holds (updated_at) where state in ('released', 'expired', 'fulfilled')`,
    `create table hold_lines (
      organization_id text not null,
      holder text not null,
      sellable_id uuid not null,
      warehouse_id uuid not null,
      quantity int not null check (quantity >= 0),
      primary key (organization_id, holder, sellable_id, warehouse_id)
    )`,
    `create table stock_movements (
      id uuid primary key,
      organization_id text not null,
      entity_id uuid not null,
      variant_id uuid,
      warehouse_id uuid not null,
      type text not null check (type in
        ('receipt', 'sale', 'return', 'adjustment', 'transfer', 'reservation', 'release', 'fulfillment')),
      quantity int not null,
      reference_type text,
      reference_id text,
      reason text,
      performed_by text,
      performed_at timestamptz not null default now()
    )`,
    `create index stock_movements_entity on stock_movements (organization_id, entity_id, performed_at desc)`,
    `create index stock_movements_order on stock_movements (organization_id, reference_id)
      where type in ('fulfillment', 'return')`
  ),
  // Joined by other modules: columns keep name and meaning.
  "0002_read_views": statements(
    `create view stock_levels_read as
      select id, organization_id, warehouse_id, entity_id, variant_id, on_hand, reserved, incoming, unit_cost,
        reorder_threshold, reorder_quantity, last_restocked_at, updated_at, allow_negative
      from stock_levels`,
    `create view stock_movements_read as
      select id, organization_id, entity_id, variant_id, warehouse_id, type, quantity, reference_type, reference_id,
        reason, performed_by, performed_at
      from stock_movements`,
    `create view warehouses_read as
      select id, organization_id, name, code, address, is_active, priority, metadata
      from warehouses`
  ),
  "0003_postings": statements(
    // A moving average has more decimals than `unit_cost` shows. It counts while `unit_cost` is its rounding: a cost
    // set by hand replaces it.
    `alter table stock_levels
      add column in_transit int not null default 0 check (in_transit >= 0),
      add column average_cost numeric(28, 10) check (average_cost >= 0),
      add check (incoming >= 0)`,
    // The cost of a unit; null where it is unknown, and for what moved no goods.
    "alter table stock_movements add column unit_cost numeric(28, 10)",
    // A document posts once. `lines` is the request, `posted` the answer to each line.
    `create table stock_postings (
      organization_id text not null references organizations,
      reference_type text not null,
      reference_id text not null,
      lines jsonb not null,
      posted jsonb not null,
      posted_at timestamptz not null default now(),
      primary key (organization_id, reference_type, reference_id)
    )`,
    `create or replace view stock_levels_read as
      select id, organization_id, warehouse_id, entity_id, variant_id, on_hand, reserved, incoming, unit_cost,
        reorder_threshold, reorder_quantity, last_restocked_at, updated_at, allow_negative, in_transit
      from stock_levels`,
    `create or replace view stock_movements_read as
      select id, organization_id, entity_id, variant_id, warehouse_id, type, quantity, reference_type, reference_id,
        reason, performed_by, performed_at, unit_cost
      from stock_movements`
  ),
  "0004_counted": statements(
    "create index warehouses_listed on warehouses (organization_id, priority, id)",
    ...countedBy({ table: "warehouses" }),
    ...countedBy({ table: "stock_levels", part: (row) => `${row}.warehouse_id::text` })
  ),
  "0005_sold_units": statements(
    `create index stock_movements_left on stock_movements (organization_id, reference_id)
      where type in ('fulfillment', 'sale', 'return')`
  ),
  // Read by plugins (docs/plugins.md): columns are never renamed or removed.
  "0006_plugin_views": statements(
    `create view plugin_warehouses as
      select id, organization_id, name, code, is_active, priority, metadata
      from warehouses`,
    `create view plugin_stock_levels as
      select id, organization_id, warehouse_id, entity_id, variant_id, on_hand as quantity_on_hand,
        reserved as quantity_reserved, incoming as quantity_incoming, in_transit as quantity_in_transit, unit_cost,
        reorder_threshold, reorder_quantity, last_restocked_at, updated_at
      from stock_levels`
  ),
  "0007_plugin_average_cost": statements(
    `create or replace view plugin_stock_levels as
      select id, organization_id, warehouse_id, entity_id, variant_id, on_hand as quantity_on_hand,
        reserved as quantity_reserved, incoming as quantity_incoming, in_transit as quantity_in_transit, unit_cost,
        reorder_threshold, reorder_quantity, last_restocked_at, updated_at,
        case when round(average_cost) = unit_cost then average_cost else unit_cost end as average_cost
      from stock_levels`
  ),
  "0008_backorders": statements(...backorderAllocation)
}
