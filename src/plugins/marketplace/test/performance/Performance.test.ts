import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { api, asAdmin, inOrganization } from "../../../../../test/support/TestApp.ts"
import type { MarketplaceSettings } from "../../MarketplaceOptions.ts"
import { insertVendor } from "../MarketBuilder.ts"
import { aReview } from "../ReviewBuilder.ts"
import { aDispute, aReturn, aSale, inDatabase, type Sale } from "../SaleBuilder.ts"
import { runTask } from "../TaskRun.ts"
import { withMarketplace, withoutWorker } from "../VendorShop.ts"

const app = (options: Partial<MarketplaceSettings> = {}) => withMarketplace(options, withoutWorker)

const performance = (vendorId: string, organization = "org_default") =>
  api("GET", `/api/marketplace/vendors/${vendorId}/performance`, { as: inOrganization(organization, asAdmin) })

const owe = ({ vendorId }: Pick<Sale, "vendorId">, currency: string, cents: number) =>
  onDatabase((sql) =>
    sql`insert into marketplace_vendor_accounts (organization_id, vendor_id, currency, balance_cents)
      values ('org_default', ${vendorId}::uuid, ${currency}, ${cents})`
  )

const decide = (disputeId: string, resolution: string) =>
  onDatabase((sql) => sql`update marketplace_disputes set resolution = ${resolution} where id = ${disputeId}::uuid`)

/** Ten sub-orders: one each late, shipped late, cancelled, with a lost dispute and with a faulty return; the rest is fine. */
const tenSales = Effect.fnUntraced(function*(vendorId: string, organizationId = "org_default") {
  const own = { vendorId, organizationId }
  yield* aSale({ ...own, status: "confirmed", soldDaysAgo: 4 })
  yield* aSale({ ...own, soldDaysAgo: 9, shippedDaysAgo: 5 })
  yield* aSale({ ...own, status: "cancelled", soldDaysAgo: 9 })
  const lost = yield* aSale({ ...own, shippedDaysAgo: 0 })
  yield* decide(yield* aDispute(lost, "resolved", 3, organizationId), "refund_partial")
  yield* aReturn(yield* aSale({ ...own, shippedDaysAgo: 0 }), "received", 3, organizationId)
  const won = yield* aSale({ ...own, soldDaysAgo: 4, shippedDaysAgo: 2 })
  yield* decide(yield* aDispute(won, "resolved", 3, organizationId), "vendor_favor")
  yield* aReturn(yield* aSale({ ...own, shippedDaysAgo: 0 }), "vendor_rejected", 3, organizationId)
  for (const _ of [1, 2, 3]) yield* aSale({ ...own, shippedDaysAgo: 0 })
  return yield* aSale({ ...own, status: "confirmed", soldDaysAgo: 91 })
})

app()("the performance of a vendor", (it) => {
  it.effect("the performance of a vendor is what its sub-orders, disputes, returns and reviews say, scored by the task for every organization", () =>
    Effect.gen(function*() {
      const vendorId = yield* inDatabase(insertVendor({ tier: "gold" }))
      const elsewhere = yield* inDatabase(insertVendor({ organizationId: "org_elsewhere" }))
      const beside = yield* inDatabase(insertVendor())
      const old = yield* tenSales(vendorId)
      yield* tenSales(elsewhere, "org_elsewhere")
      yield* aReview(old, 1)
      yield* aReview(yield* aSale({ vendorId, shippedDaysAgo: 0, soldDaysAgo: 95 }), 2)
      yield* aReview(yield* aSale({ vendorId, shippedDaysAgo: 0, soldDaysAgo: 95 }), 5, "hidden")
      const before = yield* performance(vendorId)
      assert.deepInclude(before.at("data"), {
        vendorId,
        performanceScore: 100,
        tier: "gold",
        rating: { average: 1.5, count: 2 },
        rates: { subOrders: 10, lateShipmentPercent: 20, cancellationPercent: 10, defectPercent: 20 },
        balanceCents: 0
      })
      for (const organization of ["org_default", "org_elsewhere"]) {
        assert.deepStrictEqual(yield* runTask("marketplace/score-vendors", organization), { changed: 1 })
      }
      const scores = yield* Effect.all([
        performance(vendorId),
        performance(elsewhere, "org_elsewhere"),
        performance(beside)
      ])
      assert.deepStrictEqual(scores.map((one) => one.at("data.performanceScore")), [6, 25, 100])
      assert.deepStrictEqual(yield* runTask("marketplace/score-vendors"), { changed: 0 })
    }))

  it.effect("leaves unpaid orders and completely cancelled orders out of the score", () =>
    Effect.gen(function*() {
      const sale = yield* aSale({ status: "confirmed", soldDaysAgo: 8 })
      const unpaid = yield* aSale({ vendorId: sale.vendorId, status: "pending", soldDaysAgo: 8 })
      const ended = yield* aSale({ vendorId: sale.vendorId, status: "cancelled", soldDaysAgo: 8 })
      yield* inDatabase(Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`update orders set status = 'pending' where id = ${unpaid.orderId}::uuid`
        yield* sql`update orders set status = 'cancelled' where id = ${ended.orderId}::uuid`
      }))
      const rates = { subOrders: 1, lateShipmentPercent: 100, cancellationPercent: 0, defectPercent: 0 }
      assert.deepStrictEqual((yield* performance(sale.vendorId)).at("data.rates"), rates)
    }))

  it.effect("the performance of a vendor comes with the balance in the store's currency and in each of the vendor's", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      yield* owe(sale, "USD", 1_250)
      yield* owe(sale, "EUR", -30)
      yield* aReview(sale, 4)
      const shown = {
        rating: { average: 4, count: 1 },
        balanceCents: 1_250,
        balances: [{ currency: "EUR", balanceCents: -30 }, { currency: "USD", balanceCents: 1_250 }]
      }
      const own = yield* api("GET", "/api/marketplace/vendor/me/analytics", { as: sale.vendor })
      assert.deepStrictEqual(own.at("data"), shown)
      assert.deepInclude((yield* performance(sale.vendorId)).at("data"), shown)
    }))
})

app({
  shipWithinDays: 10,
  performanceThresholds: {
    minRating: 1,
    maxDefectRatePercent: 20,
    maxLateShipmentRatePercent: 0,
    maxCancellationRatePercent: 10
  }
})("the performance of a vendor, where the deployment tolerates more", (it) => {
  it.effect("the performance of a vendor, where the deployment tolerates more is scored by its options", () =>
    Effect.gen(function*() {
      const vendorId = yield* inDatabase(insertVendor())
      yield* tenSales(vendorId)
      yield* runTask("marketplace/score-vendors")
      const read = yield* performance(vendorId)
      assert.deepStrictEqual([read.at("data.rates.lateShipmentPercent"), read.at("data.performanceScore")], [0, 100])
    }))
})
