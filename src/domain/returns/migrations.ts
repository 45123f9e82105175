import { statements } from "../platform/database/MigrationStatements.ts"
import { countedBy } from "../platform/paging/migrations.ts"

export const migrations = {
  "0001_tables": statements(
    `create table order_returns (
      id uuid primary key,
      organization_id text not null references organizations,
      order_id uuid not null references orders on delete cascade,
      number text not null,
      status text not null check (status in
        ('requested', 'approved', 'rejected', 'received', 'refunded', 'exchanged', 'cancelled')),
      photos jsonb not null,
      rejection_reason text,
      instructions text,
      label_url text,
      refund_id uuid,
      replacement_order_id uuid,
      requested_by text,
      received_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      unique (organization_id, number),
      check ((received_at is null) = (status not in ('received', 'refunded', 'exchanged')))
    )`,
    "create index order_returns_order on order_returns (order_id, created_at desc, id desc)",
    "create index order_returns_list on order_returns (organization_id, created_at desc, id desc)",
    "create index order_returns_status on order_returns (organization_id, status, created_at desc, id desc)",
    `create table order_return_lines (
      organization_id text not null,
      return_id uuid not null references order_returns on delete cascade,
      order_line_id uuid not null references order_lines on delete cascade,
      quantity int not null check (quantity >= 1),
      reason text,
      received_quantity int not null default 0 check (received_quantity between 0 and quantity),
      received jsonb not null default '[]',
      primary key (return_id, order_line_id)
    )`,
    "create index order_return_lines_line on order_return_lines (order_line_id)",
    // Units of a line that a return can ask for. A return that was received counts what came back, and its refund not again.
    `create function returnable_units(line_id uuid) returns int language sql stable as $$
      select (l.quantity - coalesce(c.claimed, 0) - greatest(0, l.refunded_quantity - coalesce(c.refunded, 0)))::int
      from order_lines l cross join lateral (
        select sum(case when r.received_at is null then x.quantity else x.received_quantity end)
            filter (where r.status not in ('rejected', 'cancelled')) as claimed,
          sum(x.received_quantity) filter (where r.status in ('refunded', 'exchanged')) as refunded
        from order_return_lines x join order_returns r on r.id = x.return_id where x.order_line_id = l.id) c
      where l.id = line_id $$`,
    // Takes its snapshot after the lock: two requests at the same time see each other.
    `create function returns_within_sale() returns trigger language plpgsql as $$
    begin
      perform 1 from orders o join order_returns r on r.order_id = o.id where r.id = new.return_id for no key update of o;
      if returnable_units(new.order_line_id) < 0 then
        raise exception 'line % has fewer units than returns ask for', new.order_line_id
          using errcode = 'check_violation', constraint = 'returns_within_sale';
      end if;
      return null;
    end $$`,
    `create trigger returns_within_sale after insert on order_return_lines
      for each row execute function returns_within_sale()`,
    ...countedBy({ table: "order_returns", part: (row) => `${row}.status` })
  ),
  // Joined by other modules: columns keep name and meaning.
  "0002_read_views": statements(
    `create view order_returns_read as
      select r.organization_id, r.id, r.order_id, r.number, r.status, r.photos, r.rejection_reason, r.instructions,
        r.created_at, (select coalesce(jsonb_agg(jsonb_build_object('lineItemId', x.order_line_id, 'quantity', x.quantity,
          'reason', x.reason) order by x.order_line_id), '[]') from order_return_lines x where x.return_id = r.id) as lines
      from order_returns r`,
    `create view order_return_lines_read as
      select x.organization_id, x.return_id, r.order_id, r.status, x.order_line_id, x.quantity, x.reason,
        x.received_quantity, r.created_at as requested_at
      from order_return_lines x join order_returns r on r.id = x.return_id`
  ),
  // Units of an imported return may be refunded otherwise, as they may here afterwards: its record is kept as it is.
  "0003_imported": statements(
    `create or replace function returns_within_sale() returns trigger language plpgsql as $$
    begin
      perform 1 from orders o join order_returns r on r.order_id = o.id where r.id = new.return_id for no key update of o;
      if returnable_units(new.order_line_id) < 0 and not exists (select 1 from orders o join order_returns r
          on r.order_id = o.id where r.id = new.return_id and r.created_at <= o.imported_at) then
        raise exception 'line % has fewer units than returns ask for', new.order_line_id
          using errcode = 'check_violation', constraint = 'returns_within_sale';
      end if;
      return null;
    end $$`,
    `create or replace view order_returns_read as
      select r.organization_id, r.id, r.order_id, r.number, r.status, r.photos, r.rejection_reason, r.instructions,
        r.created_at, (select coalesce(jsonb_agg(jsonb_build_object('lineItemId', x.order_line_id, 'quantity', x.quantity,
          'reason', x.reason) order by x.order_line_id), '[]') from order_return_lines x where x.return_id = r.id) as lines,
        r.label_url, r.received_at
      from order_returns r`,
    `create or replace view order_return_lines_read as
      select x.organization_id, x.return_id, r.order_id, r.status, x.order_line_id, x.quantity, x.reason,
        x.received_quantity, r.created_at as requested_at, x.received
      from order_return_lines x join order_returns r on r.id = x.return_id`
  )
}
