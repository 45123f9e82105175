import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { refused } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { type Answer, api, asAdmin } from "../../../../../test/support/TestApp.ts"
import { aReturn, aSale, refundsOf, type Sale } from "../SaleBuilder.ts"
import { assertOnce, withMarketplace } from "../VendorShop.ts"

const returns = "/api/marketplace/returns"
const portal = "/api/marketplace/vendor/me/returns"
const states = ["requested", "vendor_approved", "vendor_rejected", "shipped_back", "received", "refunded"] as const

const ask = ({ buyer, subOrderId }: Sale, rest: object = {}) =>
  api("POST", returns, { as: buyer, body: { subOrderId, reason: "defective", ...rest } })

/** Every step by whom it is for. */
const steps = {
  approve: (id: string, sale: Sale, body: object = {}) =>
    api("POST", `${portal}/${id}/approve`, { as: sale.vendor, body }),
  reject: (id: string, sale: Sale) =>
    api("POST", `${portal}/${id}/reject`, { as: sale.vendor, body: { notes: "It was worn." } }),
  shipBack: (id: string, sale: Sale) =>
    api("POST", `${returns}/${id}/ship-back`, { as: sale.buyer, body: { trackingNumber: "1Z 999" } }),
  receive: (id: string, sale: Sale) => api("POST", `${returns}/${id}/receive`, { as: sale.vendor }),
  refund: (id: string, sale: Sale) => api("POST", `${returns}/${id}/refund`, { as: sale.vendor })
}

const recorded = (answer: Answer) => [answer.status, answer.at("data.status") ?? answer.at("error.code")]
const amounts = (sale: Sale) => Effect.map(refundsOf(sale), (all) => all.map(({ amount }) => amount))

