import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { refused } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { api, asAdmin, asCustomer } from "../../../../../test/support/TestApp.ts"
import type { MarketplaceSettings } from "../../MarketplaceOptions.ts"
import { aReview } from "../ReviewBuilder.ts"
import { aSale, type Sale } from "../SaleBuilder.ts"
import { assertOnce, withMarketplace } from "../VendorShop.ts"

const app = (options: Partial<MarketplaceSettings> = {}) => withMarketplace(options)

const of = (vendorId: string) => `/api/marketplace/vendors/${vendorId}/reviews`
const write = ({ buyer, orderId, vendorId }: Sale, rest: object = {}) =>
  api("POST", of(vendorId), { as: buyer, body: { rating: 4, orderId, ...rest } })
const unnamed = { orderId: undefined }

app()("a review", (it) => {
  it.effect("accepts a review from the buyer of a delivered order only", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      const body = { title: "Good", body: "b".repeat(3_000), customerId: sale.vendorId }
      const written = yield* write(sale, body)
      assert.strictEqual(written.status, 201)
      assert.deepInclude(written.at("data"), {
        rating: 4,
        title: "Good",
        customerId: sale.customerId,
        orderId: sale.orderId,
        status: "published",
        vendorResponse: null
      })
      const others = yield* aSale()
      refused(yield* write(sale, { orderId: others.orderId }), 404, "NOT_FOUND")
      refused(yield* write({ ...sale, vendorId: others.vendorId }), 404, "NOT_FOUND")
      refused(yield* write(yield* aSale({ status: "shipped" })), 422, "VALIDATION_FAILED")
      for (const rating of [0, 6, 4.5]) refused(yield* write(sale, { rating }), 422, "VALIDATION_FAILED")
    }))

  it.effect("a review is the only one of its order and vendor, also of eight at once", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      yield* assertOnce(write(sale), 409)
    }))

  it.effect("a review is of the order that waits for one, where none is named", () =>
    Effect.gen(function*() {
      const first = yield* aSale()
      const second = yield* aSale({ vendorId: first.vendorId, userId: String(first.buyer.userId) })
      yield* write(second)
      assert.strictEqual((yield* write(first, unnamed)).at("data.orderId"), first.orderId)
      refused(yield* write(first, unnamed), 409, "CONFLICT")
      refused(
        yield* write({ ...first, buyer: asCustomer("bought-nothing") }, unnamed),
        422,
        "VALIDATION_FAILED"
      )
    }))

  it.effect("a review is seen by others while it is published, and by its vendor always", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      const other = yield* aSale({ vendorId: sale.vendorId })
      const id = yield* aReview(sale, 1, "pending")
      yield* aReview(other)
      const seen = (query = "") =>
        Effect.all([
          Effect.map(api("GET", of(sale.vendorId), { as: other.buyer }), (list) => list.at("meta.pagination.total")),
          Effect.map(
            api("GET", `/api/marketplace/vendor/me/reviews${query}`, { as: sale.vendor }),
            (list) => list.at("meta.pagination.total")
          )
        ])
      assert.deepStrictEqual(yield* seen(), [1, 2])
      for (const [status, shown] of [["published", 2], ["flagged", 1], ["hidden", 1]] as const) {
        const path = status === "flagged" ? `${of(sale.vendorId)}/${id}` : `/api/marketplace/reviews/${id}`
        const changed = yield* api("PATCH", path, { as: asAdmin, body: { status } })
        assert.deepStrictEqual([changed.status, changed.at("data.status")], [200, status])
        assert.deepStrictEqual(yield* seen(), [shown, 2])
      }
      assert.deepStrictEqual((yield* seen("?status=hidden"))[1], 1)
      const elsewhere = yield* aSale()
      refused(
        yield* api("PATCH", `${of(elsewhere.vendorId)}/${id}`, { as: asAdmin, body: { status: "published" } }),
        404,
        "NOT_FOUND"
      )
      refused(
        yield* api("PATCH", `/api/marketplace/reviews/${id}`, { as: asAdmin, body: {} }),
        422,
        "VALIDATION_FAILED"
      )
    }))

  it.effect("a review is answered by its vendor, whose last answer counts", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      const path = `/api/marketplace/vendor/me/reviews/${yield* aReview(sale)}/respond`
      yield* api("POST", path, { as: sale.vendor, body: { response: "Thanks." } })
      const again = yield* api("POST", path, { as: sale.vendor, body: { response: "Thank you." } })
      assert.deepStrictEqual([again.status, again.at("data.vendorResponse")], [201, "Thank you."])
      assert.match(again.text("data.vendorRespondedAt"), /Z$/)
      refused(yield* api("POST", path, { as: sale.vendor, body: { response: "" } }), 422, "VALIDATION_FAILED")
    }))
})

app({ reviewModerationEnabled: true })("with reviewModerationEnabled", (it) => {
  it.effect("a review waits for an operator", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      assert.strictEqual((yield* write(sale)).at("data.status"), "pending")
      const list = yield* api("GET", of(sale.vendorId), { as: sale.buyer })
      assert.deepStrictEqual(list.list("data"), [])
    }))
})

app({ requireVerifiedPurchase: false })("without requireVerifiedPurchase", (it) => {
  it.effect("lets every signed-in customer review a vendor once, and each order once", () =>
    Effect.gen(function*() {
      const sale = yield* aSale({ status: "pending" })
      const visitor = { ...sale, buyer: asCustomer("only-looked") }
      yield* assertOnce(write(visitor, unnamed), 409)
      refused(yield* write(visitor), 404, "NOT_FOUND")
      assert.strictEqual((yield* write(sale)).status, 201)
      const key = { type: "api_key" as const, userId: null, permissions: ["*:*"], organizationId: "org_default" }
      refused(yield* write({ ...sale, buyer: { ...asAdmin, ...key } }, unnamed), 403, "FORBIDDEN")
    }))
})
