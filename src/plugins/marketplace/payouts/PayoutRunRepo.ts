import { Schema } from "effect"
import { type Database, rowsOf, statement, Time } from "stoa/plugin"
import { openEntries } from "../ledger/BalanceRepo.ts"
import type { Account } from "../ledger/Ledger.ts"
import { TypeSum } from "./Payout.ts"
import type { Periods } from "./PayoutPeriods.ts"

const takenSums = rowsOf(Schema.Struct({ ...TypeSum.fields, since: Schema.NullOr(Time) }))
const accounts = rowsOf(Schema.Struct({ vendorId: Schema.String, currency: Schema.String }))
const ids = rowsOf(Schema.Struct({ id: Schema.String }))
const amounts = rowsOf(Schema.Struct({ amount: Schema.Int }))

const accountOf = (sql: Database, { currency, vendorId }: Account) =>
  sql`e.vendor_id = ${vendorId}::uuid and e.currency = ${currency}`

/**
 * Takes all eligible entries of an account for a payout, or none where they come to less than the vendor's minimum
 * (`force`: than one unit). To be asked behind the account's lock: entries that were added before it are seen. The
 * period begins when the payout before it was made, or with the first entry that this one took.
 */
export const takeEntries = statement(
  "PayoutRunRepo.take",
  function*(sql, organizationId, payoutId: string, account: Account, force: boolean) {
    const rows = yield* takenSums(sql`with ${openEntries(sql, organizationId, accountOf(sql, account))},
      due as (select 1 from marketplace_vendors v
        where v.id = ${account.vendorId}::uuid and v.organization_id = ${organizationId} and v.status = 'approved'
          and (select coalesce(sum(amount_cents), 0) from eligible)
            >= case when ${force}::boolean then 1 else greatest(v.payout_minimum_cents, 1) end),
      taken as (update marketplace_vendor_balances b set payout_id = ${payoutId}::uuid, updated_at = now()
        where b.id = any(array(select id from eligible where exists (select 1 from due)))
          and b.organization_id = ${organizationId} and b.payout_id is null
        returning b.type, b.amount_cents, b.created_at)
      select type, sum(amount_cents)::int8 as amount, coalesce(
          (select p.created_at from marketplace_vendor_payouts p where p.organization_id = ${organizationId}
            and p.vendor_id = ${account.vendorId}::uuid and p.currency = ${account.currency}
            order by p.created_at desc limit 1),
          (select min(created_at) from taken)) as since
      from taken group by type order by type`)
    return { sums: rows, periodStart: rows[0]?.since ?? null }
  }
)

/** Accounts of approved vendors that have enough to be paid out; whether it still is so is decided behind their locks. */
export const payableAccounts = statement(
  "PayoutRunRepo.accounts",
  function*(sql, organizationId, vendorIds: ReadonlyArray<string> | undefined, force: boolean) {
    const of = vendorIds === undefined ? sql`true` : sql`e.vendor_id = any(${vendorIds}::uuid[])`
    return yield* accounts(sql`
        with ${openEntries(sql, organizationId, of)},
        sums as (select vendor_id, currency, sum(amount_cents) as amount from eligible group by vendor_id, currency)
        select s.vendor_id as "vendorId", s.currency from sums s
        join marketplace_vendors v on v.id = s.vendor_id and v.organization_id = ${organizationId}
        where v.status = 'approved'
          and s.amount >= case when ${force}::boolean then 1 else greatest(v.payout_minimum_cents, 1) end
        order by s.vendor_id, s.currency`)
  }
)

/** What may be paid out of an account now, minor units. */
export const eligibleAmount = statement("PayoutRunRepo.eligible", function*(sql, organizationId, account: Account) {
  const [row] = yield* amounts(sql`with ${openEntries(sql, organizationId, accountOf(sql, account))}
    select coalesce(sum(amount_cents), 0)::int8 as amount from eligible`)
  return row?.amount ?? 0
})

/** Takes back what a failed payout gave back; false when another payout has taken it since. */
export const takeReversal = statement(
  "PayoutRunRepo.takeReversal",
  function*(sql, organizationId, payoutId: string, account: Account) {
    const rows = yield* sql`update marketplace_vendor_balances e set payout_id = ${payoutId}::uuid, updated_at = now()
      where e.organization_id = ${organizationId} and ${accountOf(sql, account)} and e.payout_id is null
        and e.type = 'payout_reversal' and e.reference_id = ${payoutId}::uuid returning e.id`
    return rows.length === 1
  }
)

/** Approved vendors that the schedule has not processed in its current period. */
export const vendorsDue = statement("ScheduleRepo.due", function*(sql, organizationId, periods: Periods) {
  const rows = yield* ids(sql`
    select v.id from marketplace_vendors v
    join jsonb_to_recordset(${JSON.stringify(periods)}::jsonb) as s(schedule text, start timestamptz)
      on s.schedule = v.payout_schedule
    left join marketplace_payout_periods p on p.organization_id = ${organizationId} and p.vendor_id = v.id
    where v.organization_id = ${organizationId} and v.status = 'approved'
      and (p.period_start is null or p.period_start < s.start)
    order by v.id`)
  return rows.map(({ id }) => id)
})

/** Notes that these vendors have been looked at. */
export const notePeriod = statement(
  "ScheduleRepo.note",
  function*(sql, organizationId, vendorIds: ReadonlyArray<string>, periods: Periods) {
    yield* sql`insert into marketplace_payout_periods as p (organization_id, vendor_id, period_start)
      select ${organizationId}, v.id, s.start from marketplace_vendors v
      join jsonb_to_recordset(${JSON.stringify(periods)}::jsonb) as s(schedule text, start timestamptz)
        on s.schedule = v.payout_schedule
      where v.organization_id = ${organizationId} and v.id = any(${vendorIds}::uuid[])
      on conflict (organization_id, vendor_id) do update set period_start = excluded.period_start, updated_at = now()
        where p.period_start < excluded.period_start`
  }
)