withMarketplace({ vendorReturnResponseDays: 4 })("a return", (it) => {
  it.effect("a return goes its way from the request to the money, and the goods into stock", () =>
    Effect.gen(function*() {
      const sale = yield* aSale({ vendorLines: 1, lines: [{ unitPrice: 1_000, quantity: 2 }, { unitPrice: 500 }] })
      const [line] = sale.lines
      const lineItems = [{ entityId: line?.entityId, quantity: 1, reason: "A crack." }]
      const asked = yield* ask(sale, { lineItems, customerId: sale.vendorId })
      assert.deepStrictEqual(recorded(asked), [201, "requested"])
      assert.deepStrictEqual([asked.at("data.customerId"), asked.at("data.lineItems")], [sale.customerId, lineItems])
      const days = (Date.parse(asked.text("data.deadlineAt")) - Date.now()) / 86_400_000
      assert.isTrue(days > 3.99 && days <= 4.01)
      const id = asked.text("data.id")
      assert.deepStrictEqual(recorded(yield* steps.approve(id, sale)), [201, "vendor_approved"])
      const shipped = yield* steps.shipBack(id, sale)
      assert.deepStrictEqual([...recorded(shipped), shipped.at("data.trackingNumber")], [201, "shipped_back", "1Z 999"])
      assert.deepStrictEqual(recorded(yield* steps.receive(id, sale)), [201, "received"])
      const refunded = yield* steps.refund(id, sale)
      assert.deepStrictEqual([...recorded(refunded), refunded.at("data.refundAmountCents")], [201, "refunded", 1_000])
      const [refund, ...others] = yield* refundsOf(sale)
      assert.deepStrictEqual([refund?.id, refund?.amount, others], [refunded.at("data.refundId"), 1_000, []])
      const record = yield* api("GET", `/api/orders/${sale.orderId}/refunds`, { as: asAdmin })
      // Of this kind are refunds whose units that were handed over go back into stock.
      assert.deepInclude(record.at("data.0"), { kind: "return", reason: `return ${id}: defective` })
    }))

  it.effect("a return takes only the steps of its machine", () =>
    Effect.gen(function*() {
      const found: Array<string> = []
      for (const from of states) {
        for (const [name, step] of Object.entries(steps)) {
          const sale = yield* aSale()
          const answer = yield* step(yield* aReturn(sale, from), sale)
          if (answer.status === 201) found.push(`${from} ${name} ${answer.text("data.status")}`)
          else refused(answer, 422, "INVALID_TRANSITION", `${from} ${name}`)
        }
      }
      assert.deepStrictEqual(found, [
        "requested approve vendor_approved",
        "requested reject vendor_rejected",
        "vendor_approved shipBack shipped_back",
        "shipped_back receive received",
        "received refund refunded"
      ])
    }))

  it.effect("gives money back once of eight requests at once", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      const id = yield* aReturn(sale, "received")
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, (_, n) =>
          n % 2 ? steps.refund(id, sale) : api("POST", `${returns}/${id}/refund`, { as: asAdmin })),
        { concurrency: 8 }
      )
      assert.deepStrictEqual(
        answers.map(({ status }) =>
          status
        ).sort(),
        [201, ...Array.from({ length: 7 }, () => 422)]
      )
      assert.deepStrictEqual(yield* amounts(sale), [1_500])
    }))

  it.effect("refunds what the vendor offered, even nothing, and never more than the goods cost", () =>
    Effect.gen(function*() {
      const sale = yield* aSale({ lines: [{ unitPrice: 1_000 }] })
      const first = yield* aReturn(sale)
      refused(yield* steps.approve(first, sale, { refundAmountCents: 1_001 }), 422, "VALIDATION_FAILED")
      refused(yield* steps.approve(first, sale, { refundAmountCents: -1 }), 422, "VALIDATION_FAILED")
      yield* steps.approve(first, sale, { refundAmountCents: 600 })
      yield* steps.shipBack(first, sale)
      yield* steps.receive(first, sale)
      assert.strictEqual((yield* steps.refund(first, sale)).at("data.refundAmountCents"), 600)
      assert.deepStrictEqual(yield* amounts(sale), [600])
      const free = yield* aSale()
      const second = yield* aReturn(free)
      yield* steps.approve(second, free, { refundAmountCents: 0 })
      yield* steps.shipBack(second, free)
      yield* steps.receive(second, free)
      const end = yield* steps.refund(second, free)
      assert.deepStrictEqual([...recorded(end), end.at("data.refundId")], [201, "refunded", null])
      assert.deepStrictEqual(yield* amounts(free), [])
    }))

  it.effect("a return is refused for goods that were given back otherwise meanwhile", () =>
    Effect.gen(function*() {
      const sale = yield* aSale({ lines: [{ unitPrice: 1_000 }] })
      const id = yield* aReturn(sale, "received")
      yield* api("POST", `/api/orders/${sale.orderId}/refunds`, {
        as: asAdmin,
        body: { lines: [{ lineItemId: sale.lines[0]?.id, quantity: 1 }] }
      })
      refused(yield* steps.refund(id, sale), 409, "CONFLICT")
      assert.deepStrictEqual(yield* amounts(sale), [1_000])
    }))

  it.effect("a return is listed for those whom it is about, and in the portal for its vendor", () =>
    Effect.gen(function*() {
      const one = yield* aSale()
      const own = yield* aSale({ vendorId: one.vendorId })
      const bought = yield* aSale({ userId: String(one.vendor.userId) })
      yield* aReturn(one, "received")
      yield* aReturn(own)
      const boughtId = yield* aReturn(bought)
      const totals = yield* Effect.forEach(
        [
          [one.buyer, returns],
          [one.buyer, `${returns}?status=requested`],
          [one.buyer, `${returns}?subOrderId=${one.subOrderId}`],
          [one.vendor, returns],
          [one.vendor, portal],
          [one.vendor, `${portal}?status=received`],
          [asAdmin, `${returns}?subOrderId=${bought.subOrderId}`]
        ] as const,
        ([as, path]) => Effect.map(api("GET", path, { as }), (list) => list.at("meta.pagination.total"))
      )
      assert.deepStrictEqual(totals, [1, 0, 1, 3, 2, 1, 1])
      // A member of a vendor who is the buyer decides nothing about the purchase.
      const approved = yield* api("POST", `${portal}/${boughtId}/approve`, { as: one.vendor, body: {} })
      refused(approved, 404, "NOT_FOUND")
    }))
})

