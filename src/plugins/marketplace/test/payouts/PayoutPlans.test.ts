import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { plansOf } from "../../../../../test/pricing/Statements.ts"
import { inBulk } from "../../../../../test/support/InBulk.ts"
import type { CurrentActor } from "../../../../domain/platform/access/Actor.ts"
import type { PluginDatabase } from "../../../kit/tables/PluginDatabase.ts"
import { rowsOf } from "../../../kit/tables/StatementRepo.ts"
import { balancesOf } from "../../ledger/BalanceRepo.ts"
import { ledgerEntries } from "../../ledger/Ledger.ts"
import { payouts } from "../../payouts/Payout.ts"
import { eligibleAmount, takeEntries } from "../../payouts/PayoutRunRepo.ts"
import { claimTransfers } from "../../payouts/TransferRepo.ts"
import { overdueDeliveries } from "../../suborders/SubOrderMoves.ts"
import { market, onTables, withoutWorker } from "../Market.ts"
import { daysAgo } from "../Sales.ts"

/** 200 vendors of two organizations, with 100 sub-orders, 200 entries and 40 payouts each; a few of each are open. */
const seedMany = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into organizations (id, slug, name) select o, o, o
    from unnest(array['org_default', 'org_other']) o on conflict do nothing`
  yield* sql`insert into marketplace_vendors (id, organization_id, name, slug, status)
    select md5('v' || v)::uuid, case v % 4 when 0 then 'org_default' else 'org_other' end, 'Vendor ' || v, 'v-' || v,
      'approved' from generate_series(1, 200) v`
  yield* sql`insert into marketplace_vendor_accounts (organization_id, vendor_id, currency, balance_cents, entry_count)
    select organization_id, id, 'USD', 18000, 200 from marketplace_vendors`
  yield* sql`insert into marketplace_vendor_sub_orders (id, organization_id, order_id, vendor_id, currency, status,
      subtotal, commission_amount, payout_amount, shipped_at, available_at, created_at)
    select md5(v.id::text || n)::uuid, v.organization_id, gen_random_uuid(), v.id, 'USD',
      case when n % 50 = 0 then 'shipped' else 'delivered' end, 100, 10, 90, now() - n * interval '1 hour',
      now() - interval '1 day', now() - n * interval '1 hour'
    from marketplace_vendors v, generate_series(1, 100) n`
  yield* sql`insert into marketplace_vendor_balances (organization_id, vendor_id, currency, type, amount_cents,
      running_balance_cents, entry_number, sub_order_id, reference_type, reference_id, payout_id, created_at)
    select s.organization_id, s.vendor_id, 'USD', t.type, t.amount, 0,
      row_number() over (partition by s.vendor_id order by s.created_at), s.id, 'sub_order', s.id,
      case when s.created_at < now() - interval '10 hours' then gen_random_uuid() end, s.created_at
    from marketplace_vendor_sub_orders s, (values ('sale', 100), ('commission', -10)) t(type, amount)`
  yield* sql`insert into marketplace_vendor_payouts (organization_id, vendor_id, currency, amount, gross_amount,
      net_amount, status, due_at, created_at)
    select v.organization_id, v.id, 'USD', 90, 100, 90, s.status, case s.status when 'processing' then now() end,
      now() - n * interval '1 day'
    from marketplace_vendors v, generate_series(1, 40) n,
      lateral (select case when n = 1 and v.slug like '%8' then 'processing' when n = 2 and v.slug like '%8' then 'failed'
        else 'completed' end as status) s`
  const [vendor] = yield* rowsOf(Schema.Struct({ id: Schema.String }))(sql`select id from marketplace_vendors
    where organization_id = 'org_default' order by id limit 1`)
  // One has been there for years.
  yield* sql`insert into marketplace_vendor_balances (organization_id, vendor_id, currency, type, amount_cents,
      running_balance_cents, entry_number, reference_type, reference_id, payout_id, created_at)
    select 'org_default', ${vendor?.id ?? null}::uuid, 'USD', 'adjustment', 1, 0, n, 'adjustment', gen_random_uuid(),
      gen_random_uuid(), now() - n * interval '1 hour' from generate_series(201, 10000) n`
  yield* sql`analyze`
  return vendor?.id ?? ""
}).pipe(inBulk, Effect.orDie)

const page = { page: 1, limit: 20 }

/** The plans of what is asked; none of them reads a whole table. */
const plans = Effect.fnUntraced(function*(asked: Effect.Effect<unknown, unknown, CurrentActor>) {
  const found = yield* plansOf(asked)
  for (const plan of found) assert.notMatch(plan, /Seq Scan on marketplace_vendor_(sub_orders|balances|payouts)/)
  return found.join("\n")
})

const openBalances = "marketplace_vendor_balances_vendor_id_currency_"

/** What the plugin asks for, and the index that it has to be found with. */
const indexed = (db: PluginDatabase, vendorId: string) => {
  const [rows, account] = [db.table(payouts), { vendorId, currency: "USD" }]
  const newest = db.table(ledgerEntries).list({ vendorId }, { limit: 50, order: ["-createdAt", "-entryNumber"] })
  return [
    [rows.page({ vendorId }, page), "marketplace_vendor_payouts_vendor_id_created_at_id_idx"],
    [rows.page({ status: "failed" }, page), "marketplace_vendor_payouts_status_created_at_id_idx"],
    [rows.page({}, page), "marketplace_vendor_payouts_listed"],
    [newest, "marketplace_vendor_balances_vendor_id_created_at_idx"],
    [db.use(balancesOf)(vendorId), openBalances],
    [db.use(balancesOf)(vendorId), "marketplace_vendor_sub_orders_pkey"],
    [db.use(eligibleAmount)(account), openBalances],
    [
      db.transaction(db.use(takeEntries)(vendorId, account, true)),
      openBalances
    ],
    [db.use(claimTransfers)(50, 1_000), "marketplace_vendor_payouts_status_due_at_"],
    [overdueDeliveries(db, daysAgo(4)), "marketplace_vendor_sub_orders_status_created_at_id_idx"]
  ] as const
}

market({}, withoutWorker)("payouts among 8,000", (test) => {
  test("are listed, and balances read, over their indexes", function*() {
    yield* onTables((db) =>
      Effect.gen(function*() {
        for (const [asked, index] of indexed(db, yield* seedMany)) assert.include(yield* plans(asked), index)
      }).pipe(Effect.provideService(SqlClient.SqlClient, db.sql)), "org_default")
  })
})
