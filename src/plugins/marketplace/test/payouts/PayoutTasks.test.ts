import { assert, describe, it as test } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { buildOrder } from "../../../../../test/support/OrderBuilder.ts"
import { periodStart } from "../../payouts/PayoutPeriods.ts"
import { inDatabase } from "../SaleBuilder.ts"
import { runTask } from "../TaskRun.ts"
import { withMarketplace, withoutWorker } from "../VendorShop.ts"
import { payoutEmulator } from "./PayoutEmulator.ts"
import { aVendor, sold } from "./PayoutFixtures.ts"

const bank = payoutEmulator()

const withMarket = withMarketplace({ payoutAdapter: bank.adapter }, withoutWorker)

const schedules = ["daily", "weekly", "biweekly", "monthly", "manual"] as const

const aScheduledVendor = Effect.fnUntraced(function*(schedule: string, organizationId = "org_default") {
  const vendorId = yield* aVendor({ organizationId })
  yield* onDatabase((sql) =>
    sql`update marketplace_vendors set payout_schedule = ${schedule} where id = ${vendorId}::uuid`
  )
  yield* sold(vendorId, { organizationId })
  return vendorId
})

/** So many days have passed since vendors of this schedule were last looked at. */
const daysLater = (days: number, schedule: string) =>
  onDatabase((sql) =>
    sql`update marketplace_payout_periods p set period_start = period_start - make_interval(days => ${days})
      from marketplace_vendors v where v.id = p.vendor_id and v.payout_schedule = ${schedule}`
  )

const stateOf = (subOrderId: string) =>
  onDatabase((sql) =>
    Effect.map(
      sql`select status,
          round(extract(epoch from available_at - delivered_at) / 86400)::int4 as days
        from marketplace_vendor_sub_orders where id = ${subOrderId}::uuid`,
      ([row]) => [row?.["status"], row?.["days"]]
    )
  )

describe("the period of a schedule", () => {
  const at = new Date("2026-11-22T23:59:59.999Z")
  const starts = {
    daily: "2026-11-22T00:00:00.000Z",
    weekly: "2026-11-16T00:00:00.000Z",
    biweekly: "2026-11-09T00:00:00.000Z",
    monthly: "2026-11-01T00:00:00.000Z",
    manual: undefined
  }
  for (const schedule of schedules) {
    test(`begins for ${schedule} payouts at ${starts[schedule]}`, () => {
      assert.strictEqual(periodStart(schedule, at)?.toISOString(), starts[schedule])
    })
  }

  test("is two weeks long for fortnights, and begins with itself", () => {
    const first = new Date("2026-11-09T00:00:00.000Z")
    assert.deepStrictEqual(periodStart("biweekly", first), first)
    assert.deepStrictEqual(periodStart("biweekly", new Date("2026-11-22T23:59:59.999Z")), first)
    assert.deepStrictEqual(periodStart("biweekly", new Date("2026-11-23T00:00:00.000Z")), new Date("2026-11-23"))
    assert.deepStrictEqual(periodStart("biweekly", new Date("2026-11-08T00:00:00.000Z")), new Date("2026-10-26"))
  })
})

withMarket("the daily run", (it) => {
  it.effect("pays each vendor once in a period of its schedule, and by hand when it says so", () =>
    Effect.gen(function*() {
      const vendors = yield* Effect.forEach(schedules, (schedule) => aScheduledVendor(schedule))
      const paid = () => vendors.map((vendorId) => bank.paid(vendorId))
      assert.deepStrictEqual(yield* runTask("marketplace/run-payouts"), { made: 4 })
      assert.deepStrictEqual(paid(), [9_000, 9_000, 9_000, 9_000, 0])
      for (const vendorId of vendors) yield* sold(vendorId)
      assert.deepStrictEqual(yield* runTask("marketplace/run-payouts"), { made: 0 })
      yield* daysLater(1, "daily")
      assert.deepStrictEqual(yield* runTask("marketplace/run-payouts"), { made: 1 })
      yield* daysLater(7, "weekly")
      yield* daysLater(14, "biweekly")
      assert.deepStrictEqual(yield* runTask("marketplace/run-payouts"), { made: 2 })
      yield* daysLater(31, "monthly")
      assert.deepStrictEqual(yield* runTask("marketplace/run-payouts"), { made: 1 })
      assert.deepStrictEqual(paid(), [18_000, 18_000, 18_000, 18_000, 0])
    }))

  it.effect("pays vendors of all organizations, and none that is suspended", () =>
    Effect.gen(function*() {
      const elsewhere = yield* aScheduledVendor("daily", "org_far_away")
      const suspended = yield* aScheduledVendor("daily")
      yield* onDatabase((sql) => sql`update marketplace_vendors set status = 'suspended' where id = ${suspended}::uuid`)
      for (const organization of ["org_default", "org_far_away"]) {
        yield* runTask("marketplace/run-payouts", organization)
      }
      assert.deepStrictEqual([bank.paid(elsewhere), bank.paid(suspended)], [9_000, 0])
    }))
})

withMarket("the timer of deliveries", (it) => {
  it.effect("calls delivered what was shipped two weeks ago, and begins the days of its holdback", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor({ holdbackDays: 5 })
      const old = yield* sold(vendorId, { availableDaysAgo: null, shippedDaysAgo: 15 })
      const young = yield* sold(vendorId, { availableDaysAgo: null, shippedDaysAgo: 13 })
      const disputed = yield* sold(vendorId, { availableDaysAgo: null, shippedDaysAgo: 15, onHold: true })
      const elsewhere = yield* aVendor({ organizationId: "org_timers" })
      const far = yield* sold(elsewhere, {
        organizationId: "org_timers",
        availableDaysAgo: null,
        shippedDaysAgo: 20
      })
      const madeLongAgo = yield* sold(vendorId, { availableDaysAgo: null, shippedDaysAgo: 15 })
      yield* onDatabase((sql) =>
        sql`update marketplace_vendor_sub_orders set shipped_at = now() - interval '1 day'
          where id = ${madeLongAgo}::uuid`
      )
      for (const [id, organizationId] of [[old, "org_default"], [far, "org_timers"]] as const) {
        const order = yield* inDatabase(buildOrder({ organizationId, status: "confirmed" }))
        yield* onDatabase((sql) =>
          sql`update marketplace_vendor_sub_orders set order_id = ${order.id}::uuid where id = ${id}::uuid`
        )
      }
      assert.deepStrictEqual(yield* runTask("marketplace/release-holdback"), { delivered: 1 })
      assert.deepStrictEqual(yield* runTask("marketplace/release-holdback", "org_timers"), { delivered: 1 })
      assert.deepStrictEqual(yield* stateOf(old), ["delivered", 5])
      assert.deepStrictEqual(yield* stateOf(far), ["delivered", 7])
      for (const left of [young, disputed, madeLongAgo]) assert.deepStrictEqual(yield* stateOf(left), ["shipped", null])
      assert.deepStrictEqual(yield* runTask("marketplace/release-holdback"), { delivered: 0 })
    }))
})

withMarketplace({ autoDeliverAfterDays: 0 }, withoutWorker)("the timer of deliveries, switched off", (it) => {
  it.effect("leaves everything to people", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor()
      const old = yield* sold(vendorId, { availableDaysAgo: null, shippedDaysAgo: 100 })
      assert.deepStrictEqual(yield* runTask("marketplace/release-holdback"), { delivered: 0 })
      assert.deepStrictEqual(yield* stateOf(old), ["shipped", null])
    }))
})
