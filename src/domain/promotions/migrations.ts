import { statements } from "../platform/database/MigrationStatements.ts"
import { countedBy } from "../platform/paging/migrations.ts"

export const migrations = {
  "0001_promotions": statements(
    `create table promotions (
      id uuid primary key,
      organization_id text not null references organizations,
      code text,
      name text not null,
      type text not null check (type in ('percentage_off_order', 'fixed_off_order', 'percentage_off_item',
        'fixed_off_item', 'free_shipping', 'buy_x_get_y')),
      value numeric not null check (value >= 0),
      currency text check (currency ~ '^[A-Z]{3}$'),
      buy_quantity int check (buy_quantity >= 1),
      get_quantity int check (get_quantity >= 1),
      is_automatic boolean not null default false,
      is_active boolean not null default true,
      stackable boolean not null default true,
      priority int not null default 100,
      conditions jsonb not null default '{}',
      usage_limit_total int check (usage_limit_total >= 0),
      usage_limit_per_customer int check (usage_limit_per_customer >= 0),
      used_count int not null default 0,
      valid_from timestamptz,
      valid_until timestamptz,
      metadata jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      check (type not in ('percentage_off_order', 'percentage_off_item') or value <= 100),
      constraint promotions_usage_limit check (usage_limit_total is null or used_count <= usage_limit_total)
    )`,
    `create unique index promotions_code on promotions (organization_id, code) where code is not null`,
    `create index promotions_automatic on promotions (organization_id, priority) where is_automatic and is_active`,
    `create index promotions_list on promotions (organization_id, priority, id)`,
    `create table promotion_usages (
      organization_id text not null,
      promotion_id uuid not null references promotions on delete cascade,
      order_id uuid not null,
      customer_id uuid,
      buyers text[],
      used_at timestamptz not null default now(),
      primary key (promotion_id, order_id)
    )`,
    `create index promotion_usages_order on promotion_usages (order_id)`,
    // Guest usage is counted by the digest of the address: an erasure of personal data keeps the count.
    `create table promotion_buyer_usages (
      organization_id text not null,
      promotion_id uuid not null references promotions on delete cascade,
      buyer text not null,
      used_count int not null,
      usage_limit int,
      primary key (organization_id, promotion_id, buyer),
      constraint promotions_customer_limit check (usage_limit is null or used_count <= usage_limit)
    )`
  ),
  "0002_counted": statements(
    ...countedBy({ table: "promotions" })
  )
}
