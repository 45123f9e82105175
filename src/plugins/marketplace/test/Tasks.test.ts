import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../../../../test/checkout/CheckoutFixtures.ts"
import { orderInApp } from "../../../../test/support/OrderBuilder.ts"
import { asAdmin, inOrganization } from "../../../../test/support/TestApp.ts"
import { periodStart } from "../payouts/PayoutPeriods.ts"
import { subOrders } from "../suborders/SubOrder.ts"
import { payoutSchedules } from "../vendors/Vendor.ts"
import { done } from "./Calls.ts"
import { aVendor } from "./Goods.ts"
import { market, onTables, runTask, withoutWorker } from "./Market.ts"
import { payoutEmulator } from "./payouts/PayoutEmulator.ts"
import { aDispute, aReturn, aSale, daysAgo, sold } from "./Sales.ts"

/** A state, when it is due in days, the state after the task, and the organization. */
type Due<State> = readonly [from: State, days: number, to: State, within?: string]
type Records = { readonly disputes: Parameters<typeof aDispute>[1]; readonly returns: Parameters<typeof aReturn>[1] }
const builders = { disputes: aDispute, returns: aReturn } as const

/** Runs the task once over records in these states. */
const assertDeadlines = Effect.fnUntraced(function*<Kind extends keyof Records>(
  kind: Kind,
  decided: number,
  records: ReadonlyArray<Due<Records[Kind]>>
) {
  const make = builders[kind] as (
    sale: Parameters<typeof aDispute>[0],
    from: Records[Kind],
    rest: object
  ) => ReturnType<typeof aDispute>
  const ids = yield* Effect.forEach(
    records,
    ([from, days, , within = "org_default"]) =>
      Effect.flatMap(aSale({ within }), (sale) => make(sale, from, { deadlineAt: daysAgo(-days) }))
  )
  const output = yield* runTask(`${kind.slice(0, -1)}-deadlines`)
  assert.deepStrictEqual(output, { done: decided, failed: 0, skipped: 0 })
  for (const [n, [, , to, within = "org_default"]] of records.entries()) {
    const read = yield* done(inOrganization(within, asAdmin), `GET /${kind}/${ids[n]}`)
    assert.strictEqual(read.at("data.status"), to)
  }
})

market({ autoApproveReturnsOnVendorTimeout: true }, withoutWorker)("what vendors leave unanswered", (test) => {
  test("is escalated for disputes of all organizations after the deadline, and no others", function*() {
    yield* assertDeadlines("disputes", 2, [
      ["vendor_response_pending", -1, "escalated"],
      ["vendor_response_pending", -1, "escalated", "org_elsewhere"],
      ["vendor_response_pending", 1, "vendor_response_pending"],
      ["platform_review", -1, "platform_review"],
      ["resolved", -1, "resolved"]
    ])
  })

  test("is approved for returns of all organizations after the deadline if configured, and no others", function*() {
    yield* assertDeadlines("returns", 2, [
      ["requested", -1, "vendor_approved"],
      ["requested", -1, "vendor_approved", "org_elsewhere"],
      ["requested", 1, "requested"],
      ["vendor_rejected", -1, "vendor_rejected"]
    ])
  })
})

market({ autoEscalateOnMissedDeadline: false, autoDeliverAfterDays: 0 }, withoutWorker)("without timers", (test) => {
  test("disputes, returns and deliveries are left to people", function*() {
    yield* assertDeadlines("disputes", 0, [["vendor_response_pending", -1, "vendor_response_pending"]])
    yield* assertDeadlines("returns", 0, [["requested", -1, "requested"]])
    yield* sold(yield* aVendor(), { availableDaysAgo: null, shippedDaysAgo: 100 })
    assert.deepStrictEqual(yield* runTask("release-holdback"), { delivered: 0 })
  })
})

describe("the period of a schedule", () => {
  it("begins with the day, the Monday, each second Monday or the month, in UTC", () => {
    const at = new Date("2026-11-22T23:59:59.999Z")
    const starts = payoutSchedules.map((schedule) => periodStart(schedule, at)?.toISOString().slice(0, 16))
    const expected = ["2026-11-22T00:00", "2026-11-16T00:00", "2026-11-09T00:00", "2026-11-01T00:00", undefined]
    assert.deepStrictEqual(starts, expected)
    const fortnights = ["2026-11-08", "2026-11-09", "2026-11-23"].map((day) => periodStart("biweekly", new Date(day)))
    assert.deepStrictEqual(fortnights, [new Date("2026-10-26"), new Date("2026-11-09"), new Date("2026-11-23")])
  })
})

