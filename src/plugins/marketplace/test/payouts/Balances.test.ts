import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { refused } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { api, asAdmin, inOrganization } from "../../../../../test/support/TestApp.ts"
import { newId } from "../../../../domain/ids/Id.ts"
import { asVendor } from "../MarketBuilder.ts"
import { withMarketplace, withoutWorker } from "../VendorShop.ts"
import { aVendor, paidBy, payoutOf, payoutsOf, post, sold } from "./PayoutFixtures.ts"

const withMarket = withMarketplace({}, withoutWorker)

const balanceOf = (vendorId: string, as: object = asAdmin) =>
  api("GET", `/api/marketplace/vendors/${vendorId}/balance`, { as })

const own = (path: string, as: object) => api("GET", `/api/marketplace/vendor/me/${path}`, { as })

withMarket("what a vendor is owed", (it) => {
  it.effect("shows the balance by currency, with what is pending, to members of the vendor and to operators", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor()
      yield* sold(vendorId, { amount: 1_000 })
      yield* sold(vendorId, { amount: 2_000, availableDaysAgo: -3 })
      yield* sold(vendorId, { amount: 4_000, onHold: true })
      yield* sold(vendorId, { amount: 8_000, currency: "EUR", availableDaysAgo: null })
      const answer = yield* balanceOf(vendorId)
      assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
      assert.strictEqual(answer.at("data.balanceCents"), 6_300)
      assert.deepStrictEqual(answer.at("data.balances"), [
        { currency: "EUR", balanceCents: 7_200, availableCents: 0, heldCents: 7_200 },
        { currency: "USD", balanceCents: 6_300, availableCents: 900, heldCents: 5_400 }
      ])
      const [newest] = answer.list("data.ledger")
      assert.deepInclude(Object(newest), { type: "commission", amountCents: -800, runningBalanceCents: 7_200 })
      assert.deepStrictEqual((yield* own("balance", asVendor(vendorId))).body, answer.body)
      yield* paidBy({ vendorIds: [vendorId] })
      const after = yield* balanceOf(vendorId)
      assert.deepStrictEqual(after.at("data.balances.1"), {
        currency: "USD",
        balanceCents: 5_400,
        availableCents: 0,
        heldCents: 5_400
      })
    }))

  it.effect("names the newest fifty entries", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor()
      const entry = (amountCents: number) => ({
        vendorId,
        currency: "USD",
        type: "adjustment" as const,
        amountCents,
        referenceType: "adjustment" as const,
        referenceId: newId()
      })
      yield* post(Array.from({ length: 60 }, (_, n) => entry(n + 1)))
      const ledger = (yield* balanceOf(vendorId)).list("data.ledger").map((one) => Object(one).amountCents)
      assert.deepStrictEqual(ledger, Array.from({ length: 50 }, (_, n) => 60 - n))
    }))

  it.effect("the balance is empty for a vendor without sales, and 404 for an unknown vendor", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor()
      assert.deepStrictEqual((yield* balanceOf(vendorId)).at("data"), { balanceCents: 0, ledger: [], balances: [] })
      refused(yield* balanceOf(newId()), 404, "NOT_FOUND")
      refused(yield* balanceOf(vendorId, inOrganization("org_other", asAdmin)), 404, "NOT_FOUND")
      refused(yield* own("balance", inOrganization("org_other", asVendor(vendorId))), 404, "NOT_FOUND")
    }))

  it.effect("lists payouts of the own vendor alone, also for a request that names another", () =>
    Effect.gen(function*() {
      const [vendorId, other] = [yield* aVendor(), yield* aVendor()]
      yield* sold(vendorId)
      yield* paidBy({ vendorIds: [vendorId] })
      const listed = (path: string, as: object) => Effect.map(own(path, as), (answer) => answer.list("data").length)
      assert.strictEqual(yield* listed("payouts", asVendor(vendorId)), 1)
      assert.strictEqual(yield* listed(`payouts?vendorId=${vendorId}`, asVendor(other)), 0)
      assert.strictEqual(yield* listed("payouts", inOrganization("org_other", asVendor(vendorId))), 0)
    }))

  it.effect("pays a vendor by hand by default, and lists payouts by vendor and status", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor()
      yield* sold(vendorId)
      yield* paidBy({ vendorIds: [vendorId] })
      const payout = yield* payoutOf(vendorId)
      assert.deepInclude(payout, { status: "processing", payoutMethod: "manual" })
      yield* api("POST", `/api/marketplace/payouts/${payout.id}/complete`, { as: asAdmin, body: { reference: "slip" } })
      yield* sold(vendorId, { amount: 100 })
      yield* paidBy({ vendorIds: [vendorId] })
      const listed = (query: string) =>
        Effect.map(
          api("GET", `/api/marketplace/payouts?vendorId=${vendorId}&${query}`, { as: asAdmin }),
          (answer) => [answer.list("data").map((one) => Object(one).netAmount), answer.at("meta.pagination.total")]
        )
      assert.deepStrictEqual(yield* listed(""), [[90, 9_000], 2])
      assert.deepStrictEqual(yield* listed("limit=1&page=2"), [[9_000], 2])
      assert.deepStrictEqual(yield* listed("status=completed"), [[9_000], 1])
      assert.deepStrictEqual(yield* listed("status=failed"), [[], 0])
      refused(yield* api("GET", "/api/marketplace/payouts?status=gone", { as: asAdmin }), 422, "VALIDATION_FAILED")
      refused(yield* api("GET", "/api/marketplace/payouts?vendorId=me", { as: asAdmin }), 422, "VALIDATION_FAILED")
      assert.strictEqual((yield* payoutsOf(vendorId)).length, 2)
      const mine = yield* own("payouts?status=processing", asVendor(vendorId))
      assert.deepStrictEqual(mine.list("data").map((one) => Object(one).netAmount), [90])
    }))
})
