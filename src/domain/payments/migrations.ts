import { statements } from "../modules/StatementsRepo.ts"

export const migrations = {
  "0001_payments": statements(
    // Money to give back, written in the transaction that decided it; a durable step settles it with the provider.
    `create table refunds (
      id uuid primary key,
      organization_id text not null,
      order_id uuid not null references orders,
      amount bigint not null check (amount >= 0),
      reason text not null,
      status text not null check (status in ('pending', 'completed', 'failed')),
      provider_reference text,
      failure text,
      performed_by text,
      attempts int not null default 0,
      next_attempt_at timestamptz not null default now() + interval '1 minute',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`,
    `create index refunds_order on refunds (order_id)`,
    // Whose turn it is: every attempt puts a refund behind those that wait for theirs.
    `create index refunds_pending on refunds (next_attempt_at) where status = 'pending'`,
    // An event of a payment provider is worked on once (contract §11).
    `create table payment_events (
      organization_id text not null,
      provider text not null,
      event_id text not null,
      type text not null,
      received_at timestamptz not null default now(),
      primary key (organization_id, provider, event_id)
    )`,
    `create index payment_events_age on payment_events (received_at)`
  )
}
