import { statements } from "../modules/StatementsRepo.ts"

export const migrations = {
  "0001_customers": statements(
    // A row stays when its person is erased, because orders refer to it: without a login and without a word about him.
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
      unique (organization_id, user_id),
      constraint nothing_left_of_the_erased check (erased_at is null or (user_id is null and email is null
        and phone is null and first_name is null and last_name is null and metadata = '{}'))
    )`,
    `create index customers_created on customers (organization_id, created_at desc, id desc) where erased_at is null`,
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
    `create unique index customer_addresses_default on customer_addresses (customer_id, type) where is_default`
  )
}
