import { statements } from "../platform/database/MigrationStatements.ts"
import { countedBy } from "../platform/paging/migrations.ts"
import { normalizesEmails } from "../platform/text/NormalizedEmailsRepo.ts"

export const migrations = {
  "0001_orders": statements(
    `create table order_counters (
      organization_id text not null,
      year int not null,
      last_number bigint not null,
      -- The highest number that imports brought, which the counter skips when it hands out its next block, and the numbers
      -- it has skipped: no order has them, so that imports may still bring them.
      imported_to bigint not null default 0,
      skipped int8multirange not null default '{}',
      primary key (organization_id, year)
    )`,
    // An order's id is the id of the checkout that created it: available before authorization, unique by construction.
    `create table orders (
      id uuid primary key,
      organization_id text not null,
      order_number text not null,
      customer_id uuid,
      status text not null check (status in ('pending', 'confirmed', 'processing', 'partially_fulfilled',
        'fulfilled', 'refunded', 'cancelled')),
      currency text not null,
      subtotal bigint not null check (subtotal >= 0),
      tax_total bigint not null check (tax_total >= 0),
      -- The prices contain the tax: it is a part of the total and not added to it.
      tax_included boolean not null default false,
      -- The tax adapter that records the order and its end; null when the store's rules decided the tax.
      tax_provider text,
      shipping_total bigint not null check (shipping_total >= 0),
      discount_total bigint not null check (discount_total >= 0),
      grand_total bigint not null check (grand_total >= 0),
      amount_captured bigint,
      refunded_total bigint not null default 0,
      -- Of the shipping, what refunds account for that are given back or on their way.
      refunded_shipping bigint not null default 0 check (refunded_shipping between 0 and shipping_total),
      -- What an operator has asked the provider to capture, while the provider has not refused it.
      capture_amount bigint check (capture_amount between 1 and grand_total),
      capture_refusals int not null default 0,
      -- When somebody looks whether that capture goes on; null once it has ended.
      capture_due_at timestamptz,
      payment_intent_id text,
      payment_method_id text,
      payment_provider text,
      idempotency_key text,
      cart_id uuid,
      cart_secret_hash text,
      email text,
      payment_due_at timestamptz,
      shipping_address jsonb,
      metadata jsonb not null default '{}',
      -- Staff still writes it. Counts the edits of its lines, so that of two at once neither is lost.
      is_draft boolean not null default false,
      revision int not null default 0,
      placed_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      fulfilled_at timestamptz,
      cancelled_at timestamptz,
      -- When the order was imported from another system; null for orders created here.
      imported_at timestamptz,
      unique (organization_id, order_number),
      constraint order_adds_up check (grand_total = subtotal - discount_total + shipping_total
        + case when tax_included then 0 else tax_total end),
      constraint included_tax_within_total check (not tax_included or tax_total <= grand_total),
      constraint refunds_within_capture check (refunded_total between 0 and coalesce(amount_captured, 0))
    ) with (fillfactor = 80)`,
    `create index orders_placed on orders (organization_id, placed_at desc, id desc)`,
    `create index orders_status on orders (organization_id, status, placed_at desc, id desc)`,
    `create index orders_customer on orders (organization_id, customer_id, placed_at desc, id desc)
      where customer_id is not null`,
    `create index orders_email on orders (organization_id, lower(email) text_pattern_ops) where email is not null`,
    // Only orders whose shopper has yet to confirm the payment.
    `create index orders_payment_due on orders (payment_due_at) where status = 'pending' and payment_due_at is not null`,
    // Only captures by hand that have not ended for certain.
    `create index orders_capture_due on orders (capture_due_at) where capture_due_at is not null`,
    `create table order_lines (
      id uuid primary key,
      organization_id text not null,
      order_id uuid not null references orders on delete cascade,
      position int not null,
      entity_id uuid not null,
      entity_type text not null,
      variant_id uuid,
      sku text,
      title text not null,
      quantity int not null check (quantity >= 1),
      unit_price bigint not null,
      total_price bigint not null,
      is_custom_price boolean not null default false,
      tax_amount bigint not null default 0,
      discount_amount bigint not null default 0,
      refunded_quantity int not null default 0 check (refunded_quantity between 0 and quantity),
      -- What the refunded units were worth: the next refund takes what is left of the line, to the unit.
      refunded_value bigint not null default 0
        check (refunded_value between 0 and total_price - discount_amount + tax_amount),
      fulfillment_status text not null default 'unfulfilled'
        check (fulfillment_status in ('unfulfilled', 'partial', 'fulfilled')),
      metadata jsonb not null default '{}',
      unique (order_id, position)
    )`,
    `create index order_lines_entity on order_lines (entity_id)`,
    `create table order_status_history (
      id uuid not null,
      organization_id text not null,
      order_id uuid not null references orders on delete cascade,
      from_status text not null,
      to_status text not null,
      reason text,
      changed_by text,
      changed_at timestamptz not null default now(),
      primary key (order_id, id)
    )`,
    `create table order_notes (
      id uuid primary key,
      organization_id text not null,
      order_id uuid not null references orders on delete cascade,
      text text not null,
      visibility text not null check (visibility in ('internal', 'customer')),
      author_id text,
      author_name text not null,
      created_at timestamptz not null default now()
    )`,
    `create index order_notes_order on order_notes (order_id, created_at, id)`,
    `create table order_mails (
      id uuid primary key,
      organization_id text not null,
      order_id uuid not null references orders on delete cascade,
      template text not null,
      outcome text not null check (outcome in ('sent', 'failed')),
      failure text check ((failure is null) = (outcome = 'sent')),
      at timestamptz not null default now()
    )`,
    `create index order_mails_order on order_mails (order_id, at, id)`
  ),
  // Joined by other modules: columns keep name and meaning.
  "0002_read_views": statements(
    `create view order_lines_read as
      select id, organization_id, order_id, position, entity_id, entity_type, variant_id, sku, title, quantity,
        unit_price, total_price, is_custom_price, tax_amount, discount_amount, refunded_quantity, refunded_value,
        fulfillment_status, metadata
      from order_lines`,
    `create view order_notes_read as
      select id, organization_id, order_id, text, visibility, author_id, author_name, created_at
      from order_notes`,
    `create view orders_read as
      select id, organization_id, order_number, customer_id, status, currency, subtotal, tax_total, tax_included,
        tax_provider, shipping_total, discount_total, grand_total, amount_captured, refunded_total,
        refunded_shipping, payment_intent_id, payment_method_id, payment_provider, cart_id, email, shipping_address,
        metadata, is_draft, revision, placed_at, updated_at, fulfilled_at, cancelled_at, imported_at
      from orders`
  ),
  // Several payments, or stored value; a single payment is in the order's columns.
  "0003_tenders": statements(
    `create table order_tenders (
      organization_id text not null,
      order_id uuid not null references orders on delete cascade,
      position int not null check (position >= 0),
      provider text not null,
      label text not null,
      intent_id text not null,
      -- Refunds go to other payments first.
      is_stored_value boolean not null,
      amount bigint not null check (amount > 0),
      captured bigint check (captured between 0 and amount),
      refunded bigint not null default 0 check (refunded between 0 and coalesce(captured, 0)),
      needs_shopper boolean not null,
      primary key (order_id, position)
    )`,
    `create view order_tenders_read as
      select o.id as order_id, o.organization_id, t.position, t.provider, t.label, t.intent_id, t.is_stored_value,
        t.amount, coalesce(t.captured, 0) as captured, t.refunded
      from order_tenders t join orders o on o.id = t.order_id
      union all
      select o.id, o.organization_id, 0, coalesce(o.payment_provider, o.payment_method_id, 'external'),
        coalesce(o.payment_provider, o.payment_method_id, 'external'), coalesce(o.payment_intent_id, ''), false,
        o.grand_total, coalesce(o.amount_captured, 0), o.refunded_total
      from orders o where o.grand_total > 0 and (o.payment_intent_id is not null or o.amount_captured is not null)
        and not exists (select 1 from order_tenders t where t.order_id = o.id)`
  ),
  "0004_line_notes": statements(
    "alter table order_lines add column notes text",
    `create or replace view order_lines_read as
      select id, organization_id, order_id, position, entity_id, entity_type, variant_id, sku, title, quantity,
        unit_price, total_price, is_custom_price, tax_amount, discount_amount, refunded_quantity, refunded_value,
        fulfillment_status, metadata, notes
      from order_lines`
  ),
  "0005_price_steps": statements(
    "alter table order_lines add column price_steps jsonb not null default '[]'",
    `create or replace view order_lines_read as
      select id, organization_id, order_id, position, entity_id, entity_type, variant_id, sku, title, quantity,
        unit_price, total_price, is_custom_price, tax_amount, discount_amount, refunded_quantity, refunded_value,
        fulfillment_status, metadata, notes, price_steps
      from order_lines`
  ),
  // Read by plugins (docs/plugins.md): columns are never renamed or removed.
  "0006_plugin_views": statements(
    `create view plugin_orders as
      select id, organization_id, order_number, customer_id, cart_id, status, currency, subtotal, tax_total,
        tax_included, shipping_total, discount_total, grand_total, amount_captured, refunded_total, refunded_shipping,
        email, shipping_address, metadata, is_draft, revision, placed_at, updated_at, fulfilled_at, cancelled_at,
        imported_at
      from orders`,
    `create view plugin_order_lines as
      select id, organization_id, order_id, position, entity_id, entity_type, variant_id, sku, title, quantity,
        unit_price, total_price, is_custom_price, tax_amount, discount_amount, refunded_quantity, refunded_value,
        fulfillment_status, metadata, notes, price_steps
      from order_lines`,
    `create view plugin_order_status_changes as
      select id, organization_id, order_id, from_status, to_status, reason, changed_by, changed_at
      from order_status_history`
  ),
  // Digest of the call that created an order of goods that had left: a repeat has the same (SoldOrderRepo.ts).
  "0007_request_hash": statements("alter table orders add column request_hash text"),
  "0008_counted": statements(...countedBy({ table: "orders", part: (row) => `${row}.status` })),
  "0009_shown_lines": statements(
    `alter table order_lines add column variant_title text, add column options jsonb not null default '[]',
      add column slug text, add column image jsonb, add column list_price bigint`,
    `create or replace view order_lines_read as
      select id, organization_id, order_id, position, entity_id, entity_type, variant_id, sku, title, quantity,
        unit_price, total_price, is_custom_price, tax_amount, discount_amount, refunded_quantity, refunded_value,
        fulfillment_status, metadata, notes, price_steps, variant_title, options, slug, image, list_price
      from order_lines`,
    `create or replace view plugin_order_lines as
      select id, organization_id, order_id, position, entity_id, entity_type, variant_id, sku, title, quantity,
        unit_price, total_price, is_custom_price, tax_amount, discount_amount, refunded_quantity, refunded_value,
        fulfillment_status, metadata, notes, price_steps, variant_title, options, slug, image, list_price
      from order_lines`
  ),
  "0010_line_taxes": statements(
    "alter table order_lines add column taxes jsonb not null default '[]'",
    // The previous version changes the tax of a line alone.
    `create function order_line_taxes() returns trigger language plpgsql as $$
    begin
      new.taxes := '[]';
      return new;
    end $$`,
    `create trigger order_lines_taxes before update of tax_amount on order_lines for each row
      when (new.tax_amount <> old.tax_amount and new.taxes = old.taxes) execute function order_line_taxes()`
  ),
  // `payment_id` has replaced the checkout's payment; `payment_claim_id` is under way.
  "0011_payment_attempts": statements(
    "alter table orders add column payment_id uuid, add column payment_claim_id uuid"
  ),
  "0012_tax_exemption": statements(
    "alter table orders add column tax_exemption jsonb",
    `create or replace view orders_read as
      select id, organization_id, order_number, customer_id, status, currency, subtotal, tax_total, tax_included,
        tax_provider, shipping_total, discount_total, grand_total, amount_captured, refunded_total,
        refunded_shipping, payment_intent_id, payment_method_id, payment_provider, cart_id, email, shipping_address,
        metadata, is_draft, revision, placed_at, updated_at, fulfilled_at, cancelled_at, imported_at, tax_exemption
      from orders`,
    `create or replace view plugin_orders as
      select id, organization_id, order_number, customer_id, cart_id, status, currency, subtotal, tax_total,
        tax_included, shipping_total, discount_total, grand_total, amount_captured, refunded_total, refunded_shipping,
        email, shipping_address, metadata, is_draft, revision, placed_at, updated_at, fulfilled_at, cancelled_at,
        imported_at, tax_exemption
      from orders`
  ),
  // Mails that wait or are not sent have rows too.
  "0013_order_messages": statements(
    `alter table order_mails drop constraint order_mails_outcome_check, drop constraint order_mails_check,
      add constraint order_mails_outcome check (outcome in ('queued', 'sent', 'failed', 'skipped')),
      add constraint order_mails_reason check ((failure is null) = (outcome in ('queued', 'sent'))),
      add column subject text, add column sent_at timestamptz,
      add column resent_from uuid, add column content jsonb`,
    "update order_mails set sent_at = at where outcome = 'sent'",
    "create index order_mails_listed on order_mails (organization_id, at desc, id desc)",
    "create index order_mails_by_outcome on order_mails (organization_id, outcome, at desc, id desc)",
    ...countedBy({ table: "order_mails", part: (row) => `${row}.outcome` })
  ),
  "0014_normalized_emails": normalizesEmails("orders")
}
