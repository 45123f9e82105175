import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { asAdmin } from "../../../../../test/support/TestApp.ts"
import { done, entriesOf, market, send, times } from "../Market.ts"
import { aDispute, amountsOf, aReturn, aSale, type Sale } from "../Sales.ts"

/** What a process leaves that died after the change was made and before the answer was stored. */
const loseAnswers = onDatabase((sql) =>
  sql`update idempotency_keys set status = 'running', response_status = null, encrypted_response = null,
    locked_until = now() - interval '1 second' where status = 'done'`
)

const adjustment = { amountCents: 300, currency: "USD", reason: "A parcel that we broke" }

const requests = {
  "a cancellation by its vendor": ({ subOrderId, vendor }: Sale) =>
    Effect.succeed([vendor, `POST /vendor/me/orders/${subOrderId}/cancel`, { reason: "Broken" }] as const),
  "a resolution that gives everything back": (sale: Sale) =>
    Effect.map(
      aDispute(sale),
      (id) => [asAdmin, `POST /disputes/${id}/resolve`, { resolution: "refund_full" }] as const
    ),
  "the refund of a return": (sale: Sale) =>
    Effect.map(aReturn(sale, "received"), (id) => [sale.vendor, `POST /returns/${id}/refund`, {}] as const),
  "an adjustment": ({ vendorId }: Sale) =>
    Effect.succeed([asAdmin, `POST /vendors/${vendorId}/adjustments`, adjustment] as const)
}

market()("one request under an Idempotency-Key", (test) => {
  for (const [name, request] of Object.entries(requests)) {
    test(`${name}: is carried out once, and a repeat whose answer is lost is not begun`, function*() {
      const sale = yield* aSale({ status: name.includes("cancellation") ? "confirmed" : "delivered" })
      const [as, route, body] = yield* request(sale)
      const headers = { "idempotency-key": randomUUID() }
      const answers = yield* Effect.all(times(8, send(as, route, body, headers)), { concurrency: 8 })
      assert.include([[201], [201, 409]].map(String), [...new Set(answers.map(({ status }) => status))].sort().join())
      const first = answers.find(({ status }) => status === 201)
      assert.deepStrictEqual((yield* done(as, route, body, headers)).body, first?.body)
      assert.isAtLeast((yield* send(as, route, { ...body, reason: "Another" }, headers)).status, 400)
      yield* loseAnswers
      const recorded = yield* send(as, route, body, headers)
      assert.strictEqual(recorded.status, 409)
      assert.match(recorded.text("error.message"), /may have been carried out/)
      const [refunds, entries] = [yield* amountsOf(sale), yield* entriesOf(sale.vendorId)]
      if (name === "an adjustment") assert.deepStrictEqual([refunds, entries], [[], [["adjustment", 300]]])
      else assert.strictEqual(refunds.length, 1)
    })
  }
})
