import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { asAdmin, asCustomer } from "../../../../../test/support/TestApp.ts"
import { assertOnce, done, refused, refusedBodies, send } from "../Calls.ts"
import { market } from "../Market.ts"
import { aReview, aSale, type Sale } from "../Sales.ts"

const [missing, invalid] = ["404 NOT_FOUND", "422 VALIDATION_FAILED"]

const route = ({ vendorId }: Pick<Sale, "vendorId">) => `POST /vendors/${vendorId}/reviews`
const write = (sale: Sale, rest: object = {}) =>
  done(sale.buyer, route(sale), { rating: 4, orderId: sale.orderId, ...rest })

market()("a review", (test) => {
  test("is written by the buyer of a delivered order only", function*() {
    const [sale, others, early] = [yield* aSale(), yield* aSale(), yield* aSale({ status: "shipped" })]
    const wrong = [0, 6, 4.5].map((rating) => ({ rating, orderId: sale.orderId }))
    yield* refusedBodies(invalid, sale.buyer, route(sale), wrong)
    yield* refused(missing, sale.buyer, route(sale), { rating: 4, orderId: others.orderId })
    yield* refused(missing, sale.buyer, route(others), { rating: 4, orderId: sale.orderId })
    yield* refused(invalid, early.buyer, route(early), { rating: 4, orderId: early.orderId })
    yield* refused(invalid, asCustomer("bought-nothing"), route(sale), { rating: 4 })
    const written = yield* write(sale, { title: "Good", body: "b".repeat(3_000), customerId: sale.vendorId })
    const { customerId, orderId } = sale
    assert.deepInclude(written.at("data"), { rating: 4, title: "Good", customerId, orderId, status: "published" })
  })

  test("is the only one of its order and vendor, also of eight at once", function*() {
    const sale = yield* aSale()
    yield* assertOnce(send(sale.buyer, route(sale), { rating: 4, orderId: sale.orderId }), 409)
  })

  test("is of the order that waits for one, where none is named", function*() {
    const first = yield* aSale()
    yield* write(yield* aSale({ vendorId: first.vendorId, userId: String(first.buyer.userId) }))
    assert.strictEqual((yield* write(first, { orderId: undefined })).at("data.orderId"), first.orderId)
    yield* refused("409 CONFLICT", first.buyer, route(first), { rating: 4 })
  })

  test("is seen by others while it is published, and by its vendor always", function*() {
    const sale = yield* aSale()
    const other = yield* aSale({ vendorId: sale.vendorId })
    const id = yield* aReview(sale, 1, "pending")
    yield* aReview(other)
    const total = (...asked: Parameters<typeof done>) =>
      Effect.map(done(...asked), ({ at }) => at("meta.pagination.total"))
    const seen = Effect.all([
      total(other.buyer, `GET /vendors/${sale.vendorId}/reviews`),
      total(sale.vendor, "GET /vendor/me/reviews")
    ])
    assert.deepStrictEqual(yield* seen, [1, 2])
    for (const [status, shown] of [["published", 2], ["flagged", 1], ["hidden", 1]] as const) {
      const path = status === "flagged" ? `/vendors/${sale.vendorId}/reviews/${id}` : `/reviews/${id}`
      assert.strictEqual((yield* done(asAdmin, `PATCH ${path}`, { status })).at("data.status"), status)
      assert.deepStrictEqual(yield* seen, [shown, 2])
    }
    assert.strictEqual(yield* total(sale.vendor, "GET /vendor/me/reviews?status=hidden"), 1)
    const elsewhere = `PATCH /vendors/${(yield* aSale()).vendorId}/reviews/${id}`
    yield* refused(missing, asAdmin, elsewhere, { status: "published" })
    yield* refused(invalid, asAdmin, `PATCH /reviews/${id}`, {})
  })

  test("is answered by its vendor, whose last answer counts", function*() {
    const sale = yield* aSale()
    const path = `POST /vendor/me/reviews/${yield* aReview(sale)}/respond`
    yield* done(sale.vendor, path, { response: "Thanks." })
    const again = yield* done(sale.vendor, path, { response: "Thank you." })
    assert.strictEqual(again.at("data.vendorResponse"), "Thank you.")
    assert.match(again.text("data.vendorRespondedAt"), /Z$/)
    yield* refused(invalid, sale.vendor, path, { response: "" })
  })
})

market({ reviewModerationEnabled: true })("with reviewModerationEnabled", (test) => {
  test("a review waits for an operator", function*() {
    const sale = yield* aSale()
    assert.strictEqual((yield* write(sale)).at("data.status"), "pending")
    assert.deepStrictEqual((yield* done(sale.buyer, `GET /vendors/${sale.vendorId}/reviews`)).list("data"), [])
  })
})

market({ requireVerifiedPurchase: false })("without requireVerifiedPurchase", (test) => {
  test("every signed-in customer reviews a vendor once, and each order once", function*() {
    const sale = yield* aSale({ status: "pending" })
    const visitor = asCustomer("only-looked")
    yield* assertOnce(send(visitor, route(sale), { rating: 4 }), 409)
    yield* refused(missing, visitor, route(sale), { rating: 4, orderId: sale.orderId })
    yield* write(sale)
    const key = { ...asAdmin, type: "api_key", userId: null, permissions: ["*:*"] } as const
    yield* refused("403 FORBIDDEN", key, route(sale), { rating: 4 })
  })
})
