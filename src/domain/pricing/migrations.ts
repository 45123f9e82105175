import { statements } from "../platform/database/MigrationStatements.ts"
import { countedBy } from "../platform/paging/migrations.ts"

export const migrations = {
  "0001_pricing": statements(
    `create table prices (
      id uuid primary key,
      organization_id text not null references organizations,
      entity_id uuid not null references catalog_entities on delete cascade,
      variant_id uuid references variants on delete cascade,
      currency text not null check (currency ~ '^[A-Z]{3}$'),
      amount bigint not null check (amount between 0 and 9007199254740991),
      compare_at_amount bigint check (compare_at_amount between 0 and 9007199254740991),
      customer_group_id text,
      min_quantity int check (min_quantity >= 1),
      max_quantity int check (max_quantity >= 1),
      valid_from timestamptz,
      valid_until timestamptz,
      metadata jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`,
    // The natural key of a price: setting it again overwrites, also when two requests do so at once (contract §7).
    `create unique index prices_natural on prices (organization_id, entity_id, variant_id, currency, customer_group_id,
      min_quantity, max_quantity, valid_from, valid_until) nulls not distinct`,
    `create index prices_created on prices (organization_id, created_at desc, id desc)`,
    `create index prices_group on prices (organization_id, customer_group_id, created_at desc, id desc)
      where customer_group_id is not null`,
    // For the foreign keys: without these indexes, deleting an entity or a variant reads every price of every
    // organization.
    `create index prices_entity on prices (entity_id)`,
    `create index prices_variant on prices (variant_id) where variant_id is not null`,
    `create table price_modifiers (
      id uuid primary key,
      organization_id text not null references organizations,
      name text not null,
      type text not null check (type in ('percentage_discount', 'fixed_discount', 'markup', 'percentage_markup',
        'override')),
      value bigint not null check (value >= 0),
      priority int not null default 100,
      entity_id uuid references catalog_entities on delete cascade,
      variant_id uuid references variants on delete cascade,
      customer_group_id text,
      currency text check (currency ~ '^[A-Z]{3}$'),
      min_quantity int,
      max_quantity int,
      conditions jsonb not null default '{}',
      valid_from timestamptz,
      valid_until timestamptz,
      metadata jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      check (type <> 'percentage_discount' or value <= 100),
      check (type <> 'percentage_markup' or value <= 1000),
      check (type in ('percentage_discount', 'percentage_markup') or currency is not null)
    )`,
    `create index price_modifiers_scope on price_modifiers (organization_id, entity_id, priority)`,
    `create index price_modifiers_order on price_modifiers (organization_id, priority, id)`,
    `create index price_modifiers_entity on price_modifiers (entity_id) where entity_id is not null`,
    `create index price_modifiers_variant on price_modifiers (variant_id) where variant_id is not null`
  ),
  // Joined by other modules: columns keep name and meaning.
  "0002_read_views": statements(
    `create view prices_read as
      select id, organization_id, entity_id, variant_id, currency, amount, compare_at_amount, customer_group_id,
        min_quantity, max_quantity, valid_from, valid_until, metadata, created_at, updated_at
      from prices`
  ),
  "0003_counted": statements(
    ...countedBy({ table: "prices" }),
    ...countedBy({ table: "price_modifiers" })
  ),
  // Read by plugins (docs/plugins.md): columns are never renamed or removed.
  "0004_plugin_views": statements(
    `create view plugin_prices as
      select id, organization_id, entity_id, variant_id, currency, amount, compare_at_amount, customer_group_id,
        min_quantity, max_quantity, valid_from, valid_until, metadata, created_at, updated_at
      from prices`,
    `create view plugin_price_modifiers as
      select id, organization_id, name, type, value, priority, entity_id, variant_id, customer_group_id, currency,
        min_quantity, max_quantity, conditions, valid_from, valid_until, metadata, created_at, updated_at
      from price_modifiers`,
    ...["prices", "price_modifiers"].map((table) =>
      `create index ${table}_windows on ${table} (organization_id) where valid_from is not null or valid_until is not null`
    )
  )
}
