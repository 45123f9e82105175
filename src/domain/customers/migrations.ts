import { statements } from "../modules/StatementsRepo.ts"

export const migrations = {
  "0001_customers": statements(
    `create table customers (
      id uuid primary key,
      organization_id text not null references organizations,
      user_id text,
      email text,
      name text,
      group_ids text[] not null default '{}',
      metadata jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (organization_id, user_id)
    )`
  )
}
