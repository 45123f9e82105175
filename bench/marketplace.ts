import { createPluginTestApp, type PluginTestApp, testAdminActor } from "../src/plugins/kit/testing/StoaTesting.ts"
import { marketplace } from "../src/plugins/marketplace/index.ts"
import { environment } from "./measure/Environment.ts"
import { percentile } from "./measure/Figures.ts"
import { atMost, heading, note, record, table } from "./measure/Report.ts"
import type { Options } from "./Options.ts"
import { startBenchPostgres } from "./servers/BenchPostgres.ts"

const vendors = 1_000

/** Vendors with so many sub-orders in all, half of them paid out, the other half waiting for the next run. */
const seedMarket = async ({ db }: PluginTestApp, subOrders: number): Promise<void> => {
  const each = subOrders / vendors
  await db.query(
    `insert into marketplace_vendors (id, organization_id, name, slug, status, payout_minimum_cents)
     select gen_random_uuid(), 'org_default', 'Vendor ' || v, 'v-' || v, 'approved', 0
     from generate_series(1, ${vendors}) v`
  )
  await db.query(
    `insert into marketplace_vendor_accounts (organization_id, vendor_id, currency, balance_cents, entry_count)
     select organization_id, id, 'USD', ${Math.floor(each / 2)} * 90, ${each * 2} from marketplace_vendors`
  )
  await db.query(
    `insert into marketplace_vendor_sub_orders (id, organization_id, order_id, vendor_id, currency, status, subtotal,
       commission_amount, payout_amount, available_at, created_at)
     select gen_random_uuid(), 'org_default', gen_random_uuid(), v.id, 'USD',
       (array['delivered', 'shipped', 'pending', 'cancelled'])[1 + n % 4], 100, 10, 90, now() - interval '1 day',
       now() - n * interval '1 hour'
     from marketplace_vendors v, generate_series(1, ${each}) n`
  )
  await db.query(
    `insert into marketplace_vendor_balances (organization_id, vendor_id, currency, type, amount_cents,
       running_balance_cents, entry_number, sub_order_id, reference_type, reference_id, payout_id, created_at)
     select 'org_default', s.vendor_id, 'USD', t.type, t.amount, 0,
       row_number() over (partition by s.vendor_id order by s.created_at), s.id, 'sub_order', s.id,
       case when s.created_at < now() - ${each / 2} * interval '1 hour' then gen_random_uuid() end, s.created_at
     from marketplace_vendor_sub_orders s, (values ('sale', 100), ('commission', -10)) t(type, amount)`
  )
  await db.query(
    `insert into marketplace_vendor_payouts (organization_id, vendor_id, currency, amount, gross_amount, net_amount,
       status, created_at)
     select 'org_default', v.id, 'USD', 90, 100, 90, case n when 7 then 'failed' else 'completed' end,
       now() - n * interval '7 days' from marketplace_vendors v, generate_series(1, 50) n`
  )
  for (const name of ["vendors", "vendor_accounts", "vendor_sub_orders", "vendor_balances", "vendor_payouts"]) {
    await db.query(`vacuum analyze marketplace_${name}`)
  }
}

/** What is asked, of one of the vendors in turn. */
const questions: ReadonlyArray<readonly [name: string, path: (vendorId: string) => string, byVendor: boolean]> = [
  ["payouts, all", () => "payouts", false],
  ["payouts by status", () => "payouts?status=failed", false],
  ["payouts of a vendor", (vendorId) => `payouts?vendorId=${vendorId}`, false],
  ["balance of a vendor", (vendorId) => `vendors/${vendorId}/balance`, false],
  ["sub-orders, all", () => "sub-orders", false],
  ["sub-orders by status", () => "sub-orders?status=shipped", false],
  ["sub-orders of a vendor", (vendorId) => `sub-orders?vendorId=${vendorId}`, false],
  ["own payouts", () => "vendor/me/payouts", true],
  ["own balance", () => "vendor/me/balance", true],
  ["own sub-orders", () => "vendor/me/orders?status=pending", true]
]

/** Milliseconds of each of so many requests, one after the other, and the slowest answer's status. */
const timesOf = async (
  app: PluginTestApp,
  ids: ReadonlyArray<string>,
  rounds: number,
  [, path, own]: typeof questions[number]
) => {
  const times: Array<number> = []
  for (let round = 0; round < rounds + 20; round++) {
    const vendorId = ids[round % ids.length] ?? ""
    const as = own ? { ...testAdminActor, role: "vendor", permissions: [], vendorId } : testAdminActor
    const began = performance.now()
    const { body, status } = await app.app.request("GET", `/api/marketplace/${path(vendorId)}`, { as })
    // The first ones are those of code that is not compiled yet.
    if (round >= 20) times.push(performance.now() - began)
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  }
  return times.sort((a, b) => a - b)
}

/**
 * Lists and balances of a marketplace over HTTP, the service and its client in this process, one request at a time; then one
 * payout run over all vendors.
 */
export const runMarketplace = async (options: Options): Promise<void> => {
  const subOrders = options.flows ?? 100_000
  const rounds = 300
  heading(`marketplace: ${vendors} vendors, ${subOrders} sub-orders, ${rounds} requests each`)
  const postgres = await startBenchPostgres()
  table(["environment", ""], Object.entries(await environment(postgres.admin)))
  const app = await createPluginTestApp(marketplace(), { postgres: { url: await postgres.create("market") } })
  try {
    await seedMarket(app, subOrders)
    const ids = (await app.db.query("select id::text as id from marketplace_vendors order by id")).map(({ id }) =>
      String(id)
    )
    const found = []
    for (const question of questions) {
      const times = await timesOf(app, ids, rounds, question)
      found.push({ name: question[0], p50: percentile(times, 0.5), p99: percentile(times, 0.99) })
    }
    table(["request", "p50 ms", "p99 ms"], found.map(({ name, p50, p99 }) => [name, p50, p99]))
    const began = performance.now()
    const { body, status } = await app.app.request("POST", "/api/marketplace/payouts/run", { as: testAdminActor })
    if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
    const made: unknown = Reflect.get(Object(body), "data")
    const run = { payouts: Array.isArray(made) ? made.length : 0, seconds: (performance.now() - began) / 1_000 }
    note(`one run: ${run.payouts} payouts in ${run.seconds.toFixed(1)} s`)
    record("marketplace", { subOrders, found, run })
    atMost("slowest list or balance, p99", Math.max(...found.map(({ p99 }) => p99)), 50, " ms")
  } finally {
    await app.close()
    await postgres.stop()
  }
}
