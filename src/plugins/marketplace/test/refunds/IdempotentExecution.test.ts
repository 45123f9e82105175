import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { api, asAdmin } from "../../../../../test/support/TestApp.ts"
import { aDispute, aReturn, aSale, refundsOf, type Sale } from "../SaleBuilder.ts"
import { withMarketplace } from "../VendorShop.ts"

/** What a process leaves that died after the change was made and before the answer was stored. */
const loseAnswers = onDatabase((sql) =>
  sql`update idempotency_keys set status = 'running', response_status = null, encrypted_response = null,
    locked_until = now() - interval '1 second' where status = 'done'`
)

const requests = {
  "a cancellation by its vendor": {
    of: { status: "confirmed" },
    request: (sale: Sale) =>
      Effect.succeed({
        as: sale.vendor,
        path: `vendor/me/orders/${sale.subOrderId}/cancel`,
        body: { reason: "Broken" }
      })
  },
  "a resolution that gives everything back": {
    of: {},
    request: (sale: Sale) =>
      Effect.map(aDispute(sale), (id) => ({
        as: asAdmin,
        path: `disputes/${id}/resolve`,
        body: { resolution: "refund_full" }
      }))
  },
  "the refund of a return": {
    of: {},
    request: (sale: Sale) =>
      Effect.map(aReturn(sale, "received"), (id) => ({ as: sale.vendor, path: `returns/${id}/refund`, body: {} }))
  }
} as const

withMarketplace()(
  "what follows from one request under an Idempotency-Key",
  (it) => {
    for (const [name, { of, request }] of Object.entries(requests)) {
      it.effect(`${name}: refund, ledger and answer are there once, and a repeat whose answer is lost is not begun`, () =>
        Effect.gen(function*() {
          const sale = yield* aSale(of)
          const { as, body, path } = yield* request(sale)
          const headers = { "idempotency-key": randomUUID() }
          const ask = api("POST", `/api/marketplace/${path}`, { as, body, headers })
          const first = yield* ask
          assert.strictEqual(first.status, 201, JSON.stringify(first.body))
          const again = yield* ask
          assert.deepStrictEqual([again.status, again.body], [201, first.body])
          yield* loseAnswers
          const recorded = yield* ask
          assert.strictEqual(recorded.status, 409)
          assert.match(recorded.text("error.message"), /may have been carried out/)
          assert.strictEqual((yield* refundsOf(sale)).length, 1)
        }))
    }
  }
)
