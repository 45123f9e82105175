/**
 * The least SQL for each request: one statement, which builds the answer's text itself where rows are nested, so that
 * nothing is left for JavaScript to do. Shapes and sizes of the answers are Stoa's.
 */
const iso = (column: string): string => `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const productFields = `'id', p.id, 'organizationId', 'org_default', 'sourceStoreId', null, 'type', p.type,
  'slug', p.slug, 'status', p.status, 'isVisible', true, 'taxClass', null, 'metadata', p.metadata,
  'createdAt', ${iso("p.created_at")}, 'updatedAt', ${iso("p.updated_at")}, 'publishedAt', ${iso("p.published_at")}`

const priceFields = `'id', r.id, 'currency', r.currency, 'amount', r.amount, 'compareAtAmount', null, 'variantId', null,
  'customerGroupId', null, 'minQuantity', null, 'maxQuantity', null, 'validFrom', null, 'validUntil', null,
  'createdAt', ${iso("r.created_at")}`

const lineFields =
  `'id', l.id, 'cartId', l.cart_id, 'entityId', l.product_id, 'variantId', null, 'quantity', l.quantity,
  'unitPriceSnapshot', l.unit_price, 'currency', 'USD', 'notes', null, 'metadata', '{}'::json,
  'addedAt', ${iso("l.added_at")}`

const orderLineFields = `'id', s.id, 'orderId', $3::uuid, 'entityId', s.product_id, 'entityType', 'product',
  'variantId', null, 'sku', null, 'title', s.title, 'quantity', s.quantity, 'unitPrice', s.unit_price,
  'totalPrice', s.unit_price * s.quantity, 'isCustomPrice', false, 'taxAmount', 0, 'discountAmount', 0,
  'refundedQuantity', 0, 'fulfillmentStatus', 'unfulfilled', 'metadata', '{}'::json`

/** $1 page size. */
export const listPage = `select (select count(*) from products where status = 'active') as total,
    json_agg(json_build_object(${productFields}, 'pricing', json_build_array(json_build_object(${priceFields})))
      order by p.created_at desc, p.id desc)::text as body
  from (select * from products where status = 'active' order by created_at desc, id desc limit $1::int) p
  join prices r on r.product_id = p.id`

/** $1 slug. */
export const oneProduct = `select json_build_object(${productFields})::text as body from products p where slug = $1`

/** $1 id, $2 currency, $3 hash of the secret. */
export const insertCart = `insert into carts (id, status, currency, secret_hash, expires_at)
  values ($1, 'active', $2, $3, now() + interval '7 days') returning created_at, expires_at`

/** $1 line id, $2 cart id, $3 hash of the secret, $4 product id, $5 quantity: the price is looked up on the way. */
export const addLine = `insert into cart_lines as l (id, cart_id, product_id, quantity, unit_price)
  select $1::uuid, c.id, p.id, $5::int, r.amount from carts c, products p, prices r
  where c.id = $2 and c.secret_hash = $3 and c.status = 'active' and p.id = $4 and p.status = 'active'
    and r.product_id = p.id
  on conflict (cart_id, product_id) do update
    set quantity = l.quantity + excluded.quantity, unit_price = excluded.unit_price
  returning json_build_object(${lineFields})::text as body`

/** $1 line id, $2 cart id. */
export const removeLine = "delete from cart_lines where id = $1 and cart_id = $2"

/**
 * $1 cart id, $2 hash of the secret, $3 order id. Stock rows are locked in the order of their keys, so that two orders
 * cannot deadlock; a line without stock divides by zero, which takes everything back. `uuidv` ids are made by the
 * server because the lines are only known there.
 */
export const placeOrder = `with
  cart as (update carts set status = 'checked_out' where id = $1 and secret_hash = $2 and status = 'active'
    returning id, currency),
  wanted as (select l.*, p.title, row_number() over (order by l.added_at, l.id) as position
    from cart join cart_lines l on l.cart_id = cart.id join products p on p.id = l.product_id),
  locked as (select product_id from stock where product_id in (select product_id from wanted)
    order by product_id for update),
  taken as (update stock s set reserved = s.reserved + w.quantity from wanted w, locked k
    where s.product_id = w.product_id and k.product_id = s.product_id and s.on_hand - s.reserved >= w.quantity
    returning s.product_id),
  sums as (select sum(unit_price * quantity) as total,
      1 / (count(*) = (select count(*) from taken))::int as complete from wanted),
  placed as (insert into orders (id, order_number, status, currency, total, captured, cart_id)
    select $3::uuid, 'ORD-2026-' || lpad(nextval('order_numbers')::text, 6, '0'), 'pending', cart.currency, sums.total,
      sums.total, cart.id from cart, sums where sums.complete = 1 returning *),
  sold as (insert into order_lines (id, order_id, position, product_id, title, quantity, unit_price)
    select gen_random_uuid(), placed.id, w.position, w.product_id, w.title, w.quantity, w.unit_price
    from placed, wanted w returning *),
  told as (insert into outbox (id, type, entity_id, payload)
    select gen_random_uuid(), 'orders.create', placed.id, to_jsonb(placed) from placed)
  select json_build_object('id', o.id, 'organizationId', 'org_default', 'orderNumber', o.order_number,
    'customerId', null, 'status', o.status, 'currency', o.currency, 'subtotal', o.total, 'taxTotal', 0,
    'shippingTotal', 0, 'discountTotal', 0, 'grandTotal', o.total, 'amountCaptured', o.captured, 'refundedTotal', 0,
    'paymentIntentId', 'pi_bare_ok_usd_' || o.id, 'paymentMethodId', 'test', 'idempotencyKey', null,
    'shippingAddress', null, 'metadata', '{}'::json, 'placedAt', ${iso("o.placed_at")},
    'updatedAt', ${iso("o.placed_at")}, 'fulfilledAt', null, 'cancelledAt', null,
    'lineItems', (select json_agg(json_build_object(${orderLineFields}) order by s.position) from sold s),
    'paymentClientSecret', 'pi_bare_ok_usd_' || o.id || '_secret')::text as body
  from placed o`
