import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { onDatabase, refused } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { eventually } from "../../../../../test/support/Eventually.ts"
import { api, asAdmin, asAnonymous } from "../../../../../test/support/TestApp.ts"
import { newId } from "../../../../domain/ids/Id.ts"
import { announced, withMarketplace, withoutWorker } from "../VendorShop.ts"
import { accountsOf, entriesOf, heldWhileAllWait } from "./HeldRows.ts"
import { payoutEmulator } from "./PayoutEmulator.ts"
import {
  account,
  aMinuteLater,
  aVendor,
  balance,
  paidBy,
  payoutOf,
  payoutsOf,
  post,
  refunded,
  run,
  sold
} from "./PayoutFixtures.ts"

const bank = payoutEmulator()

const withMarket = withMarketplace({ payoutAdapter: bank.adapter }, withoutWorker)

withMarket("a payout run", (it) => {
  it.effect("pays a vendor what is due, says of what, and tells it once the money has arrived", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor()
      yield* sold(vendorId)
      yield* sold(vendorId, { amount: 5_555 })
      const answer = yield* run({ vendorIds: [vendorId] })
      assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
      const payout = yield* payoutOf(vendorId)
      const net = 15_555 - 1_000 - 556
      assert.deepStrictEqual(answer.at("data"), [{ vendorId, payoutId: payout.id, netAmount: net, currency: "USD" }])
      assert.deepInclude(payout, {
        status: "completed",
        amount: net,
        grossAmount: 15_555,
        deductions: [{ type: "commission", amount: 1_556 }],
        netAmount: net,
        currency: "USD",
        payoutMethod: "emulated",
        externalReference: `tr_${payout.id}`,
        retryCount: 0
      })
      assert.isTrue(payout.periodStart < payout.periodEnd && payout.processedAt >= payout.periodEnd)
      assert.deepStrictEqual(bank.calls().filter((call) => call.vendorId === vendorId).map((call) => ({ ...call })), [
        { idempotencyKey: payout.id, payoutId: payout.id, vendorId, amount: net, currency: "USD", bankAccount: null }
      ])
      assert.deepInclude(yield* account(vendorId), { balance: 0, exact: true })
      assert.strictEqual(yield* announced("payout.completed", payout.id), 1)
      assert.deepStrictEqual(yield* paidBy({ vendorIds: [vendorId] }), [])
    }))

  it.effect("pays once, of eight at the same moment", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor()
      for (const amount of [1_000, 2_000, 3_000]) yield* sold(vendorId, { amount })
      const answers = yield* heldWhileAllWait(
        accountsOf(vendorId),
        Array.from({ length: 8 }, () => run({ vendorIds: [vendorId] }))
      )
      assert.deepStrictEqual(answers.map(({ status }) => status), Array.from({ length: 8 }, () => 201))
      assert.deepStrictEqual(answers.flatMap((answer) => answer.list("data")).length, 1)
      assert.deepStrictEqual([bank.paid(vendorId), (yield* payoutsOf(vendorId)).length], [5_400, 1])
      assert.deepInclude(yield* account(vendorId), { balance: 0, exact: true })
    }))

  it.effect("a payout run does not count entries that a concurrent payout takes", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor({ payoutMinimumCents: 1_800 })
      yield* sold(vendorId)
      const all = run({ vendorIds: [vendorId] })
      // The second run sees what the first is taking, and another entry that is below the minimum.
      const small = Effect.andThen(sold(vendorId, { amount: 100 }), all)
      const [first, second] = yield* heldWhileAllWait(entriesOf(vendorId), [all, small])
      assert.deepStrictEqual([first?.list("data").length, second?.list("data")], [1, []])
      assert.deepStrictEqual([bank.paid(vendorId), yield* balance(vendorId)], [9_000, 90])
    }))

  it.effect("a payout run carries what a vendor owes: later sales pay for it first", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor()
      const subOrder = yield* sold(vendorId)
      assert.deepStrictEqual(yield* paidBy({ vendorIds: [vendorId] }), ["9000 USD"])
      yield* refunded(vendorId, subOrder)
      assert.strictEqual(yield* balance(vendorId), -9_000)
      assert.deepStrictEqual(yield* paidBy({ vendorIds: [vendorId], force: true }), [])
      yield* sold(vendorId, { amount: 9_000 })
      assert.deepStrictEqual(yield* paidBy({ vendorIds: [vendorId], force: true }), [])
      yield* sold(vendorId, { amount: 1_000 })
      yield* sold(vendorId, { amount: 100 })
      assert.deepStrictEqual(yield* paidBy({ vendorIds: [vendorId] }), ["90 USD"])
      assert.strictEqual(yield* balance(vendorId), 0)
      assert.strictEqual(bank.paid(vendorId), 9_090)
    }))

  it.effect("a payout run does not wait with what a vendor owes until a dispute about it is over", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor()
      const disputed = yield* sold(vendorId)
      yield* paidBy({ vendorIds: [vendorId] })
      yield* onDatabase((sql) =>
        sql`update marketplace_vendor_sub_orders set on_hold = true where id = ${disputed}::uuid`
      )
      yield* refunded(vendorId, disputed)
      yield* sold(vendorId, { amount: 11_000 })
      assert.deepStrictEqual(yield* paidBy({ vendorIds: [vendorId] }), ["900 USD"])
    }))

  it.effect("a payout run waits for the minimum of the vendor, unless it is forced", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor({ payoutMinimumCents: 1_801 })
      yield* sold(vendorId, { amount: 2_000 })
      assert.deepStrictEqual(yield* paidBy({ vendorIds: [vendorId] }), [])
      assert.deepStrictEqual(yield* paidBy({ vendorIds: [vendorId], force: true }), ["1800 USD"])
      yield* sold(vendorId, { amount: 2_001 })
      assert.deepStrictEqual(yield* paidBy({ vendorIds: [vendorId] }), ["1801 USD"])
    }))

  it.effect("pays each currency by itself", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor({ payoutMinimumCents: 1_000 })
      yield* sold(vendorId, { amount: 1_000 })
      yield* sold(vendorId, { amount: 2_000, currency: "EUR" })
      assert.deepStrictEqual(yield* paidBy({ vendorIds: [vendorId] }), ["1800 EUR"])
      yield* sold(vendorId, { amount: 1_000 })
      assert.deepStrictEqual(yield* paidBy({ vendorIds: [vendorId] }), ["1800 USD"])
      assert.deepStrictEqual([bank.paid(vendorId, "EUR"), bank.paid(vendorId)], [1_800, 1_800])
    }))

  it.effect("leaves out what is not delivered, still held back or disputed", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor()
      yield* sold(vendorId, { amount: 100, availableDaysAgo: null })
      yield* sold(vendorId, { amount: 200, availableDaysAgo: -1 })
      const held = yield* sold(vendorId, { amount: 400, onHold: true })
      yield* sold(vendorId, { amount: 800 })
      yield* post([{
        vendorId,
        currency: "USD",
        type: "adjustment",
        amountCents: 7,
        referenceType: "adjustment",
        referenceId: newId()
      }])
      assert.deepStrictEqual(yield* paidBy({ vendorIds: [vendorId] }), ["727 USD"])
      yield* onDatabase((sql) => sql`update marketplace_vendor_sub_orders set on_hold = false where id = ${held}::uuid`)
      assert.deepStrictEqual(yield* paidBy({ vendorIds: [vendorId] }), ["360 USD"])
      assert.strictEqual(yield* balance(vendorId), 270)
    }))

  it.effect("pays all approved vendors, and no others, if the request has no body", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* aVendor(), yield* aVendor()]
      const suspended = yield* aVendor({ status: "suspended" })
      for (const vendorId of [one, two, suspended]) yield* sold(vendorId)
      const answer = yield* api("POST", "/api/marketplace/payouts/run", { as: asAdmin })
      assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
      assert.includeMembers(answer.list("data").map((made) => Object(made).vendorId), [one, two])
      assert.deepStrictEqual(yield* payoutsOf(suspended), [])
    }))

  it.effect("refuses vendors that there are not, those not approved, and bodies that make no sense", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor()
      yield* sold(vendorId)
      const suspended = yield* aVendor({ status: "suspended" })
      const outsider = yield* aVendor({ organizationId: "org_elsewhere" })
      refused(yield* run({ vendorIds: [vendorId, newId()] }), 404, "NOT_FOUND")
      refused(yield* run({ vendorIds: [vendorId, outsider] }), 404, "NOT_FOUND")
      const recorded = yield* run({ vendorIds: [vendorId, suspended] })
      refused(recorded, 422, "VALIDATION_FAILED")
      assert.strictEqual(recorded.at("error.message"), "vendorIds.1: is suspended")
      refused(yield* run({ vendorIds: "all" }), 422, "VALIDATION_FAILED")
      refused(yield* run({ force: 1 }), 422, "VALIDATION_FAILED")
      refused(yield* run({ vendorIds: [vendorId] }, asAnonymous), 403, "FORBIDDEN")
      assert.deepStrictEqual(yield* payoutsOf(vendorId), [])
    }))

  it.effect("a payout run ignores the late response of an earlier attempt", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor()
      yield* sold(vendorId)
      const answer = bank.answerLater(vendorId)
      const running = yield* Effect.forkChild(paidBy({ vendorIds: [vendorId] }))
      yield* eventually(
        "the adapter to be asked",
        Effect.sync(() => bank.calls().some((one) => one.vendorId === vendorId))
      )
      const { id } = yield* payoutOf(vendorId)
      yield* aMinuteLater
      yield* api("POST", `/api/marketplace/payouts/${id}/fail`, { as: asAdmin, body: { reason: "It never left." } })
      bank.behave(vendorId, "hold")
      yield* api("POST", `/api/marketplace/payouts/${id}/retry`, { as: asAdmin })
      answer()
      yield* Fiber.join(running)
      assert.deepInclude(yield* payoutOf(vendorId), { status: "processing", retryCount: 1 })
      assert.strictEqual(yield* balance(vendorId), 0)
    }))
})
