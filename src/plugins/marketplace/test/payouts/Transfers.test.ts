import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase, refused } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { eventually } from "../../../../../test/support/Eventually.ts"
import { api, asAdmin, inOrganization } from "../../../../../test/support/TestApp.ts"
import { runTask } from "../TaskRun.ts"
import { withMarketplace, withoutWorker } from "../VendorShop.ts"
import { accountsOf, heldWhileAllWait } from "./HeldRows.ts"
import { type Behaviour, payoutEmulator } from "./PayoutEmulator.ts"
import {
  account,
  aMinuteLater,
  aVendor,
  balance,
  paidBy,
  payoutOf,
  payoutsOf,
  refunded,
  sold
} from "./PayoutFixtures.ts"

const bank = payoutEmulator()

const withMarket = withMarketplace({ payoutAdapter: bank.adapter, payoutTimeLimitMs: 1_000 }, withoutWorker)

const say = (id: string, what: "complete" | "fail" | "retry", body?: object) =>
  api("POST", `/api/marketplace/payouts/${id}/${what}`, { as: asAdmin, ...(body === undefined ? {} : { body }) })

const settle = Effect.andThen(aMinuteLater, runTask("marketplace/settle-payouts"))

/** A vendor whose only payout met an adapter that behaves like this. */
const paidWith = Effect.fnUntraced(function*(behaviour: Behaviour) {
  const vendorId = yield* aVendor()
  yield* sold(vendorId)
  bank.behave(vendorId, behaviour)
  yield* paidBy({ vendorIds: [vendorId] })
  return { vendorId, payout: yield* payoutOf(vendorId) }
})

const keysOf = (vendorId: string) =>
  bank.calls().filter((call) => call.vendorId === vendorId).map(({ idempotencyKey }) => idempotencyKey)

