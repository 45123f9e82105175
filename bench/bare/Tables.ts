import type { Client } from "pg"
import { seedCustomers, seedIdSql, seedTokenSql } from "../servers/SeedIds.ts"

const product = seedIdSql("product", "n")

/** The fewest tables that can do the same work: what the answers show, keys, and nothing that guards anything else. */
export const createBareTables = async (client: Client): Promise<void> => {
  await client.query(`
    create table products (id uuid primary key, slug text not null unique, type text not null, status text not null,
      title text not null, metadata jsonb not null, created_at timestamptz not null, updated_at timestamptz not null,
      published_at timestamptz);
    create index products_created on products (created_at desc, id desc);
    create table prices (id uuid primary key, product_id uuid not null unique, currency text not null,
      amount bigint not null, created_at timestamptz not null default date_trunc('milliseconds', now()));
    create table stock (product_id uuid primary key, on_hand int not null, reserved int not null default 0)
      with (fillfactor = 50);
    create table carts (id uuid primary key, status text not null, currency text not null, secret_hash text not null,
      expires_at timestamptz not null,
      created_at timestamptz not null default date_trunc('milliseconds', now())) with (fillfactor = 70);
    create table cart_lines (id uuid primary key, cart_id uuid not null, product_id uuid not null,
      quantity int not null, unit_price bigint not null, added_at timestamptz not null default now(),
      unique (cart_id, product_id));
    create sequence order_numbers cache 32;
    create table orders (id uuid primary key, order_number text not null unique, status text not null,
      currency text not null, total bigint not null, captured bigint not null, cart_id uuid not null,
      customer_id uuid, placed_at timestamptz not null default now());
    create index orders_customer on orders (customer_id, placed_at desc, id desc) where customer_id is not null;
    create table sessions (token text primary key, customer_id uuid not null, email text not null,
      expires_at timestamptz not null);
    create table order_lines (id uuid primary key, order_id uuid not null, position int not null,
      product_id uuid not null, title text not null, sku text, slug text, quantity int not null,
      unit_price bigint not null, unique (order_id, position));
    create table outbox (id uuid primary key, type text not null, entity_id uuid not null, payload jsonb not null,
      created_at timestamptz not null default date_trunc('milliseconds', now()))`)
}

/** The same products, prices and stock as Stoa's seed. */
export const seedBare = async (client: Client, products: number): Promise<void> => {
  const each = `from generate_series(1, ${products}) n`
  await client.query(
    `insert into products select ${product}, 'product-' || n, 'product', 'active', 'Product number ' || n,
       jsonb_build_object('sku', 'SKU-' || n), made, made,
       made ${each}, lateral (select date_trunc('milliseconds', now()) - n * interval '1 second' as made) m`
  )
  await client.query(`insert into prices select ${product}, ${product}, 'USD', 1000 + n ${each}`)
  await client.query(`insert into stock select ${product}, 1000000, 0 ${each}`)
  const { customers, lines, orders } = seedCustomers
  await client.query(
    `insert into sessions select ${seedTokenSql("c")}, ${seedIdSql("customer", "c")},
       'customer-' || c || '@example.com', now() + interval '7 days'
     from generate_series(0, ${customers - 1}) c`
  )
  await client.query(
    `insert into orders (id, order_number, status, currency, total, captured, cart_id, customer_id, placed_at)
     select ${seedIdSql("order", "n")}, 'ORD-2025-' || lpad(n::text, 6, '0'), 'confirmed', 'USD', 2003, 2003,
       ${seedIdSql("cart", "n")}, ${seedIdSql("customer", `n % ${customers}`)}, now() - n * interval '1 minute'
     from generate_series(1, ${customers * orders}) n`
  )
  await client.query(
    `insert into order_lines (id, order_id, position, product_id, title, quantity, unit_price)
     select ${seedIdSql("orderLine", `n * ${lines} + p`)}, ${seedIdSql("order", "n")}, p,
       ${seedIdSql("product", "p + 1")}, 'Product number ' || p + 1, 1, 1001 + p
     from generate_series(1, ${customers * orders}) n, generate_series(0, ${lines - 1}) p`
  )
  await client.query("vacuum analyze")
}
