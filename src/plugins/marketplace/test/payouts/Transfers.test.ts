import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { eventually } from "../../../../../test/support/Eventually.ts"
import { asAdmin, inOrganization } from "../../../../../test/support/TestApp.ts"
import { balanceOf } from "../Books.ts"
import { done, each, refused } from "../Calls.ts"
import { aVendor } from "../Goods.ts"
import { market, runTask, times, withoutWorker } from "../Market.ts"
import { givenBack, sold } from "../Sales.ts"
import {
  aMinuteLater,
  type Behaviour,
  paidBy,
  payoutEmulator,
  payoutOf,
  payoutsOf,
  whileHeld
} from "./PayoutEmulator.ts"

const invalid = "422 VALIDATION_FAILED"
const bank = payoutEmulator()

const paying = (vendorId: string) => paidBy({ vendorIds: [vendorId] })
const seller = Effect.tap(aVendor(), (vendorId) => sold(vendorId))
const say = (id: string, what: "complete" | "fail" | "retry", body?: object) =>
  done(asAdmin, `POST /payouts/${id}/${what}`, body)
const cannot = (with_: string, id: string, what: "complete" | "fail" | "retry", body?: object) =>
  refused(with_, asAdmin, `POST /payouts/${id}/${what}`, body)
const settle = Effect.andThen(aMinuteLater, runTask("settle-payouts"))

/** A vendor whose only payout, of 90.00, met an adapter that behaves like this. */
const paidWith = Effect.fnUntraced(function*(behaviour: Behaviour) {
  const vendorId = yield* seller
  bank.behave(vendorId, behaviour)
  yield* paying(vendorId)
  return { vendorId, payout: yield* payoutOf(vendorId) }
})
const keysOf = (vendorId: string) => bank.callsOf(vendorId).map(({ idempotencyKey }) => idempotencyKey)

