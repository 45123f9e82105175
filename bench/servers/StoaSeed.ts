import { createHash } from "node:crypto"
import type { Client } from "pg"
import { seedCustomers, seedId, seedIdSql, seedSecret, seedTokenSql } from "./SeedIds.ts"

const org = "org_default"
const product = seedIdSql("product", "n")

/**
 * Fills Stoa's tables: active products with words, a price and a million units each in one warehouse. By SQL, because
 * a thousand products through the API would take longer than a measurement. The newest product is number 1.
 */
export const seedStoa = async (client: Client, products: number): Promise<void> => {
  const each = `from generate_series(1, ${products}) n`
  await client.query(
    `insert into catalog_entities (id, organization_id, type, slug, status, is_visible, metadata, created_at, updated_at,
       published_at)
     select ${product}, '${org}', 'product', 'product-' || n, 'active', true, jsonb_build_object('sku', 'SKU-' || n),
       now() - n * interval '1 second', now() - n * interval '1 second', now() ${each}`
  )
  await client.query(
    `insert into entity_attributes (id, organization_id, entity_id, locale, title, description)
     select ${product}, '${org}', ${product}, 'en', 'Product number ' || n,
       'A thing worth having, for the kitchen, the office or the garden. It comes in a box. Number ' || n ${each}`
  )
  await client.query(
    `insert into prices (id, organization_id, entity_id, currency, amount)
     select ${product}, '${org}', ${product}, 'USD', 1000 + n ${each}`
  )
  await client.query(
    `insert into warehouses (id, organization_id, name, code)
     values (${seedIdSql("other", "1")}, '${org}', 'Main', 'MAIN') on conflict do nothing`
  )
  await client.query(
    `insert into stock_items (organization_id, sellable_id) select '${org}', ${product} ${each}`
  )
  await client.query(
    `insert into stock_levels (id, organization_id, sellable_id, warehouse_id, entity_id, on_hand)
     select ${product}, '${org}', ${product}, ${seedIdSql("other", "1")}, ${product}, 1000000 ${each}`
  )
  await client.query("vacuum analyze")
}

/** People who are signed in, each with orders of a few lines. */
export const seedOrders = async (client: Client): Promise<void> => {
  const { customers, lines, orders } = seedCustomers
  const customer = seedIdSql("customer", "c")
  await client.query(
    `insert into users (id, name, email)
     select ${customer}, 'Customer ' || c, 'customer-' || c || '@example.com' from generate_series(0, ${
      customers - 1
    }) c`
  )
  await client.query(
    `insert into sessions (token, user_id, expires_at) select encode(sha256(${
      seedTokenSql("c")
    }::bytea), 'hex'), ${customer}, now() + interval '7 days'
     from generate_series(0, ${customers - 1}) c`
  )
  await client.query(
    `insert into customers (id, organization_id, user_id, email)
     select ${customer}, '${org}', ${customer}::text, 'customer-' || c || '@example.com'
     from generate_series(0, ${customers - 1}) c`
  )
  await client.query(
    `insert into orders (id, organization_id, order_number, customer_id, status, currency, subtotal, tax_total,
       shipping_total, discount_total, grand_total, amount_captured, payment_method_id, payment_provider, placed_at)
     select ${seedIdSql("order", "n")}, '${org}', 'ORD-2025-' || lpad(n::text, 6, '0'),
       ${seedIdSql("customer", `n % ${customers}`)}, 'confirmed', 'USD', 2003, 0, 0, 0, 2003, 2003, 'test', 'test',
       now() - n * interval '1 minute'
     from generate_series(1, ${customers * orders}) n`
  )
  await client.query(
    `insert into order_lines (id, organization_id, order_id, position, entity_id, entity_type, title, quantity,
       unit_price, total_price)
     select ${seedIdSql("orderLine", `n * ${lines} + p`)}, '${org}', ${seedIdSql("order", "n")}, p,
       ${seedIdSql("product", "p + 1")}, 'product', 'Product number ' || p + 1, 1, 1001 + p, 1001 + p
     from generate_series(1, ${customers * orders}) n, generate_series(0, ${lines - 1}) p`
  )
  await client.query("vacuum analyze")
}

/** Active guests' carts with as many lines each; numbers from `first` on. All open with `seedSecret`. */
export const seedCarts = async (client: Client, first: number, carts: number, lines: number): Promise<void> => {
  const hash = createHash("sha256").update(seedSecret).digest("hex")
  await client.query(
    `insert into carts (id, organization_id, status, currency, secret_hash, expires_at)
     select ${seedIdSql("cart", "n")}, '${org}', 'active', 'USD', $1, now() + interval '7 days'
     from generate_series($2::int, $3::int) n`,
    [hash, first, first + carts - 1]
  )
  await client.query(
    `insert into cart_lines (id, organization_id, cart_id, entity_id, quantity, unit_price_snapshot, currency, added_at)
     select gen_random_uuid(), '${org}', ${seedIdSql("cart", "n")}, ${seedIdSql("product", "l")}, 1, 1000 + l, 'USD',
       now() + l * interval '1 millisecond'
     from generate_series($1::int, $2::int) n, generate_series(1, $3::int) l`,
    [first, first + carts - 1, lines]
  )
  await client.query("analyze carts, cart_lines")
}

/** What is left of one product's stock, by every table that counts it. */
export interface StockAudit {
  readonly orders: number
  readonly sold: number
  readonly held: number
  readonly onHand: number
  readonly reserved: number
}

/** Counts the orders and units of a product, and its stock columns. */
export const auditStock = async (client: Client, n: number): Promise<StockAudit> => {
  const { rows } = await client.query<Record<keyof StockAudit, number>>(
    `select
       (select count(distinct order_id) from order_lines where entity_id = $1)::int as orders,
       (select coalesce(sum(quantity), 0) from order_lines where entity_id = $1)::int as sold,
       (select coalesce(sum(l.quantity), 0) from hold_lines l join holds h using (organization_id, holder)
         where l.sellable_id = $1 and h.state in ('held', 'sold'))::int as held,
       (select sum(on_hand) from stock_levels where entity_id = $1)::int as "onHand",
       (select sum(reserved) from stock_levels where entity_id = $1)::int as reserved`,
    [seedId("product", n)]
  )
  return rows[0] ?? { orders: 0, sold: 0, held: 0, onHand: 0, reserved: 0 }
}

/** Sets how many units of a product there are, behind the service's back but with the fence it watches. */
export const setStock = async (client: Client, n: number, onHand: number): Promise<void> => {
  const id = seedId("product", n)
  await client.query("update stock_levels set on_hand = reserved + $2 where entity_id = $1", [id, onHand])
  await client.query("update stock_items set version = version + 1 where sellable_id = $1", [id])
}
