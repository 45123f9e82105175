import { Effect } from "effect"
import { statements } from "../platform/database/MigrationStatements.ts"
import { countedBy } from "../platform/paging/migrations.ts"
import { normalizesEmails } from "../platform/text/NormalizedEmailsRepo.ts"
import { normalizesAddresses } from "./NormalizedAddressesRepo.ts"

export const migrations = {
  "0001_customers": statements(
    // The row stays when the customer is erased, because orders reference it, but without login and personal data.
    `create table customers (
      id uuid primary key,
      organization_id text not null references organizations,
      user_id text,
      email text,
      phone text,
      first_name text,
      last_name text,
      group_ids text[] not null default '{}',
      metadata jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      erased_at timestamptz,
      constraint customers_login unique (organization_id, user_id),
      constraint nothing_left_of_the_erased check (erased_at is null or (user_id is null and email is null
        and phone is null and first_name is null and last_name is null and metadata = '{}'))
    )`,
    `create index customers_created on customers (organization_id, created_at desc, id desc) where erased_at is null`,
    `create index customers_email on customers (organization_id, lower(email) text_pattern_ops) where erased_at is null`,
    `create index customers_full_name on customers (organization_id,
      lower(coalesce(first_name, '') || ' ' || coalesce(last_name, '')) text_pattern_ops) where erased_at is null`,
    `create index customers_last_name on customers (organization_id, lower(last_name) text_pattern_ops)
      where erased_at is null`,
    `create table customer_addresses (
      id uuid primary key,
      organization_id text not null,
      customer_id uuid not null references customers on delete cascade,
      type text not null check (type in ('shipping', 'billing')),
      is_default boolean not null default false,
      first_name text not null,
      last_name text not null,
      line1 text not null,
      line2 text,
      city text not null,
      state text,
      postal_code text,
      country text not null,
      phone text,
      created_at timestamptz not null default now()
    )`,
    `create index customer_addresses_customer on customer_addresses (customer_id, created_at, id)`,
    `create unique index customer_addresses_default on customer_addresses (customer_id, type) where is_default`,
    `create table customer_groups (
      id uuid primary key,
      organization_id text not null references organizations,
      name text not null,
      description text,
      metadata jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint customer_groups_name unique (organization_id, name)
    )`,
    // Prices and promotions reference groups, so a group with members cannot be deleted.
    `create table customer_group_members (
      organization_id text not null,
      group_id uuid not null references customer_groups on delete restrict,
      customer_id uuid not null references customers on delete cascade,
      joined_at timestamptz not null default clock_timestamp(),
      primary key (group_id, customer_id)
    )`,
    `create index customer_group_members_joined on customer_group_members (group_id, joined_at desc, customer_id desc)`,
    `create index customer_group_members_customer on customer_group_members (customer_id)`,
    // Updates a single id in the profile: two memberships at once do not overwrite each other.
    `create function customer_group_ids() returns trigger language plpgsql as $$
      begin
        update customers set updated_at = now(), group_ids = case tg_op
            when 'INSERT' then array_append(array_remove(group_ids, new.group_id::text), new.group_id::text)
            else array_remove(group_ids, old.group_id::text) end
          where id = case tg_op when 'INSERT' then new.customer_id else old.customer_id end;
        return null;
      end $$`,
    `create trigger customer_group_members_ids after insert or delete on customer_group_members
      for each row execute function customer_group_ids()`,
    `create table customer_interactions (
      id uuid primary key,
      organization_id text not null,
      customer_id uuid not null references customers on delete cascade,
      kind text not null check (kind in ('visit', 'call', 'inquiry', 'fitting', 'follow_up', 'message')),
      notes text not null,
      related_entity_id uuid,
      metadata jsonb not null default '{}',
      created_by text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`,
    `create index customer_interactions_customer on customer_interactions (customer_id, created_at desc, id desc)`
  ),
  // Joined by other modules: columns keep name and meaning.
  "0002_read_views": statements(
    `create view customer_addresses_read as
      select id, organization_id, customer_id, type, is_default, first_name, last_name, line1, line2, city, state,
        postal_code, country, phone, created_at
      from customer_addresses`,
    `create view customer_group_members_read as
      select organization_id, group_id, customer_id, joined_at
      from customer_group_members`,
    `create view customer_groups_read as
      select id, organization_id, name, description, metadata, created_at, updated_at
      from customer_groups`,
    `create view customers_read as
      select id, organization_id, user_id, email, phone, first_name, last_name, group_ids, metadata, created_at,
        updated_at, erased_at
      from customers`
  ),
  // Read by plugins (docs/plugins.md): columns are never renamed or removed.
  "0003_plugin_views": statements(
    `create view plugin_customers as
      select id, organization_id, user_id, email, phone, first_name, last_name, group_ids, metadata, created_at,
        updated_at, erased_at
      from customers`
  ),
  "0004_counted": statements(
    ...countedBy({ table: "customers", part: (row) => `case when ${row}.erased_at is null then '' end` }),
    ...countedBy({ table: "customer_groups" }),
    ...countedBy({ table: "customer_group_members", part: (row) => `${row}.group_id::text` })
  ),
  // Every process drops what it remembers of the organization's exemptions (`layers/access/RequestActors.ts`).
  "0005_tax_exemptions": statements(
    `create function tell_exemptions() returns trigger language plpgsql as $$
    begin
      perform pg_notify('auth_changed', 'exemptions:' || new.organization_id);
      return null;
    end $$`,
    ...["customers", "customer_groups"].flatMap((table) => [
      `alter table ${table} add column tax_exemption jsonb`,
      `create index ${table}_exempt on ${table} (organization_id) where tax_exemption is not null`,
      `create trigger ${table}_exempt after update of tax_exemption on ${table} for each row
        when (old.tax_exemption is distinct from new.tax_exemption) execute function tell_exemptions()`
    ]),
    `alter table customers
      add constraint nothing_exempts_the_erased check (erased_at is null or tax_exemption is null)`,
    `create or replace view customers_read as
      select id, organization_id, user_id, email, phone, first_name, last_name, group_ids, metadata, created_at,
        updated_at, erased_at, tax_exemption
      from customers`,
    `create or replace view plugin_customers as
      select id, organization_id, user_id, email, phone, first_name, last_name, group_ids, metadata, created_at,
        updated_at, erased_at, tax_exemption
      from customers`,
    `create or replace view customer_groups_read as
      select id, organization_id, name, description, metadata, created_at, updated_at, tax_exemption
      from customer_groups`
  ),
  // Imports create customers with an exemption.
  "0006_exempt_from_the_start": statements(
    `create trigger customers_made_exempt after insert on customers for each row
      when (new.tax_exemption is not null) execute function tell_exemptions()`
  ),
  "0007_normalized_emails": normalizesEmails("customers"),
  "0008_whole_addresses": Effect.andThen(
    statements(
      `alter table customer_addresses add column name text, add column company text, add column vat_number text,
        add column unchecked boolean not null default false`,
      `create or replace view customer_addresses_read as
        select id, organization_id, customer_id, type, is_default, first_name, last_name, line1, line2, city, state,
          postal_code, country, phone, created_at, name, company, vat_number, unchecked
        from customer_addresses`
    ),
    normalizesAddresses
  )
}
