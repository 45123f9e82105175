import { assert } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { eventually } from "./Eventually.ts"
import type { PaymentEmulator } from "./PaymentEmulator.ts"
import { sharedClient } from "./SharedClients.ts"

/** Runs statements on a database from outside of the service. */
export const onDatabase = <A>(
  url: string,
  body: (sql: SqlClient.SqlClient) => Effect.Effect<A, SqlError.SqlError>
): Effect.Effect<A> =>
  SqlClient.SqlClient.pipe(
    Effect.flatMap(body),
    Effect.provide(sharedClient(url)),
    Effect.orDie
  )

interface Finding {
  readonly rule: string
  readonly count: number
  readonly example: string | null
}

/** What must hold at any moment, also in the middle of everything. */
const always = (sql: SqlClient.SqlClient) =>
  sql<Finding>`with found (rule, example) as (
    select 'an order adds up to its lines', o.id::text from orders o
      join (select order_id, sum(total_price) as total, sum(discount_amount) as discount, sum(tax_amount) as tax,
        bool_and(total_price = unit_price * quantity) as each from order_lines group by order_id) l on l.order_id = o.id
      where not l.each or o.subtotal <> l.total or o.discount_total < l.discount
        or o.grand_total <> o.subtotal - o.discount_total + o.shipping_total
          + case when o.tax_included then 0 else o.tax_total end
    union all
    select 'an order has lines', o.id::text from orders o
      where not exists (select 1 from order_lines l where l.order_id = o.id)
    union all
    select 'reserved stock is what live holds hold', l.sellable_id::text from stock_levels l
      where l.reserved <> coalesce((select sum(h.quantity) from hold_lines h
        join holds d using (organization_id, holder) where d.state in ('held', 'sold')
          and h.organization_id = l.organization_id and h.sellable_id = l.sellable_id
          and h.warehouse_id = l.warehouse_id), 0)
    union all
    select 'no more is reserved than there is', l.sellable_id::text from stock_levels l
      where l.reserved > l.on_hand and not l.allow_negative
    union all
    select 'units that wait are counted', i.sellable_id::text from stock_items i
      where i.backordered <> coalesce((select sum(b.quantity) from backorders b
        where b.organization_id = i.organization_id and b.sellable_id = i.sellable_id), 0)
    union all
    select 'only live holds wait', b.holder from backorders b join holds d using (organization_id, holder)
      where b.quantity > 0 and d.state not in ('held', 'sold')
    union all
    select 'nothing waits for what is free', l.sellable_id::text from stock_levels l
      join warehouses w on w.id = l.warehouse_id and w.is_active
      join stock_items i on i.organization_id = l.organization_id and i.sellable_id = l.sellable_id
      where i.backordered > 0 and l.on_hand > l.reserved
    union all
    select 'every order is announced exactly once', o.id::text from orders o
      where (select count(*) from outbox_events e where e.type = 'orders.create' and e.entity_id = o.id::text) <> 1
    union all
    select 'nothing but orders is announced', e.entity_id from outbox_events e
      where e.type = 'orders.create' and not exists (select 1 from orders o where o.id::text = e.entity_id)
    union all
    select 'a payment belongs to one order', payment_intent_id from orders where payment_intent_id is not null
      group by payment_intent_id having count(*) > 1
    union all
    select 'a promotion counts its usages', p.id::text from promotions p
      where p.used_count <> (select count(*) from promotion_usages u where u.promotion_id = p.id)
    union all
    select 'a buyer''s usages are counted', c.buyer from promotion_buyer_usages c
      where c.used_count <> (select count(*) from promotion_usages u
        where u.promotion_id = c.promotion_id and c.buyer = any(u.buyers))
    union all
    select 'a cart that was checked out has its order', c.id::text from carts c
      where c.status = 'checked_out' and not exists (select 1 from orders o where o.id = c.checkout_id)
    union all
    select 'an order of a checkout keeps its stock', o.id::text from orders o
      where o.status = 'pending' and not exists (select 1 from holds h
        where h.organization_id = o.organization_id and h.holder = o.id::text and h.state = 'sold'))
  select rule, count(*)::int4 as count, min(example) as example from found group by rule`