const bank = payoutEmulator()
const scheduled = (payoutSchedule: typeof payoutSchedules[number], within = "org_default") =>
  Effect.tap(aVendor({ within, payoutSchedule }), (vendorId) => sold(vendorId, { within }))

/** So many days have passed since vendors of this schedule were last looked at. */
const daysLater = (days: number, schedule: string) =>
  onDatabase((sql) =>
    sql`update marketplace_payout_periods p set period_start = period_start - make_interval(days => ${days})
      from marketplace_vendors v where v.id = p.vendor_id and v.payout_schedule = ${schedule}`
  )

market({ payoutAdapter: bank.adapter }, withoutWorker)("the daily run", (test) => {
  test("pays each vendor once in a period of its schedule, and by hand when it says so", function*() {
    const vendors = yield* Effect.forEach(payoutSchedules, (schedule) => scheduled(schedule))
    const paid = () => vendors.map((vendorId) => bank.paid(vendorId))
    assert.deepStrictEqual(yield* runTask("run-payouts"), { made: 4 })
    assert.deepStrictEqual(paid(), [9_000, 9_000, 9_000, 9_000, 0])
    for (const vendorId of vendors) yield* sold(vendorId)
    assert.deepStrictEqual(yield* runTask("run-payouts"), { made: 0 })
    for (const [days, schedule] of [[1, "daily"], [7, "weekly"], [14, "biweekly"], [31, "monthly"]] as const) {
      yield* daysLater(days, schedule)
      assert.deepStrictEqual(yield* runTask("run-payouts"), { made: 1 })
    }
    assert.deepStrictEqual(paid(), [18_000, 18_000, 18_000, 18_000, 0])
  })

  test("pays vendors of all organizations, and none that is suspended", function*() {
    const elsewhere = yield* scheduled("daily", "org_far_away")
    const suspended = yield* aVendor({ payoutSchedule: "daily", status: "suspended" })
    yield* sold(suspended)
    for (const organization of ["org_default", "org_far_away"]) yield* runTask("run-payouts", organization)
    assert.deepStrictEqual([bank.paid(elsewhere), bank.paid(suspended)], [9_000, 0])
  })
})

const stateOf = (id: string, within?: string) =>
  Effect.map(onTables((db) => db.table(subOrders).get(id), within), ({ availableAt, deliveredAt, status }) => [
    status,
    availableAt === null ? null : Math.round((availableAt.getTime() - Number(deliveredAt)) / 86_400_000)
  ])

market({}, withoutWorker)("the timer of deliveries", (test) => {
  test("calls delivered what was shipped two weeks ago, and begins the days of its holdback", function*() {
    const vendorId = yield* aVendor({ holdbackDays: 5 })
    const shipped = (shippedDaysAgo: number, rest: object = {}) =>
      sold(vendorId, { availableDaysAgo: null, shippedDaysAgo, ...rest })
    const [old, young, disputed] = [yield* shipped(15), yield* shipped(13), yield* shipped(15, { onHold: true })]
    const madeLongAgo = yield* shipped(15)
    yield* onTables((db) => db.table(subOrders).update(madeLongAgo, { shippedAt: daysAgo(1) }))
    const within = "org_timers"
    const far = yield* sold(yield* aVendor({ within }), { within, availableDaysAgo: null, shippedDaysAgo: 20 })
    for (const [id, organizationId] of [[old, "org_default"], [far, within]] as const) {
      const { id: orderId } = yield* orderInApp({ organizationId, status: "confirmed" })
      yield* onTables((db) => db.table(subOrders).update(id, { orderId }), organizationId)
    }
    assert.deepStrictEqual(yield* runTask("release-holdback"), { delivered: 1 })
    assert.deepStrictEqual(yield* runTask("release-holdback", within), { delivered: 1 })
    assert.deepStrictEqual([yield* stateOf(old), yield* stateOf(far, within)], [["delivered", 5], ["delivered", 7]])
    for (const left of [young, disputed, madeLongAgo]) assert.deepStrictEqual(yield* stateOf(left), ["shipped", null])
  })
})
