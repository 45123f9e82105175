import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { wrongAccounts } from "stoa/plugin/testing"
import { audit, auditPayments, onDatabase } from "../../../../test/support/Audit.ts"
import { eventually } from "../../../../test/support/Eventually.ts"
import type { PaymentEmulator } from "../../../../test/support/PaymentEmulator.ts"
import { money } from "../GiftCard.ts"

/** What is not as it must be between cards, holds and orders. */
const findings = (sql: SqlClient.SqlClient) =>
  sql`select 'what was taken for an order, and not given back, are its entries' as rule, order_id::text as example from (
      select order_id, captured - refunded as amount from gift_card_holds
      union all select order_id, amount from gift_card_entries where type in ('redeem', 'refund')) moved
      group by order_id having sum(amount) <> 0
    union all
    select 'a payment of an order is what its hold says', t.order_id::text from order_tenders_read t
      join orders o on o.id = t.order_id left join gift_card_holds h on h.id::text = t.intent_id
      where t.provider = 'gift-card' and o.status <> 'cancelled'
        and (h.id is null or h.order_id <> o.id or h.captured <> t.captured or h.refunded <> t.refunded)
    union all
    select 'only an order that is not cancelled has taken money', h.id::text from gift_card_holds h
      left join orders o on o.id = h.order_id
      where h.captured > h.refunded and (o.status = 'cancelled' or o.id is null)`

const openHolds = (sql: SqlClient.SqlClient) => sql`select 1 from gift_card_holds where status = 'held'`

/**
 * Waits until every checkout and each of its payments has ended; then orders, cards and the provider have to agree, and
 * nothing is set aside any more.
 */
export const auditCards = Effect.fnUntraced(function*(url: string, emulator: PaymentEmulator) {
  yield* audit(url)
  const open = Effect.map(
    onDatabase(url, openHolds),
    ({ length }) => length + emulator.payments().filter(({ status }) => status === "requires_capture").length
  )
  yield* eventually("nothing to be set aside", Effect.map(open, (count) => count === 0))
  assert.deepStrictEqual(yield* onDatabase(url, findings), [])
  assert.deepStrictEqual(yield* onDatabase(url, (sql) => sql.unsafe(wrongAccounts(money))), [])
  yield* auditPayments(url, emulator)
})