/** What must hold beside that once no checkout is under way any more. */
const afterwards = (sql: SqlClient.SqlClient) =>
  sql<Finding>`with found (rule, example) as (
    select 'no cart waits for a checkout that has ended', c.id::text from carts c where c.status = 'checking_out'
    union all
    select 'no cart is lost to a cancelled order', c.id::text from carts c join orders o on o.id = c.checkout_id
      where c.status = 'checked_out' and o.status = 'cancelled' and o.amount_captured is null
    union all
    select 'no stock is held for a checkout that has ended', h.holder from holds h
      where h.state = 'held' and h.holder not like 'manual:%'
    union all
    select 'an order is paid in full or cancelled', o.id::text from orders o
      where o.status <> 'cancelled' and o.amount_captured is distinct from o.grand_total
    union all
    select 'a cancelled order holds no usage', o.id::text from orders o
      join promotion_usages u on u.order_id = o.id where o.status = 'cancelled')
  select rule, count(*)::int4 as count, min(example) as example from found group by rule`

const holds = (findings: ReadonlyArray<Finding>) =>
  assert.deepStrictEqual(findings.map(({ count, example, rule }) => `${rule}: not so ${count} times (${example})`), [])

/** Asserts what must hold at any moment. */
export const auditAlways = (url: string) => Effect.map(onDatabase(url, always), holds)

/** Checkouts that have not ended: what is claimed, has a run, or lies unprocessed in the mailbox of a checkout. */
const underWay = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ open: number }>`select (select count(*) from carts where status = 'checking_out')::int4
      + (select count(*) from checkout_runs)::int4
      + (select count(*) from cluster_messages where not processed and entity_type = 'Workflow/Checkout'
        and tag = 'run')::int4 as open`,
    ([row]) => row?.open ?? 0
  )

/** Waits until no checkout is under way. */
export const allEnded = (url: string) =>
  onDatabase(
    url,
    (sql) => underWay(sql).pipe(Effect.repeat({ until: (open) => open === 0, schedule: Schedule.spaced("50 millis") }))
  ).pipe(
    Effect.timeoutOrElse({
      duration: "2 minutes",
      orElse: () => Effect.die(new Error("Checkouts are still under way after 2 minutes."))
    })
  )

/** Waits until every checkout has ended and asserts that the books are in order. */
export const audit = (url: string) =>
  Effect.gen(function*() {
    yield* allEnded(url)
    yield* auditAlways(url)
    holds(yield* onDatabase(url, afterwards))
  })

/** An order's id: the keys of its payments are that, and for all but the first a position. */
const orderIdLength = 36

/**
 * Asserts from the provider's side that what was paid is ordered and what is ordered was paid, over the same amount but for
 * what other providers paid of it, and nothing set aside for anybody beside that.
 */
export const auditPayments = Effect.fnUntraced(function*(url: string, emulator: PaymentEmulator) {
  // A call that was not answered in time is undone by a durable workflow, which may go on behind its checkout.
  const isSettled = Effect.sync(() => emulator.payments().every(({ status }) => status !== "requires_capture"))
  yield* eventually("no payment is set aside for a checkout that has ended", isSettled)
  const orders = yield* onDatabase(
    url,
    (sql) =>
      sql<{ id: string; total: number }>`select order_id::text as id, sum(amount)::float8 as total
        from order_tenders_read t join orders o on o.id = t.order_id
        where o.status <> 'cancelled' and t.provider = 'emulated' group by 1 order by 1`
  )
  const paid = emulator.payments().filter(({ captured, refunded }) => captured > refunded)
  const byOrder = Map.groupBy(paid, ({ key }) => key.slice(0, orderIdLength))
  const totals = Array.from(byOrder, ([id, payments]) => ({
    id,
    total: payments.reduce((sum, { captured, refunded }) => sum + captured - refunded, 0)
  }))
  assert.deepStrictEqual(totals.sort((a, b) => a.id < b.id ? -1 : 1), [...orders])
})

/** Units that live orders have bought of a sellable. */
export const soldOf = (url: string, entityId: string) =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql<{ units: number }>`select coalesce(sum(l.quantity), 0)::int4 as units from order_lines l
        join orders o on o.id = l.order_id where o.status <> 'cancelled' and l.entity_id = ${entityId}::uuid`,
      ([row]) => row?.units ?? 0
    ))

/** Status of a cart and how many orders were made of it. */
export const cartOf = (url: string, cartId: string) =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql<{ status: string; orders: number }>`select c.status, (select count(*)::int4 from orders o
        where o.cart_id = c.id and o.status <> 'cancelled') as orders from carts c where c.id = ${cartId}::uuid`,
      ([row]) => row ?? { status: "none", orders: 0 }
    ))
