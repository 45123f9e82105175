import { v7 } from "uuid"

/** A cart and its lines with the columns, keys and indexes of the service's tables. */
export const tables = `
  create table carts (id uuid primary key, organization_id text not null, customer_id uuid, status text not null
      check (status in ('active', 'checked_out')), currency text not null, email text, secret_hash text not null,
    version bigint not null default 0, metadata jsonb not null default '{}', expires_at timestamptz not null,
    created_at timestamptz not null, updated_at timestamptz not null) with (fillfactor = 70);
  create index carts_expiry on carts (expires_at) where status = 'active';
  create table cart_lines (id uuid primary key, cart_id uuid not null references carts on delete cascade,
    entity_id uuid not null, variant_id uuid, quantity int not null check (quantity >= 1),
    unit_price_snapshot bigint not null, currency text not null, metadata jsonb not null default '{}',
    added_at timestamptz not null);
  create unique index cart_lines_sellable on cart_lines (cart_id, entity_id, variant_id) nulls not distinct;
  create index cart_lines_entity on cart_lines (entity_id)`

const insertCart = `insert into carts (id, organization_id, customer_id, status, currency, email, secret_hash, version,
    expires_at, created_at, updated_at)
  values ($1::uuid, $2, $3::uuid, $4, $5, $6, $7, $8, $9, $10, $11)`

const insertLine = `insert into cart_lines (id, cart_id, entity_id, variant_id, quantity, unit_price_snapshot, currency,
    added_at)
  values ($1::uuid, $2::uuid, $3::uuid, $4::uuid, $5::int, $6::bigint, $7, $8::timestamptz) returning *`

/** A statement with its parameters; `name` is for drivers that prepare statements by name. */
export interface Step {
  readonly name: string
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

/** The three statements of a cart with two adds, each in a transaction, as in three requests. */
export const steps = (): ReadonlyArray<Step> => {
  const [cart, now] = [v7(), new Date()]
  const hash = cart.replaceAll("-", "").repeat(2)
  const line = () => [v7(), cart, v7(), null, 1, 1999, "USD", now]
  return [
    {
      name: "cart",
      text: insertCart,
      values: [cart, "org_default", null, "active", "USD", null, hash, 0, new Date(now.getTime() + 6e8), now, now]
    },
    { name: "line", text: insertLine, values: line() },
    { name: "line", text: insertLine, values: line() }
  ]
}