market({ payoutAdapter: bank.adapter, payoutTimeLimitMs: 1_000 }, withoutWorker)("the transfer of a payout", (test) => {
  for (const behaviour of ["throw", "reject", "lost", "silent", "garbled", "hold"] as const) {
    test(`is asked for again under the same key after "${behaviour}", and pays once`, function*() {
      const { payout, vendorId } = yield* paidWith(behaviour)
      assert.deepInclude(payout, { status: "processing", netAmount: 9_000, attempts: 1 })
      assert.deepStrictEqual([yield* balanceOf(vendorId), yield* paying(vendorId)], [0, []])
      yield* runTask("settle-payouts")
      assert.strictEqual(keysOf(vendorId).length, 1, "its next turn has not come")
      bank.behave(vendorId, "pay")
      yield* settle
      assert.deepStrictEqual(keysOf(vendorId), [payout.id, payout.id])
      assert.deepStrictEqual([(yield* payoutOf(vendorId)).status, bank.paid(vendorId)], ["completed", 9_000])
    })
  }

  test("gives the vendor back exactly what it took when it is refused, and goes out again under a new key", function*() {
    const { payout, vendorId } = yield* paidWith("refuse")
    assert.deepInclude(payout, { status: "failed", failureReason: "The account is closed." })
    assert.isString(payout.failedAt)
    assert.strictEqual(yield* balanceOf(vendorId), 9_000)
    assert.strictEqual((yield* say(payout.id, "retry")).at("data.status"), "failed")
    assert.strictEqual(yield* balanceOf(vendorId), 9_000)
    bank.behave(vendorId, "pay")
    const sent = { status: "completed", retryCount: 2, failedAt: null, failureReason: null }
    assert.deepInclude((yield* say(payout.id, "retry")).at("data"), sent)
    assert.deepStrictEqual(keysOf(vendorId), [payout.id, `${payout.id}:1`, `${payout.id}:2`])
    yield* cannot("422 INVALID_TRANSITION", payout.id, "retry")
    assert.deepStrictEqual([yield* paying(vendorId), yield* balanceOf(vendorId), bank.paid(vendorId)], [[], 0, 9_000])
  })

  test("is not sent again when a later run has paid its money, or the vendor is owed less by then", function*() {
    const { payout, vendorId } = yield* paidWith("refuse")
    bank.behave(vendorId, "pay")
    assert.deepStrictEqual(yield* paying(vendorId), ["9000 USD"])
    yield* cannot("409 CONFLICT", payout.id, "retry")
    yield* sold(vendorId)
    yield* cannot("409 CONFLICT", payout.id, "retry")
    const other = yield* aVendor()
    const subOrder = yield* sold(other)
    yield* sold(other, { amount: 5_000 })
    bank.behave(other, "refuse")
    yield* paying(other)
    yield* givenBack(other, subOrder)
    bank.behave(other, "pay")
    yield* cannot("409 CONFLICT", (yield* payoutOf(other)).id, "retry")
    assert.deepStrictEqual([yield* paying(other), bank.paid(vendorId)], [["4500 USD"], 9_000])
  })

  test("is sent again once, of four at the same moment", function*() {
    const { payout, vendorId } = yield* paidWith("refuse")
    bank.behave(vendorId, "pay")
    const outcomes = yield* whileHeld("accounts", vendorId, times(4, Effect.exit(say(payout.id, "retry"))))
    assert.strictEqual(outcomes.filter(({ _tag }) => _tag === "Success").length, 1)
    assert.strictEqual(yield* balanceOf(vendorId), 0)
    yield* eventually("the money to have left", Effect.sync(() => bank.paid(vendorId) === 9_000))
    assert.strictEqual(keysOf(vendorId).length, 2)
  })

  test("is settled by an operator where the adapter leaves it open", function*() {
    const [held, lost] = [yield* paidWith("hold"), yield* paidWith("hold")]
    assert.strictEqual(held.payout.externalReference, "tr_waiting")
    const arrived = yield* say(held.payout.id, "complete", { reference: "bank slip 7" })
    assert.deepInclude(arrived.at("data"), { status: "completed", externalReference: "bank slip 7" })
    const failed = yield* say(lost.payout.id, "fail", { reason: "It came back." })
    assert.deepInclude(failed.at("data"), { status: "failed", failureReason: "It came back." })
    assert.deepStrictEqual([yield* balanceOf(held.vendorId), yield* balanceOf(lost.vendorId)], [0, 9_000])
    yield* settle
    assert.deepStrictEqual([keysOf(held.vendorId).length, keysOf(lost.vendorId).length], [1, 1])
  })

  test("is not decided by an operator while the adapter may be working on it", function*() {
    const { payout, vendorId } = yield* paidWith("silent")
    yield* cannot("409 CONFLICT", payout.id, "complete", { reference: "slip" })
    yield* cannot("409 CONFLICT", payout.id, "fail", { reason: "I think so" })
    yield* cannot(invalid, payout.id, "complete", { reference: "" })
    yield* cannot(invalid, payout.id, "fail", {})
    yield* aMinuteLater
    yield* say(payout.id, "fail", { reason: "It never left." })
    assert.strictEqual(yield* balanceOf(vendorId), 9_000)
  })

  test("ignores the late response of an earlier attempt", function*() {
    const vendorId = yield* seller
    const answer = bank.answerLater(vendorId)
    const running = yield* Effect.forkChild(paying(vendorId))
    yield* eventually("the adapter to be asked", Effect.sync(() => bank.callsOf(vendorId).length > 0))
    const { id } = yield* payoutOf(vendorId)
    yield* aMinuteLater
    yield* say(id, "fail", { reason: "It never left." })
    bank.behave(vendorId, "hold")
    yield* say(id, "retry")
    answer()
    yield* Fiber.join(running)
    assert.deepInclude(yield* payoutOf(vendorId), { status: "processing", retryCount: 1 })
    assert.strictEqual(yield* balanceOf(vendorId), 0)
  })

  test("goes on for other vendors while one is silent, and names the vendor's bank account", function*() {
    const [silent, other] = [yield* paidWith("throw"), yield* paidWith("throw")]
    yield* done(asAdmin, `PATCH /vendors/${other.vendorId}`, { bankAccount: { iban: "DE02120300000000202051" } })
    bank.behave(silent.vendorId, "silent")
    bank.behave(other.vendorId, "pay")
    yield* settle
    assert.deepStrictEqual([bank.paid(other.vendorId), bank.paid(silent.vendorId)], [9_000, 0])
    assert.deepStrictEqual(bank.callsOf(other.vendorId).at(-1)?.bankAccount, { iban: "DE02120300000000202051" })
    assert.notInclude(JSON.stringify(yield* payoutsOf(other.vendorId)), "DE02120300000000202051")
  })

  test("is asked for in every organization by the task", function*() {
    const within = "org_second_market"
    const vendorId = yield* aVendor({ within })
    yield* sold(vendorId, { within })
    bank.behave(vendorId, "throw")
    const as = inOrganization(within, asAdmin)
    yield* done(as, "POST /payouts/run", {})
    bank.behave(vendorId, "pay")
    yield* settle
    assert.deepStrictEqual(each(yield* done(as, "GET /payouts"), "status"), ["completed"])
  })
})
