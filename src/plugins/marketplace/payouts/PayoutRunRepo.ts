import { Effect, Schema } from "effect"
import { CurrentActor, type PluginDatabase, rowsOf, Time } from "stoa/plugin"
import { openEntries } from "../ledger/OpenEntriesRepo.ts"
import { TypeSum } from "./PayoutAmounts.ts"

/** A vendor's money in one currency. */
const Account = Schema.Struct({ vendorId: Schema.String, currency: Schema.String })
export type Account = typeof Account.Type

/** What a payout took out of an account. */
export interface Taken {
  readonly sums: ReadonlyArray<TypeSum>
  /** When the payout before it was made, or the first entry that this one took. */
  readonly periodStart: Date | null
}

const takenSums = rowsOf(Schema.Struct({ ...TypeSum.fields, since: Schema.NullOr(Time) }))
const accounts = rowsOf(Account)
const amounts = rowsOf(Schema.Struct({ amount: Schema.Int }))

const accountOf = (sql: PluginDatabase["Service"]["sql"], { currency, vendorId }: Account) =>
  sql`e.vendor_id = ${vendorId}::uuid and e.currency = ${currency}`

/**
 * Takes all eligible entries of an account for a payout, or none where they come to less than the vendor's minimum
 * (`force`: than one unit). To be asked behind the account's lock: entries that were added before it are seen.
 */
const makeTake = (sql: PluginDatabase["Service"]["sql"]) =>
  Effect.fn("PayoutRunRepo.take")(function*(payoutId: string, account: Account, force: boolean) {
    const { organizationId } = yield* CurrentActor
    const rows = yield* takenSums(sql)`with ${openEntries(sql, organizationId, accountOf(sql, account))},
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
      from taken group by type order by type`
    return { sums: rows, periodStart: rows[0]?.since ?? null } satisfies Taken
  }, Effect.orDie)

/** Statements of a payout run; the organization is the actor's. */
export const payoutRunRepo = ({ sql }: PluginDatabase["Service"]) => ({
  /** Accounts of approved vendors that have enough to be paid out; whether it still is so is decided behind their locks. */
  accounts: Effect.fn("PayoutRunRepo.accounts")(
    function*(vendorIds: ReadonlyArray<string> | undefined, force: boolean) {
      const { organizationId } = yield* CurrentActor
      const of = vendorIds === undefined ? sql`true` : sql`e.vendor_id = any(${vendorIds}::uuid[])`
      return yield* accounts(sql)`
        with ${openEntries(sql, organizationId, of)},
        sums as (select vendor_id, currency, sum(amount_cents) as amount from eligible group by vendor_id, currency)
        select s.vendor_id as "vendorId", s.currency from sums s
        join marketplace_vendors v on v.id = s.vendor_id and v.organization_id = ${organizationId}
        where v.status = 'approved'
          and s.amount >= case when ${force}::boolean then 1 else greatest(v.payout_minimum_cents, 1) end
        order by s.vendor_id, s.currency`
    },
    Effect.orDie
  ),

  take: makeTake(sql),

  /** What may be paid out of an account now, minor units. */
  eligible: Effect.fn("PayoutRunRepo.eligible")(function*(account: Account) {
    const { organizationId } = yield* CurrentActor
    const [row] = yield* amounts(sql)`with ${openEntries(sql, organizationId, accountOf(sql, account))}
      select coalesce(sum(amount_cents), 0)::int8 as amount from eligible`
    return row?.amount ?? 0
  }, Effect.orDie),

  /** Makes entries that the ledger has just written those of a payout. */
  settle: Effect.fn("PayoutRunRepo.settle")(function*(payoutId: string, entryIds: ReadonlyArray<string>) {
    const { organizationId } = yield* CurrentActor
    yield* sql`update marketplace_vendor_balances set payout_id = ${payoutId}::uuid, updated_at = now()
      where organization_id = ${organizationId} and id = any(${entryIds}::uuid[])`
  }, Effect.orDie),

  /** Takes back what a failed payout gave back; false when another payout has taken it since. */
  takeReversal: Effect.fn("PayoutRunRepo.takeReversal")(function*(payoutId: string, account: Account) {
    const { organizationId } = yield* CurrentActor
    const rows = yield* sql`update marketplace_vendor_balances e set payout_id = ${payoutId}::uuid, updated_at = now()
      where e.organization_id = ${organizationId} and ${accountOf(sql, account)} and e.payout_id is null
        and e.type = 'payout_reversal' and e.reference_id = ${payoutId}::uuid returning e.id`
    return rows.length === 1
  }, Effect.orDie)
})
