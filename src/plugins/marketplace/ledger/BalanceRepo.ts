import { Effect, Schema } from "effect"
import { CurrentActor, type PluginDatabase, rowsOf } from "stoa/plugin"
import { openEntries } from "./OpenEntriesRepo.ts"

/** What a vendor is owed in a currency, minor units: what may be paid out now, and what waits. */
export const CurrencyBalance = Schema.Struct({
  currency: Schema.String,
  balanceCents: Schema.Int,
  availableCents: Schema.Int,
  heldCents: Schema.Int
})

const balances = rowsOf(CurrencyBalance)

/** The balances of a vendor by currency, in one statement. */
export const balancesOf = Effect.fn("BalanceRepo.ofVendor")(
  function*({ sql }: PluginDatabase["Service"], vendorId: string) {
    const { organizationId } = yield* CurrentActor
    return yield* balances(sql)`
      with ${openEntries(sql, organizationId, sql`e.vendor_id = ${vendorId}::uuid`)},
      due as (select currency, sum(amount_cents)::int8 as amount from eligible group by currency)
      select a.currency, a.balance_cents as "balanceCents", coalesce(due.amount, 0) as "availableCents",
        a.balance_cents - coalesce(due.amount, 0) as "heldCents"
      from marketplace_vendor_accounts a left join due on due.currency = a.currency
      where a.organization_id = ${organizationId} and a.vendor_id = ${vendorId}::uuid order by a.currency`
  },
  Effect.orDie
)
