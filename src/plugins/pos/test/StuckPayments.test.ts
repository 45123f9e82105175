import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { PaymentUnknown } from "stoa/plugin"
import type { PosTerminalAdapter, TerminalOutcome } from "../index.ts"
import { cashier, openTills, picked, type TillShop } from "./TillShop.ts"

/** Card terminals that say nothing but of payments in `answers`. */
const answers = new Map<string, TerminalOutcome>()
const asked = new Map<string, number>()
const silent = Effect.fail(new PaymentUnknown({ message: "No answer." }))
const silence: PosTerminalAdapter = {
  id: "silence",
  start: ({ key }) => Effect.succeed({ intentId: key }),
  status: (intentId) => {
    asked.set(intentId, (asked.get(intentId) ?? 0) + 1)
    const answer = answers.get(intentId)
    return answer === undefined ? silent : Effect.succeed(answer)
  },
  cancel: () => silent,
  refund: () => silent
}
const taken = { status: "collected", amount: 1_000, tip: 0, label: "Visa" } as const

describe("a payment that gets no answer", () => {
  let shop: TillShop
  let till: Awaited<ReturnType<TillShop["till"]>>
  beforeAll(async () => {
    shop = await openTills({ terminals: [silence] }, { jobs: { autorun: { enabled: false } } })
    till = await shop.till()
  })
  afterAll(() => shop.close())

  const stuck = async (quantity = 1) => {
    const sale = await shop.sale(till, 1_000, quantity)
    const paid = await shop.pay(sale.path, 1_000, { method: "card", provider: "silence", readerId: "r" })
    const id = paid.text("data.id")
    return { ...sale, payment: `${sale.path}/payments/${id}`, key: `pos:${id}` }
  }
  const reason = "The screen shows it"
  const end = (payment: string, outcome: string) =>
    shop.done("POST", `${payment}/end`, { outcome, reason, reference: "slip 7" })

  it("is ended as staff saw it: a sale that it was for can be voided, and the log says who ended it, and why", async () => {
    const { path, payment } = await stuck()
    await shop.refused("409 CONFLICT", "POST", `${payment}/end`, { outcome: "cancelled", reason })
    shop.app.clock.advance("61 seconds")
    await shop.refused("409 PAYMENT_PENDING", "POST", `${path}/void`, { reason: "x" })
    const ended = await end(payment, "cancelled")
    assert.deepStrictEqual(picked(ended, "status", "endedBy", "endReason", "reference", "failure", "amountDue"), [
      "cancelled",
      "test-admin-1",
      reason,
      "slip 7",
      null,
      1_000
    ])
    assert.strictEqual((await end(payment, "cancelled")).at("data.endReason"), reason)
    await shop.refused("422 INVALID_TRANSITION", "POST", `${payment}/end`, { outcome: "collected", reason })
    assert.strictEqual((await shop.done("POST", `${path}/void`, { reason: "x" })).at("data.status"), "voided")
    const logged = await shop.app.db.query(
      "select distinct actor_id from outbox_events where type like 'pos/%payments.update' and payload->>'endReason' = $1",
      [reason]
    )
    assert.deepStrictEqual(logged, [{ actor_id: "test-admin-1" }])
  })

  it("pays once: staff and the provider may both say that it was collected", async () => {
    const { key, path, payment } = await stuck(2)
    shop.app.clock.advance("61 seconds")
    const all = await Promise.all([end(payment, "collected"), end(payment, "collected")])
    answers.set(key, taken)
    assert.deepStrictEqual(all.map((one) => one.at("data.amountDue")), [1_000, 1_000])
    assert.strictEqual((await shop.done("POST", `${payment}/retry`)).at("data.status"), "collected")
    await shop.pay(path, 1_000)
    const done = await shop.complete(path)
    const order = await shop.core("GET", `/orders/${done.text("data.transaction.orderId")}`)
    assert.deepStrictEqual(picked(order, "amountCaptured", "tenders.0.method", "tenders.0.captured"), [
      2_000,
      "pos-silence",
      1_000
    ])
    await shop.refused("422 INVALID_TRANSITION", "POST", `${payment}/end`, { outcome: "cancelled", reason })
  })

  it("is what its provider says, where that answers at last", async () => {
    const { key, payment } = await stuck()
    shop.app.clock.advance("61 seconds")
    answers.set(key, { status: "failed", message: "Declined." })
    assert.deepStrictEqual(picked(await end(payment, "collected"), "status", "endedBy"), ["failed", null])
  })

  it("is ended by who may take payments back, or with their approval", async () => {
    const { payment } = await stuck()
    shop.app.clock.advance("61 seconds")
    const body = { outcome: "cancelled", reason }
    await shop.refused("403 OVERRIDE_REQUIRED", "POST", `${payment}/end`, body, cashier)
    const { operatorId, token } = await shop.override("payment")
    const ended = await shop.withToken(token, "POST", `${payment}/end`, body)
    assert.deepStrictEqual(picked(ended, "status", "endedBy"), ["cancelled", operatorId])
  })

  it("keeps no other one from its answer: 600 of them are asked about in turn, and less often each time", async () => {
    const sales = await Promise.all(Array.from({ length: 12 }, () => stuck()))
    const rows = await shop.app.db.query(
      `insert into pos_payments (id, organization_id, transaction_id, method, status, amount, label, provider,
          intent_id, reader_id, requested_by, created_at)
        select gen_random_uuid(), organization_id, transaction_id, method, status, 1, label, provider, 'many-' || n, reader_id,
          requested_by, created_at + n * interval '1 millisecond'
        from pos_payments, generate_series(1, 50) n where transaction_id = any($1::uuid[]) returning intent_id`,
      [sales.map(({ id }) => id)]
    )
    assert.lengthOf(rows, 600)
    const late = await stuck()
    answers.set(late.key, taken)
    const pass = async () => {
      asked.clear()
      shop.app.clock.advance("61 seconds")
      await shop.app.serviceRegistry.enqueue("pos/settle-payments", {})
      await shop.core("POST", "/jobs/run?limit=100")
      return [...asked.values()].reduce((sum, one) => sum + one, 0)
    }
    await pass()
    assert.isFalse(asked.has(late.key))
    await pass()
    assert.strictEqual((await shop.read(late.path)).at("data.payments.0.status"), "collected")
    const counts = [await pass(), await pass(), await pass(), await pass()]
    assert.isBelow(counts.reduce((sum, one) => sum + one, 0), 4 * 500)
  })
})
