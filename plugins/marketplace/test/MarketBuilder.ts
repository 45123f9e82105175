import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../../../src/domain/ids/Id.ts"

/** A vendor to be made; approved and without a commission of its own rule. */
export interface VendorSpec {
  readonly organizationId?: string
  readonly name?: string
  readonly status?: "pending" | "approved" | "suspended" | "rejected"
  readonly tier?: "standard" | "silver" | "gold" | "platinum"
  readonly commissionRateBps?: number
  readonly holdbackDays?: number
  readonly payoutMinimumCents?: number
}

let made = 0

/** Inserts a vendor and gives its id. */
export const insertVendor = (spec: VendorSpec = {}) => Effect.orDie(vendorInserted(spec))

const vendorInserted = Effect.fnUntraced(function*(spec: VendorSpec) {
  const sql = yield* SqlClient.SqlClient
  const id = newId()
  const { organizationId = "org_default", name = `Vendor ${++made}` } = spec
  yield* sql`insert into organizations (id, name, slug) values (${organizationId}, ${organizationId}, ${organizationId})
    on conflict do nothing`
  yield* sql`insert into marketplace_vendors (id, organization_id, name, slug, status, tier, commission_rate_bps,
      holdback_days, payout_minimum_cents)
    values (${id}::uuid, ${organizationId}, ${name}, ${id}, ${spec.status ?? "approved"}, ${spec.tier ?? "standard"},
      ${spec.commissionRateBps ?? 1000}, ${spec.holdbackDays ?? 7}, ${spec.payoutMinimumCents ?? 5000})`
  return id
})

/** An account as it stands: its balance, what its entries add up to, and whether they are numbered and summed without gaps. */
export const accountOf = (vendorId: string, currency = "USD") => Effect.orDie(accountRead(vendorId, currency))

const accountRead = Effect.fnUntraced(function*(vendorId: string, currency: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ balance: string; count: number; sum: string; numbered: boolean; running: boolean }>`
    with e as (select *, sum(amount_cents) over (order by entry_number) as so_far,
        row_number() over (order by entry_number) as place
      from marketplace_vendor_balances where vendor_id = ${vendorId}::uuid and currency = ${currency})
    select a.balance_cents::text as balance, a.entry_count as count, coalesce((select sum(amount_cents) from e), 0)::text as sum,
      coalesce((select bool_and(place = entry_number) from e), true) and a.entry_count = (select count(*) from e) as numbered,
      coalesce((select bool_and(so_far = running_balance_cents) from e), true) as running
    from marketplace_vendor_accounts a where a.vendor_id = ${vendorId}::uuid and a.currency = ${currency}`
  return row === undefined
    ? { balance: 0, entries: 0, sum: 0, exact: true }
    : {
      balance: Number(row.balance),
      entries: row.count,
      sum: Number(row.sum),
      exact: row.numbered && row.running && row.balance === row.sum
    }
})
