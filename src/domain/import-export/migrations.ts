import { statements } from "../platform/database/MigrationStatements.ts"
import { countedBy } from "../platform/paging/migrations.ts"

export const migrations = {
  "0001_import_export": statements(
    `create table imports (
      id uuid primary key,
      organization_id text not null references organizations,
      kind text not null 
        check (kind in ('catalog', 'categories', 'brands', 'prices', 'stock', 'customers', 'orders')),
      format text not null check (format in ('csv', 'jsonl', 'shopify', 'woocommerce')),
      file_name text,
      dry_run boolean not null,
      currency text,
      warehouse text,
      pictures boolean not null default false,
      state text not null default 'receiving'
        check (state in ('receiving', 'queued', 'running', 'completed', 'failed', 'cancelled')),
      bytes bigint not null default 0,
      rows int not null default 0,
      -- How far it is: moves in the transaction of each batch, so that no row is worked on twice.
      read int not null default 0,
      created int not null default 0,
      updated int not null default 0,
      unchanged int not null default 0,
      refused int not null default 0,
      error text,
      -- Who sent it: the changes are theirs.
      actor jsonb not null,
      created_by text,
      -- A repeated request finds its first answer: whose key it is, and what the request was.
      key_scope text,
      content_hash text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      started_at timestamptz,
      completed_at timestamptz,
      constraint imports_add_up check (read = created + updated + unchanged + refused),
      constraint imports_within_file check (read <= rows),
      constraint imports_end check ((completed_at is null) = (state in ('receiving', 'queued', 'running')))
    ) with (fillfactor = 70)`,
    `create unique index imports_key on imports (organization_id, key_scope) where key_scope is not null`,
    `create index imports_created on imports (organization_id, created_at desc, id desc)`,
    // For the scheduled job that finds imports without a worker.
    `create index imports_open on imports (updated_at) where state in ('receiving', 'queued', 'running')`,
    `create index imports_ended on imports (completed_at) where completed_at is not null`,
    `create table import_rows (
      organization_id text not null,
      import_id uuid not null references imports on delete cascade,
      row int not null,
      line int not null,
      bytes int not null,
      record jsonb,
      problem text,
      primary key (import_id, row)
    )`,
    `create table import_refusals (
      organization_id text not null,
      import_id uuid not null references imports on delete cascade,
      row int not null,
      line int not null,
      key text,
      issues jsonb not null,
      primary key (import_id, row)
    )`
  ),
  "0002_counted": statements(
    ...countedBy({ table: "imports" })
  ),
  "0003_warnings": statements(
    `alter table imports add column warned int not null default 0`,
    `create table import_warnings (
      organization_id text not null,
      import_id uuid not null references imports on delete cascade,
      row int not null,
      line int not null,
      key text,
      issues jsonb not null,
      primary key (import_id, row)
    )`
  ),
  // Rows about one product of another shop's file find each other while it arrives.
  "0004_scattered_rows": statements(
    "alter table import_rows add column key text",
    "create unique index import_rows_key on import_rows (import_id, key) where key is not null"
  ),
  "0005_planned_changes": statements(
    "alter table imports drop constraint imports_format_check",
    `alter table imports add constraint imports_format_check
      check (format in ('csv', 'jsonl', 'shopify', 'woocommerce', 'square', 'magento'))`,
    `create table import_changes (
      organization_id text not null,
      import_id uuid not null references imports on delete cascade,
      row int not null,
      line int not null,
      key text,
      result text not null check (result in ('created', 'updated')),
      changes jsonb not null,
      primary key (import_id, row)
    )`
  )
}
