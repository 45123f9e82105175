import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { refused } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { type Answer, api, asAdmin, asCustomer } from "../../../../../test/support/TestApp.ts"
import { asVendor } from "../MarketBuilder.ts"
import { aDispute, aSale, isOnHold, type Sale } from "../SaleBuilder.ts"
import { assertOnce, withMarketplace } from "../VendorShop.ts"

const disputes = "/api/marketplace/disputes"
const states = ["vendor_response_pending", "platform_review", "escalated", "resolved"] as const

const open = ({ buyer, subOrderId }: Sale, rest: object = {}) =>
  api("POST", disputes, { as: buyer, body: { subOrderId, reason: "item_not_received", ...rest } })
const step = (id: string, name: string, as: Sale["buyer"], body: object) =>
  api("POST", `${disputes}/${id}/${name}`, { as, body })
const state = (answer: Answer) => [answer.status, answer.at("data.status")]

withMarketplace({ vendorResponseDeadlineDays: 2 })("a dispute", (it) => {
  it.effect("opens a dispute as the actor, not as the body says, and holds the sub-order's money until it is resolved", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      const opened = yield* open(sale, { openedBy: "somebody-else", description: "d".repeat(4_000) })
      assert.deepStrictEqual(state(opened), [201, "vendor_response_pending"])
      assert.strictEqual(opened.at("data.openedBy"), sale.buyer.userId)
      const days = (Date.parse(opened.text("data.deadlineAt")) - Date.now()) / 86_400_000
      assert.isTrue(days > 1.99 && days <= 2.01)
      assert.isTrue(yield* isOnHold(sale))
      yield* step(opened.text("data.id"), "resolve", asAdmin, { resolution: "replacement", notes: "A new one." })
      assert.isFalse(yield* isOnHold(sale))
    }))

  it.effect("a dispute is the only open one of its sub-order, also of eight at once, and may be followed by another one", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      const first = yield* assertOnce(open(sale), 409)
      yield* step(first?.text("data.id") ?? "", "resolve", asAdmin, { resolution: "vendor_favor" })
      assert.strictEqual((yield* open(sale)).status, 201)
    }))

  it.effect("a dispute goes to the operators with the vendor's answer, and keeps what everybody says", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      const id = (yield* open(sale)).text("data.id")
      const more = yield* step(id, "respond", sale.buyer, { note: "Look!", url: "https://example.com/photo.jpg" })
      assert.deepStrictEqual(state(more), [201, "vendor_response_pending"])
      const asked = yield* step(id, "respond", asAdmin, { note: "We wait for the vendor." })
      assert.deepStrictEqual(state(asked), [201, "vendor_response_pending"])
      const answered = yield* step(id, "respond", sale.vendor, { party: "platform", note: "It was sent." })
      assert.deepStrictEqual(state(answered), [201, "platform_review"])
      yield* step(id, "respond", sale.vendor, { note: "Here is the slip." })
      const kept = yield* api("GET", `${disputes}/${id}`, { as: sale.buyer })
      assert.strictEqual(kept.at("data.status"), "platform_review")
      assert.deepStrictEqual(
        kept.list("data.evidence").map((one) => Reflect.get(Object(one), "party")),
        ["buyer", "platform", "vendor", "vendor"]
      )
      assert.deepInclude(kept.at("data.evidence.0"), {
        type: "response",
        note: "Look!",
        url: "https://example.com/photo.jpg"
      })
    }))

  it.effect("a dispute keeps all of eight concurrent responses", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      const id = yield* aDispute(sale)
      yield* Effect.all(
        Array.from({ length: 8 }, (_, n) => step(id, "respond", n % 2 ? sale.buyer : sale.vendor, { note: `${n}` })),
        { concurrency: 8 }
      )
      const kept = yield* api("GET", `${disputes}/${id}`, { as: sale.buyer })
      assert.strictEqual(kept.list("data.evidence").length, 8)
    }))

  it.effect("a dispute takes answers of its vendor until it is resolved", () =>
    Effect.gen(function*() {
      const found = yield* Effect.forEach(states, (from) =>
        Effect.gen(function*() {
          const sale = yield* aSale()
          const answer = yield* step(yield* aDispute(sale, from), "respond", sale.vendor, { note: "So." })
          return [answer.status, answer.at("data.status") ?? answer.at("error.code")]
        }))
      assert.deepStrictEqual(found, [
        [201, "platform_review"],
        [201, "platform_review"],
        [201, "escalated"],
        [422, "INVALID_TRANSITION"]
      ])
    }))

  it.effect("a dispute is listed for those whom it is about, by state and sub-order", () =>
    Effect.gen(function*() {
      const [one, other] = yield* Effect.all([aSale(), aSale()])
      const bought = yield* aSale({ userId: String(one.buyer.userId), vendorId: other.vendorId })
      yield* aDispute(one, "escalated")
      yield* aDispute(other)
      yield* aDispute(bought)
      const totals = yield* Effect.forEach(
        [
          [one.buyer, ""],
          [one.buyer, "?status=escalated"],
          [one.buyer, `?subOrderId=${other.subOrderId}`],
          [other.vendor, ""],
          [{ ...asVendor(other.vendorId), userId: one.buyer.userId ?? null }, ""],
          [asCustomer("another-customer"), ""],
          [{ ...asCustomer("x"), vendorId: "not-an-id" }, ""],
          [asAdmin, `?subOrderId=${other.subOrderId}`],
          [{ ...asCustomer("reader"), permissions: ["marketplace:read"] }, `?subOrderId=${one.subOrderId}`]
        ] as const,
        ([as, query]) =>
          Effect.map(api("GET", `${disputes}${query}`, { as }), (list) => list.at("meta.pagination.total"))
      )
      assert.deepStrictEqual(totals, [2, 1, 0, 2, 3, 0, 0, 1, 1])
      assert.strictEqual((yield* api("GET", `${disputes}?page=1&limit=2`, { as: asAdmin })).list("data").length, 2)
      const page = yield* api("GET", `${disputes}?limit=1`, { as: one.buyer })
      assert.deepStrictEqual([page.list("data").length, page.at("data.0.subOrderId")], [1, bought.subOrderId])
      assert.strictEqual((yield* api("GET", `${disputes}?status=lost`, { as: asAdmin })).status, 422)
    }))

  it.effect("lets an actor with marketplace:read read a dispute but not respond to it", () =>
    Effect.gen(function*() {
      const id = yield* aDispute(yield* aSale())
      const reader = { ...asCustomer("reader"), permissions: ["marketplace:read"] }
      assert.strictEqual((yield* api("GET", `${disputes}/${id}`, { as: reader })).status, 200)
      refused(yield* step(id, "respond", reader, { note: "I think" }), 403, "FORBIDDEN")
    }))

  it.effect("refuses bodies that say nothing, and addresses that are no links", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      const id = yield* aDispute(sale)
      for (const body of [{}, { note: "" }, { note: "x".repeat(5_001) }, { note: "x", url: "javascript:alert(1)" }]) {
        refused(yield* step(id, "respond", sale.buyer, body), 422, "VALIDATION_FAILED")
      }
      refused(yield* open(sale, { reason: "mood" }), 422, "VALIDATION_FAILED")
      refused(yield* step(id, "resolve", asAdmin, { resolution: "closed" }), 422, "VALIDATION_FAILED")
    }))
})
