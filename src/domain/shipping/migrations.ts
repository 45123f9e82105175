import { statements } from "../platform/database/MigrationStatements.ts"
import { countedBy } from "../platform/paging/migrations.ts"

/** Every process drops its cache of the organization's rules (`layers/access/RequestActors.ts`). */
const tells = (table: string) =>
  `create trigger ${table}_changed after insert or update or delete on ${table} for each row
    execute function tell_shipping()`

/** Zones and rates (contract §3.4). Amounts in minor units, weights in grams. */
export const migrations = {
  "0001_shipping": statements(
    `create table shipping_zones (
      id uuid primary key,
      organization_id text not null references organizations,
      name text not null,
      -- Upper case: codes of countries, or * for everywhere.
      countries text[] not null check (cardinality(countries) >= 1),
      -- Upper case; null for all of these countries.
      states text[] check (cardinality(states) >= 1),
      priority int not null default 100,
      is_active boolean not null default true,
      metadata jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      -- Referenced by the rates: a rate belongs to a zone of the same organization.
      unique (organization_id, id)
    )`,
    `create unique index shipping_zones_name on shipping_zones (organization_id, name)`,
    `create index shipping_zones_order on shipping_zones (organization_id, priority, id)`,
    `create table shipping_rates (
      id uuid primary key,
      organization_id text not null references organizations,
      zone_id uuid not null,
      name text not null,
      currency text not null check (currency ~ '^[A-Z]{3}$'),
      amount bigint not null check (amount between 0 and 9007199254740991),
      min_subtotal bigint check (min_subtotal between 0 and 9007199254740991),
      max_subtotal bigint check (max_subtotal between 0 and 9007199254740991),
      min_weight_grams bigint check (min_weight_grams between 0 and 9007199254740991),
      max_weight_grams bigint check (max_weight_grams between 0 and 9007199254740991),
      free_shipping_threshold bigint check (free_shipping_threshold between 0 and 9007199254740991),
      is_active boolean not null default true,
      metadata jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      check (max_subtotal >= min_subtotal),
      check (max_weight_grams >= min_weight_grams),
      -- No cascade: a zone with rates cannot be deleted.
      constraint shipping_rates_zone foreign key (organization_id, zone_id)
        references shipping_zones (organization_id, id)
    )`,
    `create index shipping_rates_in_zone on shipping_rates (organization_id, zone_id, amount, id)`,
    `create index shipping_rates_order on shipping_rates (organization_id, amount, id)`,
    `create function tell_shipping() returns trigger language plpgsql as $$
    begin
      perform pg_notify('auth_changed',
        'shipping:' || case when tg_op = 'DELETE' then old.organization_id else new.organization_id end);
      return null;
    end $$`,
    tells("shipping_zones"),
    tells("shipping_rates")
  ),
  "0002_counted": statements(
    ...countedBy({ table: "shipping_zones" }),
    ...countedBy({ table: "shipping_rates", part: (row) => `${row}.zone_id::text` })
  ),
  // The tax module adds the foreign key: its classes come later.
  "0003_tax_class": statements(
    "alter table shipping_rates add column tax_class_id uuid",
    `create view shipping_rates_read as select id, organization_id, zone_id, name, currency, amount, min_subtotal,
      max_subtotal, min_weight_grams, max_weight_grams, free_shipping_threshold, tax_class_id, is_active, metadata,
      created_at, updated_at from shipping_rates`
  ),
  "0004_estimate": statements(
    "alter table shipping_rates add column estimate text check (char_length(estimate) <= 100)",
    `create or replace view shipping_rates_read as select id, organization_id, zone_id, name, currency, amount,
      min_subtotal, max_subtotal, min_weight_grams, max_weight_grams, free_shipping_threshold, tax_class_id, is_active,
      metadata, created_at, updated_at, estimate from shipping_rates`
  )
}
