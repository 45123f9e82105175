import { statements } from "../platform/database/MigrationStatements.ts"
import { normalizesEmails } from "../platform/text/NormalizedEmailsRepo.ts"

export const migrations = {
  "0001_carts": statements(
    `create table carts (
      id uuid primary key,
      organization_id text not null,
      customer_id uuid,
      status text not null check (status in ('active', 'checking_out', 'merged', 'checked_out', 'abandoned')),
      currency text not null,
      email text,
      secret_hash text not null,
      checkout_id uuid,
      version bigint not null default 0,
      metadata jsonb not null default '{}',
      expires_at timestamptz not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    ) with (fillfactor = 70)`,
    `create index carts_expiry on carts (expires_at) where status = 'active'`,
    `create index carts_ended on carts (expires_at) where status <> 'active'`,
    `create index carts_customer on carts (organization_id, customer_id) where customer_id is not null`,
    `create table cart_lines (
      id uuid primary key,
      organization_id text not null,
      cart_id uuid not null references carts on delete cascade,
      entity_id uuid not null,
      variant_id uuid,
      quantity int not null check (quantity >= 1),
      unit_price_snapshot bigint not null check (unit_price_snapshot between 0 and 9007199254740991),
      currency text not null,
      notes text,
      metadata jsonb not null default '{}',
      added_at timestamptz not null default now()
    )`,
    // One line per sellable of a cart, also after concurrent adds (contract §12.1).
    `create unique index cart_lines_sellable on cart_lines (cart_id, entity_id, variant_id) nulls not distinct`,
    `create index cart_lines_entity on cart_lines (organization_id, entity_id)`
  ),
  // Joined by other modules: columns keep name and meaning.
  "0002_read_views": statements(
    `create view cart_lines_read as
      select id, organization_id, cart_id, entity_id, variant_id, quantity, unit_price_snapshot, currency, notes,
        metadata, added_at
      from cart_lines`,
    `create view carts_read as
      select id, organization_id, customer_id, status, currency, email, metadata, expires_at, created_at, updated_at
      from carts`
  ),
  // Lines of one sellable that differ by metadata. A separate table, because version 0.2.0 writes with `on conflict
  // (cart_id, entity_id, variant_id)`, which needs exactly that unique index. A hash, because an index entry holds less
  // than 4 kB; a column, so that an erasure may clear the metadata.
  "0003_lines_with_metadata": statements(
    `create table cart_lines_with_metadata (
      metadata_hash text not null,
      primary key (id),
      foreign key (cart_id) references carts on delete cascade
    ) inherits (cart_lines)`,
    `create unique index cart_lines_with_metadata_sellable
      on cart_lines_with_metadata (cart_id, entity_id, variant_id, metadata_hash) nulls not distinct`,
    `create index cart_lines_with_metadata_entity on cart_lines_with_metadata (organization_id, entity_id)`
  ),
  "0004_choices": statements("alter table carts add column choices jsonb not null default '{}'"),
  "0005_held_by": statements("alter table carts add column held_by text"),
  "0006_normalized_emails": normalizesEmails("carts")
}