const askFor = ({ buyer, subOrderId }: Sale, lineItems?: ReadonlyArray<object>, rest: object = {}) =>
  api("POST", returns, {
    as: buyer,
    body: { subOrderId, reason: "changed_mind", ...(lineItems && { lineItems }), ...rest }
  })

withMarketplace({ returnWindowDays: 10 })("a return is asked for", (it) => {
  it.effect("a return is requested once the goods are there, and as long as the window is open", () =>
    Effect.gen(function*() {
      for (const status of ["pending", "confirmed", "shipped", "cancelled"] as const) {
        refused(yield* askFor(yield* aSale({ status })), 422, "VALIDATION_FAILED", status)
      }
      refused(yield* askFor(yield* aSale({ deliveredDaysAgo: 10.01 })), 422, "VALIDATION_FAILED")
      assert.strictEqual((yield* askFor(yield* aSale({ deliveredDaysAgo: 9.99 }))).status, 201)
    }))

  it.effect("a return is requested of everything that is left, where no lines are named", () =>
    Effect.gen(function*() {
      const sale = yield* aSale({ vendorLines: 2, lines: [{ quantity: 2 }, { quantity: 3 }, { quantity: 1 }] })
      const [one, two] = sale.lines
      yield* api("POST", `/api/orders/${sale.orderId}/refunds`, {
        as: asAdmin,
        body: { lines: [{ lineItemId: one?.id, quantity: 2 }, { lineItemId: two?.id, quantity: 1 }] }
      })
      const asked = yield* askFor(sale)
      assert.deepStrictEqual(asked.at("data.lineItems"), [{ entityId: two?.entityId, quantity: 2 }])
      refused(yield* askFor(sale), 422, "VALIDATION_FAILED")
    }))

  it.effect("a return is requested for units of the sub-order only, and no more of them than are left", () =>
    Effect.gen(function*() {
      const sale = yield* aSale({ vendorLines: 1, lines: [{ quantity: 3 }, { quantity: 1 }] })
      const [line] = sale.lines
      const entityId = line?.entityId
      const others = yield* aSale()
      for (
        const lines of [
          [{ entityId: others.lines[0]?.entityId, quantity: 1 }],
          [{ entityId, quantity: 4 }],
          [{ entityId, quantity: 2 }, { entityId, quantity: 2 }],
          [{ entityId, quantity: 0 }],
          [{ entityId, quantity: 1.5 }],
          []
        ]
      ) refused(yield* askFor(sale, lines), 422, "VALIDATION_FAILED", JSON.stringify(lines))
      assert.strictEqual((yield* askFor(sale, [{ entityId, quantity: 2 }])).status, 201)
      refused(yield* askFor(sale, [{ entityId, quantity: 2 }]), 422, "VALIDATION_FAILED")
      assert.strictEqual((yield* askFor(sale, [{ entityId, quantity: 1 }])).status, 201)
    }))

  it.effect("a return is requested for units that a return asked for that came to nothing", () =>
    Effect.gen(function*() {
      const sale = yield* aSale({ lines: [{ quantity: 1 }] })
      yield* aReturn(sale, "vendor_rejected")
      assert.strictEqual((yield* askFor(sale)).status, 201)
    }))

  it.effect("a return is requested once for the same units, of eight requests at once", () =>
    Effect.gen(function*() {
      const sale = yield* aSale({ lines: [{ quantity: 2 }] })
      const lines = [{ entityId: sale.lines[0]?.entityId, quantity: 2 }]
      yield* assertOnce(askFor(sale, lines))
    }))
})
