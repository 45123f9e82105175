import { statements } from "../platform/database/MigrationStatements.ts"
import { countedBy } from "../platform/paging/migrations.ts"

export const migrations = {
  "0001_webhooks": statements(
    `create table webhook_endpoints (
      organization_id text not null references organizations,
      id uuid not null,
      url text not null,
      description text,
      events text[] not null check (cardinality(events) > 0),
      is_active boolean not null default true,
      -- Encrypted with the key of that name; the previous one signs too until it expires.
      secret text not null,
      secret_key_id text not null,
      previous_secret text,
      previous_secret_key_id text,
      previous_secret_until timestamptz,
      failing_since timestamptz,
      disabled_at timestamptz,
      disabled_reason text check (disabled_reason in ('failing', 'gone')),
      metadata jsonb not null default '{}',
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (organization_id, id)
    ) with (fillfactor = 80)`,
    `create index webhook_endpoints_order on webhook_endpoints (organization_id, created_at desc, id desc)`,
    // The body as sent: the same bytes over all attempts, also after an upgrade and after the event was deleted. Only
    // events with a subscriber have a row.
    `create table webhook_messages (
      organization_id text not null,
      event_id uuid not null,
      type text not null,
      entity_type text not null,
      entity_id text not null,
      sequence bigint not null,
      body text not null,
      event_at timestamptz not null,
      created_at timestamptz not null,
      primary key (organization_id, event_id)
    )`,
    `create index webhook_messages_age on webhook_messages (created_at)`,
    // Settling an open delivery deletes its row. 'waiting': an earlier event of the same record goes first, and its
    // settlement enqueues this one. No foreign key: the relay writes these rows for all organizations at once and must
    // not fail because an endpoint is being deleted.
    `create table webhook_dispatches (
      organization_id text not null,
      endpoint_id uuid not null,
      event_id uuid not null,
      entity_type text not null,
      entity_id text not null,
      sequence bigint not null,
      state text not null default 'pending' check (state in ('pending', 'waiting')),
      attempts int not null default 0,
      touched_at timestamptz not null,
      primary key (organization_id, endpoint_id, event_id)
    ) with (fillfactor = 70)`,
    `create index webhook_dispatches_record on webhook_dispatches
      (organization_id, endpoint_id, entity_type, entity_id, sequence)`,
    `create index webhook_dispatches_age on webhook_dispatches (touched_at)`,
    `create table webhook_deliveries (
      organization_id text not null,
      id uuid not null,
      endpoint_id uuid not null,
      event_id uuid not null,
      event_name text not null,
      attempt_count int not null,
      status_code int,
      duration_ms int not null,
      error text,
      response_snippet text,
      delivered_at timestamptz,
      failed_at timestamptz,
      next_retry_at timestamptz,
      created_at timestamptz not null,
      primary key (organization_id, id)
    )`,
    `create index webhook_deliveries_order on webhook_deliveries
      (organization_id, endpoint_id, created_at desc, id desc)`,
    `create index webhook_deliveries_age on webhook_deliveries (created_at)`
  ),
  "0002_counted": statements(
    ...countedBy({ table: "webhook_deliveries", part: (row) => `${row}.endpoint_id::text` })
  )
}
