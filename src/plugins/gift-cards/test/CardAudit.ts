import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { audit, auditPayments, onDatabase } from "../../../../test/support/Audit.ts"
import { eventually } from "../../../../test/support/Eventually.ts"
import type { PaymentEmulator } from "../../../../test/support/PaymentEmulator.ts"
import { api, asAdmin } from "../../../../test/support/TestApp.ts"

/** What is not as it must be between cards, holds and orders. */
const findings = (sql: SqlClient.SqlClient) =>
  sql`select 'a balance is the sum of its entries' as rule, c.id::text as example from gift_cards c
      where c.balance <> (select coalesce(sum(amount), 0) from gift_card_entries e where e.account_id = c.id)
    union all
    select 'what is held is the sum of the holds', c.id::text from gift_cards c where c.held <>
      (select coalesce(sum(amount), 0) from gift_card_holds h where h.account_id = c.id and h.status = 'held')
    union all
    select 'what was taken for an order, and not given back, are its entries', order_id::text from (
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

/** Asserts that analytics show what is on the cards, and that entries explain it. */
const auditLiability = Effect.fnUntraced(function*(url: string) {
  const names = ["issued", "redeemed", "refunded", "adjusted", "outstanding"]
  const measures = names.map((name) => `GiftCardLiability.${name}`)
  const answer = yield* api("POST", "/api/analytics/query", { as: asAdmin, body: { measures } })
  const row = Object(answer.at("data.rows.0"))
  const [issued = 0, redeemed = 0, refunded = 0, adjusted = 0, outstanding] = measures.map((name) => Number(row[name]))
  const [cards] = yield* onDatabase(url, (sql) => sql`select sum(balance)::float8 as balance from gift_cards`)
  assert.strictEqual(outstanding, cards?.["balance"])
  assert.strictEqual(outstanding, issued - redeemed + refunded + adjusted)
})

/**
 * Waits until every checkout and each of its payments has ended; then orders, cards, provider and liability have to agree,
 * and nothing is set aside any more.
 */
export const auditCards = Effect.fnUntraced(function*(url: string, emulator: PaymentEmulator) {
  yield* audit(url, "60 seconds")
  const open = Effect.map(
    onDatabase(url, openHolds),
    ({ length }) => length + emulator.payments().filter(({ status }) => status === "requires_capture").length
  )
  yield* eventually("nothing to be set aside", Effect.map(open, (count) => count === 0), 60_000)
  assert.deepStrictEqual(yield* onDatabase(url, findings), [])
  yield* auditPayments(url, emulator)
  yield* auditLiability(url)
})
