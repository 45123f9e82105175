import { Schema } from "effect"
import type { Statement } from "effect/sql"
import { type Database, MinorUnits, rowsOf, statement } from "stoa/plugin"

/**
 * The parts of a statement that say which entries may be paid out (contract, plugins §1.5), of the accounts that `of`
 * picks among the entries `e`: `open` are those that no payout has taken, `eligible` those of them that may go. An entry
 * waits with its sub-order until that is available and undisputed; entries without one do not wait. What a vendor
 * owes of a sub-order waits for nothing: it is taken off the next payout.
 */
export const openEntries = (sql: Database, organization: string, of: Statement.Fragment) =>
  sql`open as materialized (
      select e.id, e.vendor_id, e.currency, e.type, e.amount_cents, e.sub_order_id, e.created_at
      from marketplace_vendor_balances e
      where e.organization_id = ${organization} and e.payout_id is null and ${of}),
    of_sub_order as (select sub_order_id, sum(amount_cents) as amount from open
      where sub_order_id is not null group by sub_order_id),
    free as (select s.id from of_sub_order o join marketplace_vendor_sub_orders s
      on s.id = o.sub_order_id and s.organization_id = ${organization}
      where o.amount < 0 or s.available_at <= now() and not s.on_hold),
    eligible as (select open.* from open where sub_order_id is null
      union all select open.* from open join free on free.id = open.sub_order_id)`

/** What a vendor is owed in a currency, minor units: what may be paid out now, and what waits. */
export const CurrencyBalance = Schema.Struct({
  currency: Schema.String,
  balanceCents: MinorUnits,
  availableCents: MinorUnits,
  heldCents: MinorUnits
})

const balances = rowsOf(CurrencyBalance)

/** The balances of a vendor by currency, in one statement. */
export const balancesOf = statement("BalanceRepo.ofVendor", function*(sql, organizationId, vendorId: string) {
  return yield* balances(sql`
    with ${openEntries(sql, organizationId, sql`e.vendor_id = ${vendorId}::uuid`)},
    due as (select currency, sum(amount_cents)::int8 as amount from eligible group by currency)
    select a.currency, a.balance_cents as "balanceCents", coalesce(due.amount, 0) as "availableCents",
      a.balance_cents - coalesce(due.amount, 0) as "heldCents"
    from marketplace_vendor_accounts a left join due on due.currency = a.currency
    where a.organization_id = ${organizationId} and a.vendor_id = ${vendorId}::uuid order by a.currency`)
})
