import { statements } from "../platform/database/MigrationStatements.ts"
import { countedBy } from "../platform/paging/migrations.ts"

/** Every process drops its cache of the organization's rules (`layers/access/RequestActors.ts`). */
const tells = (table: string) =>
  `create trigger ${table}_changed after insert or update or delete on ${table} for each row
    execute function tell_tax()`

/** Rates are in basis points: 1900 is 19 % (contract §3.5). */
export const migrations = {
  "0001_tax": statements(
    `create table tax_classes (
      id uuid primary key,
      organization_id text not null references organizations,
      -- What entities and variants say as their taxClass.
      name text not null,
      rate_bps int not null check (rate_bps between 0 and 10000),
      is_default boolean not null default false,
      is_active boolean not null default true,
      metadata jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`,
    `create unique index tax_classes_name on tax_classes (organization_id, name)`,
    // At most one default, also with concurrent requests.
    `create unique index tax_classes_default on tax_classes (organization_id) where is_default`,
    `create table tax_rates (
      id uuid primary key,
      organization_id text not null references organizations,
      name text not null,
      -- Code of a country in upper case.
      country text not null check (country ~ '^[A-Z]{2}$'),
      -- Null: everywhere in the country where no rate names the state.
      state text,
      rate_bps int not null check (rate_bps between 0 and 10000),
      applies_to_shipping boolean not null default true,
      priority int not null default 100,
      is_active boolean not null default true,
      metadata jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`,
    // A rate entered twice would be charged twice.
    `create unique index tax_rates_name on tax_rates (organization_id, country, coalesce(upper(state), ''), name)`,
    `create index tax_rates_order on tax_rates (organization_id, priority, id)`,
    `create function tell_tax() returns trigger language plpgsql as $$
    begin
      perform pg_notify('auth_changed',
        'tax:' || case when tg_op = 'DELETE' then old.organization_id else new.organization_id end);
      return null;
    end $$`,
    tells("tax_classes"),
    tells("tax_rates")
  ),
  "0002_counted": statements(
    ...countedBy({ table: "tax_classes" }),
    ...countedBy({ table: "tax_rates" })
  )
}
