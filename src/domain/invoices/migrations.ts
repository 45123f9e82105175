import { statements } from "../platform/database/MigrationStatements.ts"

export const migrations = {
  "0001_invoices": statements(
    // Issuing an invoice locks the seller's row, so that numbers have no gaps.
    `create table invoice_counters (
      organization_id text primary key,
      last_number bigint not null
    )`,
    `create table invoices (
      order_id uuid primary key references orders on delete restrict,
      organization_id text not null,
      number bigint not null check (number >= 1),
      -- Fixed when the invoice is issued.
      content jsonb not null,
      issued_at timestamptz not null default now(),
      unique (organization_id, number)
    )`
  ),
  // Joined by other modules: columns keep name and meaning.
  "0002_read_views": statements(
    `create view invoices_read as
      select order_id, organization_id, number, content, issued_at
      from invoices`
  )
}
