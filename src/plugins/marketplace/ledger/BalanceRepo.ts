import { Effect, Schema } from "effect"
import { CurrentActor, type PluginDatabase, rowsOf } from "stoa/plugin"
import { openEntries } from "./OpenEntriesRepo.ts"

/** What a vendor is owed in a currency, minor units: what may be paid out now, and what waits. */
export interface CurrencyBalance {
  readonly currency: string
  readonly balanceCents: number
  readonly availableCents: number
  readonly heldCents: number
}

const accounts = rowsOf(Schema.Struct({ currency: Schema.String, balance: Schema.Int, available: Schema.Int }))

/** The balances of a vendor by currency, in one statement. */
export const balanceRepo = ({ sql }: PluginDatabase["Service"]) => ({
  ofVendor: Effect.fn("BalanceRepo.ofVendor")(function*(vendorId: string) {
    const { organizationId } = yield* CurrentActor
    const rows = yield* accounts(sql)`
      with ${openEntries(sql, organizationId, sql`e.vendor_id = ${vendorId}::uuid`)},
      due as (select currency, sum(amount_cents)::int8 as amount from eligible group by currency)
      select a.currency, a.balance_cents as balance, coalesce(due.amount, 0) as available
      from marketplace_vendor_accounts a left join due on due.currency = a.currency
      where a.organization_id = ${organizationId} and a.vendor_id = ${vendorId}::uuid order by a.currency`
    return rows.map(({ available, balance, currency }): CurrencyBalance => ({
      currency,
      balanceCents: balance,
      availableCents: available,
      heldCents: balance - available
    }))
  }, Effect.orDie)
})
