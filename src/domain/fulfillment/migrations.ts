import { statements } from "../platform/database/MigrationStatements.ts"

export const migrations = {
  "0001_fulfillment": statements(
    `create table fulfillments (
      id uuid primary key,
      organization_id text not null,
      order_id uuid not null references orders on delete cascade,
      type text not null check (type in ('physical', 'digital-download', 'digital-access', 'internal-transfer')),
      status text not null check (status in
        ('pending', 'processing', 'shipped', 'delivered', 'fulfilled', 'cancelled', 'failed')),
      carrier text,
      tracking_number text,
      tracking_url text,
      estimated_delivery timestamptz,
      shipped_at timestamptz,
      delivered_at timestamptz,
      -- The digital line it delivers: at most one for each, even if the delivery repeats.
      order_line_id uuid unique references order_lines on delete cascade,
      metadata jsonb not null default '{}',
      -- Remarks of its creator; the service does not read them.
      details jsonb,
      -- Units it took from stock, by sellable and warehouse: a cancelled shipment puts them back there.
      taken jsonb not null default '[]',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`,
    `create index fulfillments_order on fulfillments (order_id, created_at)`,
    `create table fulfillment_lines (
      organization_id text not null,
      fulfillment_id uuid not null references fulfillments on delete cascade,
      order_line_id uuid not null references order_lines on delete cascade,
      quantity int not null check (quantity >= 1),
      primary key (fulfillment_id, order_line_id)
    )`,
    `create table fulfillment_events (
      id uuid not null,
      organization_id text not null,
      fulfillment_id uuid not null references fulfillments on delete cascade,
      event_type text not null check (event_type in ('created', 'status_changed', 'tracking_changed')),
      from_status text,
      to_status text not null,
      description text,
      actor_id text,
      occurred_at timestamptz not null default now(),
      primary key (fulfillment_id, id)
    )`
  ),
  // Joined by other modules: columns keep name and meaning.
  "0002_read_views": statements(
    `create view fulfillment_lines_read as
      select organization_id, fulfillment_id, order_line_id, quantity
      from fulfillment_lines`,
    `create view fulfillments_read as
      select id, organization_id, order_id, type, status, carrier, tracking_number, tracking_url, estimated_delivery,
        shipped_at, delivered_at, order_line_id, metadata, details, created_at, updated_at
      from fulfillments`
  ),
  // Read by plugins (docs/plugins.md): columns are never renamed or removed.
  "0003_plugin_views": statements(
    `create view plugin_fulfillments as
      select id, organization_id, order_id, type, status, carrier, tracking_number, tracking_url, estimated_delivery,
        shipped_at, delivered_at, taken, created_at, updated_at
      from fulfillments`
  )
}
