import { statements } from "../database/MigrationStatements.ts"
import { listTotals } from "../paging/migrations.ts"

export const migrations = {
  "0001_tenancy": statements(
    `create table organizations (
      id text primary key default gen_random_uuid()::text,
      slug text not null unique,
      name text not null,
      logo text,
      -- JSON as text, for those who manage the organization.
      metadata text,
      created_at timestamptz not null default now()
    )`,
    `insert into organizations (id, slug, name) values ('org_default', 'default', 'Default store')`,
    `create table idempotency_keys (
      organization_id text not null,
      scope text not null,
      -- Digest of the key; the response is encrypted with the key itself, which is not stored.
      key_digest text not null,
      request_hash text not null,
      execution_id uuid not null,
      status text not null check (status in ('running', 'done')),
      response_status int,
      encrypted_response text,
      locked_until timestamptz not null,
      created_at timestamptz not null default now(),
      primary key (organization_id, scope, key_digest)
    )`,
    `create index idempotency_keys_age on idempotency_keys (created_at)`,
    // Written in the statement of the change, so that it happens once.
    `create table idempotency_records (
      organization_id text not null,
      execution_id uuid not null,
      created_at timestamptz not null default now(),
      primary key (organization_id, execution_id)
    )`,
    `create index idempotency_records_age on idempotency_records (created_at)`,
    `create table plugin_tables (name text primary key, plugin text not null)`
  ),
  // Other modules may join these columns, so they stay.
  "0002_read_views": statements(
    `create view organizations_read as
      select id, slug, name, logo, metadata, created_at
      from organizations`
  ),
  // For plugins (docs/plugins.md): columns are added, and never renamed or removed.
  "0003_plugin_views": statements(
    `create view plugin_organizations as
      select id, slug, name, created_at
      from organizations`
  ),
  "0004_list_totals": statements(...listTotals)
}
