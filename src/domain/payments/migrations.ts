import { statements } from "../platform/database/MigrationStatements.ts"
import { countedBy } from "../platform/paging/migrations.ts"

export const migrations = {
  "0001_payments": statements(
    // Written in the transaction that decides them; a durable step settles them with the provider.
    `create table refunds (
      id uuid primary key,
      organization_id text not null,
      order_id uuid not null references orders,
      kind text not null default 'refund' check (kind in ('refund', 'return')),
      amount bigint not null check (amount >= 0),
      shipping_amount bigint not null default 0 check (shipping_amount between 0 and amount),
      -- What the shipping that it gives back was worth; more than its amount where less than the worth was agreed.
      shipping_value bigint not null default 0 check (shipping_value >= shipping_amount),
      reason text not null,
      status text not null check (status in ('pending', 'completed', 'failed', 'undone')),
      provider_reference text,
      failure text,
      performed_by text,
      -- Units it took out of the order's hold, by warehouse: they are held again when it comes to nothing.
      released_stock jsonb not null default '[]',
      -- Since when the provider may know of it; from then on it cannot be undone.
      sent_at timestamptz,
      -- How often it was restarted, and how often its provider has refused it: each refusal ends one key.
      restarts int not null default 0,
      refusals int not null default 0,
      undone_at timestamptz,
      undone_by text,
      attempts int not null default 0,
      next_attempt_at timestamptz not null default now() + interval '1 minute',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`,
    `create index refunds_order on refunds (order_id)`,
    `create table refund_lines (
      organization_id text not null,
      refund_id uuid not null references refunds on delete cascade,
      order_line_id uuid not null references order_lines on delete cascade,
      quantity int not null check (quantity >= 1),
      amount bigint not null check (amount >= 0),
      value bigint not null check (value >= amount),
      restock boolean not null default false,
      restocked int not null default 0 check (restocked between 0 and quantity),
      primary key (refund_id, order_line_id)
    )`,
    // Pending refunds count as refunded. Lock the order's row first, so that the second of two concurrent refunds sees
    // the first. A no-key lock suffices: a full one would deadlock with the share lock of the foreign key.
    `create function refunds_within_capture() returns trigger language plpgsql as $$
    declare remaining bigint;
    begin
      perform 1 from orders where id = new.order_id for no key update;
      select coalesce(o.amount_captured, 0) - o.refunded_total - coalesce((select sum(r.amount) from refunds r
          where r.order_id = o.id and r.status = 'pending'), 0) into remaining
        from orders o where o.id = new.order_id;
      if remaining < 0 then
        raise exception 'order % would give back % more than was captured', new.order_id, -remaining
          using errcode = 'check_violation', constraint = 'refunds_within_capture';
      end if;
      return null;
    end $$`,
    `create trigger refunds_within_capture after insert or update of amount, status on refunds for each row
      when (new.amount > 0 and new.status = 'pending') execute function refunds_within_capture()`,
    `create table compensation_failures (
      id uuid primary key,
      organization_id text not null,
      kind text not null check (kind in ('refund_failed', 'void_failed')),
      status text not null default 'open' check (status in ('open', 'retried', 'resolved')),
      order_id uuid,
      refund_id uuid references refunds,
      provider text,
      payment_intent_id text,
      amount bigint not null check (amount >= 0),
      message text not null,
      note text,
      resolved_by text,
      resolved_at timestamptz,
      created_at timestamptz not null default now()
    )`,
    `create index compensation_failures_listed on compensation_failures (organization_id, created_at desc, id desc)`,
    `create index compensation_failures_open on compensation_failures (organization_id, created_at desc, id desc)
      where status = 'open'`,
    `create index compensation_failures_order on compensation_failures (order_id) where order_id is not null`,
    `create unique index compensation_failures_refund on compensation_failures (refund_id) where status = 'open'`,
    `create index refunds_pending on refunds (next_attempt_at) where status = 'pending'`,
    // A payment provider's event is processed once (contract §11).
    `create table payment_events (
      organization_id text not null,
      provider text not null,
      event_id text not null,
      type text not null,
      -- The order it was about, and what it said of money: minor units of the order's currency.
      order_id uuid,
      amount bigint,
      received_at timestamptz not null default now(),
      primary key (organization_id, provider, event_id)
    )`,
    `create index payment_events_age on payment_events (received_at)`,
    `create index payment_events_order on payment_events (order_id) where order_id is not null`
  ),
  // Joined by other modules: columns keep name and meaning.
  "0002_read_views": statements(
    `create view payment_events_read as
      select organization_id, provider, event_id, type, order_id, amount, received_at
      from payment_events`,
    `create view refunds_read as
      select id, organization_id, order_id, kind, amount, shipping_amount, shipping_value, reason, status,
        provider_reference, failure, performed_by, released_stock, undone_at, created_at, updated_at
      from refunds`
  ),
  // Refunds of orders that several payments share: each part goes back to one of them.
  "0003_refund_tenders": statements(
    `alter table refunds add column given bigint not null default 0 check (given between 0 and amount)`,
    `update refunds set given = amount where status = 'completed'`,
    `alter table refunds add column outstanding bigint generated always as (amount - given) stored`,
    `create table refund_tenders (
      organization_id text not null,
      refund_id uuid not null references refunds on delete cascade,
      -- That of the payment in order_tenders.
      position int not null,
      amount bigint not null check (amount > 0),
      reference text,
      completed_at timestamptz,
      primary key (refund_id, position)
    )`,
    `create or replace function refunds_within_capture() returns trigger language plpgsql as $$
    declare remaining bigint;
    begin
      perform 1 from orders where id = new.order_id for no key update;
      select coalesce(o.amount_captured, 0) - o.refunded_total - coalesce((select sum(r.outstanding) from refunds r
          where r.order_id = o.id and r.status = 'pending'), 0) into remaining
        from orders o where o.id = new.order_id;
      if remaining < 0 then
        raise exception 'order % would give back % more than was captured', new.order_id, -remaining
          using errcode = 'check_violation', constraint = 'refunds_within_capture';
      end if;
      return null;
    end $$`
  ),
  // Read by plugins (docs/plugins.md): columns are never renamed or removed.
  "0004_plugin_views": statements(
    `create view plugin_refunds as
      select id, organization_id, order_id, kind, amount, shipping_amount, reason, status, performed_by,
        released_stock, undone_at, created_at, updated_at
      from refunds`,
    `create view plugin_refund_lines as
      select organization_id, refund_id, order_line_id, quantity, amount, restock, restocked
      from refund_lines`
  ),
  "0005_counted": statements(
    ...countedBy({ table: "compensation_failures", part: (row) => `${row}.status` })
  ),
  // Money that went back without the provider: by bank transfer, or in cash.
  "0006_given_outside": statements("alter table refunds add column given_outside jsonb"),
  // No provider is asked about these, but their order may end with them. `sent_at`: since when that is decided.
  "0007_outside_is_settled": statements(
    "drop index refunds_pending",
    `create index refunds_pending on refunds (next_attempt_at)
      where status = 'pending' or (status = 'completed' and given_outside is not null and sent_at is null)`
  ),
  "0008_read_lines": statements(
    `create view refund_lines_read as
      select organization_id, refund_id, order_line_id, quantity, amount, value, restock, restocked
      from refund_lines`
  ),
  // Money that was taken before its order exists. Written before the provider is asked, so that no process that dies
  // between asking and noting leaves money that no row knows of.
  "0009_collected_payments": statements(
    `create table collected_payments (
      id uuid primary key,
      organization_id text not null,
      key text not null,
      provider text not null,
      token text,
      label text not null,
      amount bigint not null check (amount > 0),
      currency text not null,
      order_id uuid not null,
      customer_id uuid,
      single_purpose boolean not null,
      intent_id text,
      status text not null default 'pending'
        check (status in ('pending', 'collected', 'claimed', 'declined', 'returning', 'returned', 'stuck')),
      failure text,
      due_at timestamptz not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (organization_id, key)
    )`,
    `create index collected_payments_due on collected_payments (due_at)
      where status in ('pending', 'collected', 'returning')`,
    `create index collected_payments_ended on collected_payments (updated_at)
      where status in ('claimed', 'declined', 'returned')`
  )
}
