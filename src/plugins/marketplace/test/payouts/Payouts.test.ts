import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { asAdmin } from "../../../../../test/support/TestApp.ts"
import { newId } from "../../../../domain/platform/ids/Id.ts"
import { announced, balanceOf } from "../Books.ts"
import { asVendor, done, each, refused, refusedBodies } from "../Calls.ts"
import { aVendor } from "../Goods.ts"
import { market, times, withoutWorker } from "../Market.ts"
import { adjusted, givenBack, postAll, sold } from "../Sales.ts"
import { paidBy, payoutEmulator, payoutOf, payoutsOf, whileHeld } from "./PayoutEmulator.ts"

const [missing, invalid] = ["404 NOT_FOUND", "422 VALIDATION_FAILED"]
const bank = payoutEmulator()

const paying = (vendorId: string, force = false) => paidBy({ vendorIds: [vendorId], force })
/** A vendor with sales of these amounts that may be paid out. */
const seller = (...amounts: ReadonlyArray<number>) =>
  Effect.tap(aVendor(), (vendorId) => Effect.forEach(amounts, (amount) => sold(vendorId, { amount })))
const hold = (subOrderId: string, isHeld: boolean) =>
  onDatabase((sql) => sql`update marketplace_vendor_sub_orders set on_hold = ${isHeld} where id = ${subOrderId}::uuid`)

market({ payoutAdapter: bank.adapter }, withoutWorker)("a payout run", (test) => {
  test("pays a vendor what is due, says of what, and announces it once the money has arrived", function*() {
    const vendorId = yield* seller(10_000, 5_555)
    const answer = yield* done(asAdmin, "POST /payouts/run", { vendorIds: [vendorId] })
    const payout = yield* payoutOf(vendorId)
    const net = 15_555 - 1_000 - 556
    assert.deepStrictEqual(answer.at("data"), [{ vendorId, payoutId: payout.id, netAmount: net, currency: "USD" }])
    assert.deepInclude(payout, {
      status: "completed",
      amount: net,
      grossAmount: 15_555,
      deductions: [{ type: "commission", amount: 1_556 }],
      netAmount: net,
      payoutMethod: "emulated",
      externalReference: `tr_${payout.id}`,
      retryCount: 0
    })
    assert.isTrue(payout.periodStart < payout.periodEnd && payout.processedAt >= payout.periodEnd)
    const [asked, key] = [{ vendorId, amount: net, currency: "USD", bankAccount: null }, payout.id]
    assert.deepStrictEqual(bank.callsOf(vendorId), [{ idempotencyKey: key, payoutId: key, ...asked }])
    assert.deepStrictEqual([yield* balanceOf(vendorId), yield* announced("payout.completed", payout.id)], [0, 1])
    assert.deepStrictEqual(yield* paying(vendorId), [])
  })

  test("pays once, of eight at the same moment", function*() {
    const vendorId = yield* seller(1_000, 2_000, 3_000)
    const made = yield* whileHeld("accounts", vendorId, times(8, paying(vendorId)))
    assert.deepStrictEqual([made.flat(), bank.paid(vendorId), yield* balanceOf(vendorId)], [["5400 USD"], 5_400, 0])
  })

  test("does not count entries that a concurrent payout takes", function*() {
    const vendorId = yield* aVendor({ payoutMinimumCents: 1_800 })
    yield* sold(vendorId)
    // The second run sees what the first is taking, and another entry that is below the minimum.
    const small = Effect.andThen(sold(vendorId, { amount: 100 }), paying(vendorId))
    assert.deepStrictEqual(yield* whileHeld("balances", vendorId, [paying(vendorId), small]), [["9000 USD"], []])
    assert.deepStrictEqual([bank.paid(vendorId), yield* balanceOf(vendorId)], [9_000, 90])
  })

  test("carries what a vendor owes: later sales pay for it first", function*() {
    const vendorId = yield* aVendor()
    const subOrder = yield* sold(vendorId)
    assert.deepStrictEqual(yield* paying(vendorId), ["9000 USD"])
    yield* givenBack(vendorId, subOrder)
    assert.deepStrictEqual([yield* balanceOf(vendorId), yield* paying(vendorId, true)], [-9_000, []])
    for (const [amount, paid] of [[9_000, []], [1_000, []], [100, ["90 USD"]]] as const) {
      yield* sold(vendorId, { amount })
      assert.deepStrictEqual(yield* paying(vendorId, true), [...paid])
    }
    assert.deepStrictEqual([yield* balanceOf(vendorId), bank.paid(vendorId)], [0, 9_090])
  })

  test("does not wait with what a vendor owes until a dispute about it is over", function*() {
    const vendorId = yield* aVendor()
    const disputed = yield* sold(vendorId)
    yield* paying(vendorId)
    yield* hold(disputed, true)
    yield* givenBack(vendorId, disputed)
    yield* sold(vendorId, { amount: 11_000 })
    assert.deepStrictEqual(yield* paying(vendorId), ["900 USD"])
  })

  test("waits for the minimum of the vendor, unless it is forced", function*() {
    const vendorId = yield* aVendor({ payoutMinimumCents: 1_801 })
    yield* sold(vendorId, { amount: 2_000 })
    assert.deepStrictEqual([yield* paying(vendorId), yield* paying(vendorId, true)], [[], ["1800 USD"]])
    yield* sold(vendorId, { amount: 2_001 })
    assert.deepStrictEqual(yield* paying(vendorId), ["1801 USD"])
  })

  test("pays each currency by itself, and leaves out what is not delivered, held back or disputed", function*() {
    const vendorId = yield* seller(800, 2_000)
    yield* sold(vendorId, { amount: 4_000, currency: "EUR" })
    yield* sold(vendorId, { amount: 100, availableDaysAgo: null })
    yield* sold(vendorId, { amount: 200, availableDaysAgo: -1 })
    const held = yield* sold(vendorId, { amount: 400, onHold: true })
    yield* postAll([adjusted(vendorId, 7)])
    assert.sameMembers([...yield* paying(vendorId)], ["2527 USD", "3600 EUR"])
    assert.strictEqual(bank.paid(vendorId, "EUR"), 3_600)
    yield* hold(held, false)
    assert.deepStrictEqual([yield* paying(vendorId), yield* balanceOf(vendorId)], [["360 USD"], 270])
  })

  test("pays all approved vendors, and no others, if the request has no body", function*() {
    const [one, two, suspended] = [yield* seller(1_000), yield* seller(1_000), yield* aVendor({ status: "suspended" })]
    yield* sold(suspended)
    assert.includeMembers([...each(yield* done(asAdmin, "POST /payouts/run"), "vendorId")], [one, two])
    assert.deepStrictEqual(yield* payoutsOf(suspended), [])
  })

  test("refuses vendors that there are not, those not approved, and bodies that make no sense", function*() {
    const vendorId = yield* seller(1_000)
    const [suspended, outsider] = [yield* aVendor({ status: "suspended" }), yield* aVendor({ within: "org_elsewhere" })]
    const unknown = [newId(), outsider].map((other) => ({ vendorIds: [vendorId, other] }))
    yield* refusedBodies(missing, asAdmin, "POST /payouts/run", unknown)
    const answer = yield* refused(invalid, asAdmin, "POST /payouts/run", { vendorIds: [vendorId, suspended] })
    assert.strictEqual(answer.at("error.message"), "vendorIds.1 must be an approved vendor: this one is suspended.")
    yield* refusedBodies(invalid, asAdmin, "POST /payouts/run", [{ vendorIds: "all" }, { force: 1 }])
    assert.deepStrictEqual(yield* payoutsOf(vendorId), [])
  })
})