withMarket("the transfer of a payout", (it) => {
  for (const behaviour of ["throw", "reject", "lost", "silent", "garbled", "hold"] as const) {
    it.effect(`is asked for again under the same key after "${behaviour}", and pays once`, () =>
      Effect.gen(function*() {
        const { payout, vendorId } = yield* paidWith(behaviour)
        assert.deepInclude(payout, { status: "processing", netAmount: 9_000, attempts: 1 })
        assert.strictEqual(yield* balance(vendorId), 0)
        assert.deepStrictEqual(yield* paidBy({ vendorIds: [vendorId] }), [])
        yield* runTask("marketplace/settle-payouts")
        assert.strictEqual(keysOf(vendorId).length, 1, "its next turn has not come")
        bank.behave(vendorId, "pay")
        yield* settle
        assert.deepStrictEqual(keysOf(vendorId), [payout.id, payout.id])
        assert.strictEqual((yield* payoutOf(vendorId)).status, "completed")
        assert.strictEqual(bank.paid(vendorId), 9_000)
      }))
  }

  it.effect("gives the vendor back exactly what it took when it is refused, and goes out again under a new key", () =>
    Effect.gen(function*() {
      const { payout, vendorId } = yield* paidWith("refuse")
      assert.deepInclude(payout, { status: "failed", failureReason: "The account is closed." })
      assert.isString(payout.failedAt)
      assert.deepInclude(yield* account(vendorId), { balance: 9_000, exact: true })
      const refusedAgain = yield* say(payout.id, "retry")
      assert.deepStrictEqual([refusedAgain.status, refusedAgain.at("data.status")], [201, "failed"])
      assert.deepInclude(yield* account(vendorId), { balance: 9_000, exact: true })
      bank.behave(vendorId, "pay")
      const answer = yield* say(payout.id, "retry")
      assert.deepStrictEqual([answer.status, answer.at("data.status"), answer.at("data.retryCount")], [
        201,
        "completed",
        2
      ])
      assert.deepStrictEqual([answer.at("data.failedAt"), answer.at("data.failureReason")], [null, null])
      assert.deepStrictEqual(keysOf(vendorId), [payout.id, `${payout.id}:1`, `${payout.id}:2`])
      assert.deepInclude(yield* account(vendorId), { balance: 0, exact: true })
      refused(yield* say(payout.id, "retry"), 422, "INVALID_TRANSITION")
      assert.deepStrictEqual(yield* paidBy({ vendorIds: [vendorId] }), [])
      assert.strictEqual(bank.paid(vendorId), 9_000)
    }))

  it.effect("the transfer of a payout is not sent again when a later run has paid its money", () =>
    Effect.gen(function*() {
      const { payout, vendorId } = yield* paidWith("refuse")
      bank.behave(vendorId, "pay")
      assert.deepStrictEqual(yield* paidBy({ vendorIds: [vendorId] }), ["9000 USD"])
      refused(yield* say(payout.id, "retry"), 409, "CONFLICT")
      yield* sold(vendorId)
      refused(yield* say(payout.id, "retry"), 409, "CONFLICT")
      assert.strictEqual(bank.paid(vendorId), 9_000)
      assert.strictEqual(yield* balance(vendorId), 9_000)
    }))

  it.effect("the transfer of a payout is not sent again when the vendor is owed less by then", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor()
      const subOrder = yield* sold(vendorId)
      yield* sold(vendorId, { amount: 5_000 })
      bank.behave(vendorId, "refuse")
      yield* paidBy({ vendorIds: [vendorId] })
      yield* refunded(vendorId, subOrder)
      const { id } = yield* payoutOf(vendorId)
      bank.behave(vendorId, "pay")
      refused(yield* say(id, "retry"), 409, "CONFLICT")
      assert.deepStrictEqual(yield* paidBy({ vendorIds: [vendorId] }), ["4500 USD"])
    }))

  it.effect("the transfer of a payout is sent again once, of four at the same moment", () =>
    Effect.gen(function*() {
      const { payout, vendorId } = yield* paidWith("refuse")
      bank.behave(vendorId, "pay")
      const answers = yield* heldWhileAllWait(
        accountsOf(vendorId),
        Array.from({ length: 4 }, () => say(payout.id, "retry"))
      )
      assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 422, 422, 422])
      assert.deepInclude(yield* account(vendorId), { balance: 0, exact: true })
      yield* eventually("the money to have left", Effect.sync(() => bank.paid(vendorId) === 9_000))
      assert.strictEqual(keysOf(vendorId).length, 2)
    }))

  it.effect("an operator settles a payout that the adapter leaves open", () =>
    Effect.gen(function*() {
      const held = yield* paidWith("hold")
      assert.strictEqual(held.payout.externalReference, "tr_waiting")
      const answer = yield* say(held.payout.id, "complete", { reference: "bank slip 7" })
      assert.deepStrictEqual([answer.status, answer.at("data.status"), answer.at("data.externalReference")], [
        201,
        "completed",
        "bank slip 7"
      ])
      refused(yield* say(held.payout.id, "complete", { reference: "bank slip 7" }), 422, "INVALID_TRANSITION")
      refused(yield* say(held.payout.id, "fail", { reason: "It came back." }), 422, "INVALID_TRANSITION")
      assert.strictEqual(yield* balance(held.vendorId), 0)

      const lost = yield* paidWith("hold")
      const failed = yield* say(lost.payout.id, "fail", { reason: "It came back." })
      assert.deepStrictEqual([failed.status, failed.at("data.failureReason")], [201, "It came back."])
      assert.deepInclude(yield* account(lost.vendorId), { balance: 9_000, exact: true })
      yield* settle
      assert.deepStrictEqual([keysOf(held.vendorId).length, keysOf(lost.vendorId).length], [1, 1])
    }))

  it.effect("the transfer of a payout is not decided by an operator while the adapter may be working on it", () =>
    Effect.gen(function*() {
      const { payout, vendorId } = yield* paidWith("silent")
      refused(yield* say(payout.id, "complete", { reference: "" }), 422, "VALIDATION_FAILED")
      refused(yield* say(payout.id, "fail", {}), 422, "VALIDATION_FAILED")
      refused(yield* say(payout.id, "complete", { reference: "slip" }), 409, "CONFLICT")
      refused(yield* say(payout.id, "fail", { reason: "I think so" }), 409, "CONFLICT")
      yield* aMinuteLater
      assert.strictEqual((yield* say(payout.id, "fail", { reason: "It never left." })).status, 201)
      assert.strictEqual(yield* balance(vendorId), 9_000)
    }))

  it.effect("pays through an adapter that responds while another adapter is silent", () =>
    Effect.gen(function*() {
      const [silent, other] = [yield* paidWith("throw"), yield* paidWith("throw")]
      bank.behave(silent.vendorId, "silent")
      bank.behave(other.vendorId, "pay")
      yield* settle
      assert.strictEqual(bank.paid(other.vendorId), 9_000)
      assert.strictEqual((yield* payoutOf(silent.vendorId)).status, "processing")
      bank.behave(silent.vendorId, "pay")
      yield* settle
      assert.strictEqual(bank.paid(silent.vendorId), 9_000)
    }))

  it.effect("the transfer of a payout names the vendor's bank account", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor()
      yield* sold(vendorId)
      yield* onDatabase((sql) =>
        sql`insert into marketplace_vendor_secrets (organization_id, vendor_id, bank_account)
          values ('org_default', ${vendorId}::uuid, '{"iban": "DE02120300000000202051"}')`
      )
      const [made] = (yield* paidBy({ vendorIds: [vendorId] })).slice(0, 1)
      assert.strictEqual(made, "9000 USD")
      const [call] = bank.calls().filter((one) => one.vendorId === vendorId)
      assert.deepStrictEqual(call?.bankAccount, { iban: "DE02120300000000202051" })
      assert.notInclude(JSON.stringify(yield* payoutsOf(vendorId)), "DE02120300000000202051")
    }))

  it.effect("the transfer of a payout is asked for in every organization by the task", () =>
    Effect.gen(function*() {
      const organizationId = "org_second_market"
      const vendorId = yield* aVendor({ organizationId })
      yield* sold(vendorId, { organizationId })
      bank.behave(vendorId, "throw")
      const as = inOrganization(organizationId, asAdmin)
      yield* api("POST", "/api/marketplace/payouts/run", { as, body: {} })
      bank.behave(vendorId, "pay")
      yield* settle
      const listed = yield* api("GET", "/api/marketplace/payouts", { as })
      assert.deepStrictEqual(listed.list("data").map((payout) => Object(payout).status), ["completed"])
      for (const path of ["complete", "fail", "retry"]) {
        const call = { as: asAdmin, body: { reference: "mine", reason: "mine" } }
        const asked = yield* api("POST", `/api/marketplace/payouts/${listed.text("data.0.id")}/${path}`, call)
        refused(asked, 404, "NOT_FOUND")
      }
    }))
})
