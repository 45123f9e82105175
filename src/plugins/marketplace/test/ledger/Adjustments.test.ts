import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { asAdmin } from "../../../../../test/support/TestApp.ts"
import { accountOf, balanceOf } from "../Books.ts"
import { asVendor, done, each, refused, refusedBodies } from "../Calls.ts"
import { aVendor } from "../Goods.ts"
import { market } from "../Market.ts"

const adjustment = { amountCents: 300, currency: "USD", reason: "A parcel that we broke" }
const adjust = (vendorId: string, amountCents: number, more: object = {}) =>
  done(asAdmin, `POST /vendors/${vendorId}/adjustments`, { ...adjustment, amountCents, ...more })
const pay = (vendorId: string) =>
  Effect.map(done(asAdmin, "POST /payouts/run", { vendorIds: [vendorId] }), (made) => each(made, "netAmount"))

market()("an adjustment of what a vendor is owed", (test) => {
  test("is an entry of the ledger, for the vendor to see, and in the audit trail with its actor", function*() {
    const vendorId = yield* aVendor()
    const made = yield* adjust(vendorId, 700)
    assert.deepInclude(made.at("data"), { vendorId, amountCents: 700, currency: "USD" })
    yield* adjust(vendorId, -200)
    yield* adjust(vendorId, 5, { currency: "EUR" })
    assert.deepStrictEqual(yield* accountOf(vendorId), { balance: 500, entries: 2, exact: true })
    assert.deepStrictEqual(yield* accountOf(vendorId, "EUR"), { balance: 5, entries: 1, exact: true })
    const own = yield* done(asVendor(vendorId), "GET /vendor/me/balance")
    const entry = { type: "adjustment", description: adjustment.reason, referenceId: made.at("data.id") }
    assert.deepInclude(own.list("data.ledger").at(-1), entry)
    const list = yield* done(asAdmin, `GET /vendors/${vendorId}/adjustments`)
    assert.deepStrictEqual(each(list, "amountCents"), [5, -200, 700])
    const log = onDatabase((sql) =>
      sql`select actor_id from outbox_events
        where type = 'marketplace/marketplace_adjustments.create' and entity_id = ${made.text("data.id")}`
    )
    assert.deepStrictEqual(yield* log, [{ actor_id: asAdmin.userId }])
  })

  test("is part of the next payout; what is owed to the store is carried until it is paid for", function*() {
    const vendorId = yield* aVendor({ payoutMinimumCents: 100 })
    for (const [amount, paid] of [[900, [900]], [-400, []], [450, []], [100, [150]]] as const) {
      yield* adjust(vendorId, amount)
      assert.deepStrictEqual(yield* pay(vendorId), [...paid])
    }
    assert.strictEqual(yield* balanceOf(vendorId), 0)
  })

  test("is refused where it says nothing, and of unknown vendors", function*() {
    const vendorId = yield* aVendor()
    const wrong = [...[0, 1.5, 1e15, "7"].map((amountCents) => ({ amountCents })), { currency: "DOLLARS" }, {
      reason: ""
    }]
    const bodies = wrong.map((body) => ({ ...adjustment, ...body }))
    yield* refusedBodies("422 VALIDATION_FAILED", asAdmin, `POST /vendors/${vendorId}/adjustments`, bodies)
    yield* refused("404 NOT_FOUND", asAdmin, `POST /vendors/${randomUUID()}/adjustments`, adjustment)
  })
})