market({}, withoutWorker)("what a vendor is owed", (test) => {
  test("is shown by currency, with what is pending, to members of the vendor and to operators", function*() {
    const vendorId = yield* seller(1_000)
    yield* sold(vendorId, { amount: 2_000, availableDaysAgo: -3 })
    yield* sold(vendorId, { amount: 4_000, onHold: true })
    yield* sold(vendorId, { amount: 8_000, currency: "EUR", availableDaysAgo: null })
    const read = done(asAdmin, `GET /vendors/${vendorId}/balance`)
    const answer = yield* read
    assert.strictEqual(answer.at("data.balanceCents"), 6_300)
    assert.deepStrictEqual(answer.at("data.balances"), [
      { currency: "EUR", balanceCents: 7_200, availableCents: 0, heldCents: 7_200 },
      { currency: "USD", balanceCents: 6_300, availableCents: 900, heldCents: 5_400 }
    ])
    assert.deepStrictEqual((yield* done(asVendor(vendorId), "GET /vendor/me/balance")).body, answer.body)
    yield* paying(vendorId)
    assert.deepInclude((yield* read).at("data.balances.1"), { balanceCents: 5_400, availableCents: 0 })
    yield* postAll(Array.from({ length: 60 }, (_, n) => adjusted(vendorId, n + 1)))
    const newest = (yield* read).list("data.ledger").map((one) => Object(one).amountCents)
    assert.deepStrictEqual(newest, Array.from({ length: 50 }, (_, n) => 60 - n))
  })

  test("is nothing without sales, and 404 for an unknown vendor", function*() {
    const empty = yield* done(asAdmin, `GET /vendors/${yield* aVendor()}/balance`)
    assert.deepStrictEqual(empty.at("data"), { balanceCents: 0, ledger: [], balances: [] })
    yield* refused(missing, asAdmin, `GET /vendors/${newId()}/balance`)
  })

  test("is paid by hand by default; payouts are listed by vendor and status, a vendor's own alone in the portal", function*() {
    const vendorId = yield* seller(10_000)
    yield* paying(vendorId)
    const payout = yield* payoutOf(vendorId)
    assert.deepInclude(payout, { status: "processing", payoutMethod: "manual" })
    yield* done(asAdmin, `POST /payouts/${payout.id}/complete`, { reference: "slip" })
    yield* sold(vendorId, { amount: 100 })
    yield* paying(vendorId)
    const [all, own] = [`/payouts?vendorId=${vendorId}&`, "/vendor/me/payouts?"]
    const listed = [
      [asAdmin, all, [90, 9_000]],
      [asAdmin, `${all}limit=1&page=2`, [9_000]],
      [asAdmin, `${all}status=completed`, [9_000]],
      [asAdmin, `${all}status=failed`, []],
      [asVendor(vendorId), `${own}status=processing`, [90]],
      [asVendor(yield* aVendor()), `${own}vendorId=${vendorId}`, []]
    ] as const
    for (const [as, path, amounts] of listed) {
      assert.deepStrictEqual(each(yield* done(as, `GET ${path}`), "netAmount"), [...amounts], path)
    }
    for (const query of ["status=gone", "vendorId=me"]) yield* refused(invalid, asAdmin, `GET /payouts?${query}`)
  })
})
