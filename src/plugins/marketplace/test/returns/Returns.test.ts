import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { stockOf } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { eventually } from "../../../../../test/support/Eventually.ts"
import { asAdmin, at } from "../../../../../test/support/TestApp.ts"
import { accountOf } from "../Books.ts"
import { assertOnce, asVendor, done, refused, refusedBodies, send } from "../Calls.ts"
import { aDelivery, anOrderOf, aProductOf, aVendor, subOrderOf } from "../Goods.ts"
import { market, withoutWorker } from "../Market.ts"
import { amountsOf, aReturn, aSale, refundsOf, type Sale } from "../Sales.ts"

const invalid = "422 VALIDATION_FAILED"

const asking = ({ subOrderId }: Sale, lineItems?: ReadonlyArray<object>) => ({
  subOrderId,
  reason: "defective",
  ...lineItems && { lineItems }
})
const ask = (sale: Sale, lineItems?: ReadonlyArray<object>) =>
  done(sale.buyer, "POST /returns", asking(sale, lineItems))

/** Every step of a return: by whom, and how it is asked for. */
const steps = {
  approve: ["vendor", "/vendor/me/returns/:id/approve", {}],
  reject: ["vendor", "/vendor/me/returns/:id/reject", { notes: "It was worn." }],
  shipBack: ["buyer", "/returns/:id/ship-back", { trackingNumber: "1Z 999" }],
  receive: ["vendor", "/returns/:id/receive", {}],
  refund: ["vendor", "/returns/:id/refund", {}]
} as const
const stepOf = (name: keyof typeof steps, id: string) => `POST ${steps[name][1].replace(":id", id)}`
const step = (name: keyof typeof steps, id: string, sale: Sale, body: object = steps[name][2]) =>
  done(sale[steps[name][0]], stepOf(name, id), body)

const coreOf = (sale: Sale) => done(asAdmin, `GET /api/orders/${sale.orderId}/returns`)
const numberOf = (sale: Sale) => Effect.map(coreOf(sale), (all) => all.text("data.0.number"))

const unitOf = ({ lines: [line] }: Sale) => ({ lineItemId: line?.id, quantity: 1 })

/** A return of so many units that its buyer has shipped. */
const shippedBack = Effect.fnUntraced(function*(sale: Sale, quantity = 1, refundAmountCents?: number) {
  const id = (yield* ask(sale, [{ entityId: sale.lines[0]?.entityId, quantity }])).text("data.id")
  yield* step("approve", id, sale, { refundAmountCents })
  yield* step("shipBack", id, sale)
  return { id }
})

/** A return of one unit of each line that has come back, after its vendor offered so much. */
const cameBack = Effect.fnUntraced(function*(sale: Sale, refundAmountCents?: number) {
  const id = yield* aReturn(sale)
  yield* step("approve", id, sale, { refundAmountCents })
  yield* step("shipBack", id, sale)
  yield* step("receive", id, sale)
  return yield* step("refund", id, sale)
})

market({ vendorReturnResponseDays: 4, returnWindowDays: 10 })("a return", (test) => {
  test("goes its way from the request to the money, and the goods into stock", function*() {
    const sale = yield* aDelivery(2)
    const onHand = stockOf(sale.lines[0]?.entityId ?? "")
    const lineItems = [{ entityId: sale.lines[0]?.entityId, quantity: 1, reason: "A crack." }]
    const before = Date.now()
    const asked = yield* done(sale.buyer, "POST /returns", { ...asking(sale, lineItems), customerId: sale.vendorId })
    assert.deepInclude(asked.at("data"), { status: "requested", customerId: sale.customerId, lineItems })
    assert.strictEqual(Math.floor((Date.parse(asked.text("data.deadlineAt")) - before) / 86_400_000), 4)
    const id = asked.text("data.id")
    assert.strictEqual((yield* step("approve", id, sale)).at("data.status"), "vendor_approved")
    const shipped = { status: "shipped_back", trackingNumber: "1Z 999" }
    assert.deepInclude((yield* step("shipBack", id, sale)).at("data"), shipped)
    assert.deepStrictEqual(yield* onHand, { onHand: 98, reserved: 0 })
    assert.strictEqual((yield* step("receive", id, sale)).at("data.status"), "received")
    assert.deepStrictEqual(yield* onHand, { onHand: 99, reserved: 0 })
    const refunded = yield* step("refund", id, sale)
    const [refund] = yield* refundsOf(sale)
    const end = { status: "refunded", refundAmountCents: 1_000, refundId: refund?.id }
    assert.deepInclude(refunded.at("data"), end)
    assert.deepStrictEqual(yield* amountsOf(sale), [1_000])
    assert.deepStrictEqual(yield* onHand, { onHand: 99, reserved: 0 })
    const record = yield* done(asAdmin, `GET /api/orders/${sale.orderId}/refunds`)
    assert.deepInclude(record.at("data.0"), { kind: "return", reason: `return ${yield* numberOf(sale)}` })
  })

  test("takes only the steps of its machine", function*() {
    const states = ["requested", "vendor_approved", "vendor_rejected", "shipped_back", "received", "refunded"] as const
    const found: Array<string> = []
    const sale = yield* aSale()
    for (const from of states) {
      for (const name of ["approve", "reject", "shipBack", "receive", "refund"] as const) {
        const id = yield* aReturn(sale, from)
        const answer = yield* send(sale[steps[name][0]], stepOf(name, id), steps[name][2])
        const code = answer.at("error.code")
        if (code !== "INVALID_TRANSITION") found.push(`${from} ${name} ${answer.at("data.status") ?? code}`)
      }
    }
    assert.deepStrictEqual(found, [
      "requested approve vendor_approved",
      "requested reject vendor_rejected",
      "vendor_approved shipBack shipped_back",
      "shipped_back receive received",
      "received refund refunded"
    ])
  })

  test("gives money back once of eight requests at once", function*() {
    const sale = yield* aSale()
    const id = yield* aReturn(sale, "received")
    yield* assertOnce(send(sale.vendor, stepOf("refund", id)))
    assert.deepStrictEqual(yield* amountsOf(sale), [1_500])
  })

  test("refunds what the vendor offered, even nothing, and never more than the goods cost", function*() {
    const sale = yield* aSale({ lines: [{ unitPrice: 1_000 }] })
    // A misspelt amount would offer all of it.
    const wrong = [{ refundAmountCents: 1_001 }, { refundAmountCents: -1 }, { refundAmount: 600 }]
    yield* refusedBodies(invalid, sale.vendor, stepOf("approve", yield* aReturn(sale)), wrong)
    assert.strictEqual((yield* cameBack(sale, 600)).at("data.refundAmountCents"), 600)
    const free = yield* aSale()
    assert.deepInclude((yield* cameBack(free, 0)).at("data"), { status: "refunded", refundId: null })
    assert.deepStrictEqual([yield* amountsOf(sale), yield* amountsOf(free)], [[600], []])
  })

  test("takes off what its vendor is owed, and leaves what others sold in the order", function*() {
    const [vendorId, other] = [yield* aVendor(), yield* aVendor()]
    const entityId = yield* aProductOf(vendorId)
    const orderId = yield* anOrderOf([[entityId, 3], [yield* aProductOf(other, { price: 700 })]])
    const subOrderId = (yield* subOrderOf(orderId, vendorId)).text("data.id")
    yield* done(asAdmin, `PATCH /sub-orders/${subOrderId}/status`, { status: "delivered" })
    const id = yield* aReturn({ ...yield* aSale({ vendorId }), subOrderId, lines: [{ entityId }] }, "received")
    assert.strictEqual((yield* done(asVendor(vendorId), stepOf("refund", id))).at("data.refundAmountCents"), 1_000)
    const balances = yield* Effect.forEach([vendorId, other], (one) => accountOf(one))
    assert.deepStrictEqual(balances.map(({ balance, exact }) => [balance, exact]), [[1_800, true], [630, true]])
  })

  test("is refused for goods that were given back otherwise meanwhile", function*() {
    const sale = yield* aSale({ lines: [{ unitPrice: 1_000 }] })
    const id = yield* aReturn(sale, "received")
    const lines = [{ lineItemId: sale.lines[0]?.id, quantity: 1 }]
    yield* done(asAdmin, `POST /api/orders/${sale.orderId}/refunds`, { lines })
    yield* refused("409 CONFLICT", sale.vendor, stepOf("refund", id))
    assert.deepStrictEqual(yield* amountsOf(sale), [1_000])
  })

  test("is listed for those whom it is about, and in the portal for its vendor", function*() {
    const one = yield* aSale()
    const own = yield* aSale({ vendorId: one.vendorId })
    const bought = yield* aSale({ userId: String(one.vendor.userId) })
    yield* aReturn(one, "received")
    yield* aReturn(own)
    const boughtId = yield* aReturn(bought)
    const totals = yield* Effect.forEach(
      [
        [one.buyer, "/returns"],
        [one.buyer, "/returns?status=requested"],
        [one.buyer, `/returns?subOrderId=${one.subOrderId}`],
        [one.vendor, "/returns"],
        [one.vendor, "/vendor/me/returns"],
        [one.vendor, "/vendor/me/returns?status=received"],
        [asAdmin, `/returns?subOrderId=${bought.subOrderId}`]
      ] as const,
      ([as, path]) => Effect.map(done(as, `GET ${path}`), ({ at }) => at("meta.pagination.total"))
    )
    assert.deepStrictEqual(totals, [1, 0, 1, 3, 2, 1, 1])
    // A member of a vendor who is the buyer decides nothing about the purchase.
    yield* refused("404 NOT_FOUND", one.vendor, stepOf("approve", boughtId), {})
  })

  test("is requested once the goods are there, and as long as the window is open", function*() {
    for (const status of ["pending", "confirmed", "shipped", "cancelled"] as const) {
      const sale = yield* aSale({ status })
      yield* refused(invalid, sale.buyer, "POST /returns", asking(sale))
    }
    const late = yield* aSale({ deliveredDaysAgo: 10.01 })
    yield* refused(invalid, late.buyer, "POST /returns", asking(late))
    yield* ask(yield* aSale({ deliveredDaysAgo: 9.99 }))
  })

  test("is requested of everything that is left, where no lines are named", function*() {
    const sale = yield* aSale({ vendorLines: 2, lines: [{ quantity: 2 }, { quantity: 3 }, { quantity: 1 }] })
    const lines = sale.lines.map(({ id }, at) => ({ lineItemId: id, quantity: 2 - at }))
    yield* done(asAdmin, `POST /api/orders/${sale.orderId}/refunds`, { lines })
    const left = [{ entityId: sale.lines[1]?.entityId, quantity: 2 }]
    assert.deepStrictEqual((yield* ask(sale)).at("data.lineItems"), left)
    yield* refused(invalid, sale.buyer, "POST /returns", asking(sale))
  })

  const askCore = (sale: Sale, quantity: number) =>
    [asAdmin, `POST /api/orders/${sale.orderId}/returns`, {
      lines: [{ lineItemId: sale.lines[0]?.id, quantity }]
    }] as const

  test("holds its units in a return of the core, which goes its way with it", function*() {
    const sale = yield* aDelivery()
    const units = (quantity: number) => [{ entityId: sale.lines[0]?.entityId, quantity }]
    yield* done(...askCore(sale, 1))
    yield* refused(invalid, sale.buyer, "POST /returns", asking(sale, units(3)))
    const rejected = (yield* ask(sale, units(2))).text("data.id")
    yield* refused(invalid, ...askCore(sale, 1))
    yield* step("reject", rejected, sale)
    const rest = yield* ask(sale)
    assert.deepStrictEqual(rest.at("data.lineItems"), units(2))
    const id = rest.text("data.id")
    const states = Effect.map(coreOf(sale), (all) => all.list("data").map((one) => at(one, "status")))
    assert.deepStrictEqual(yield* states, ["requested", "rejected", "requested"])
    yield* step("approve", id, sale, { refundAmountCents: 1_500 })
    yield* step("shipBack", id, sale)
    yield* step("receive", id, sale)
    assert.deepStrictEqual(yield* states, ["received", "rejected", "requested"])
    const refundId = (yield* step("refund", id, sale)).text("data.refundId")
    const core = yield* coreOf(sale)
    assert.deepInclude(core.at("data.0"), { status: "refunded", refundId })
    assert.deepInclude(core.at("data.0.lines.0"), { quantity: 2, receivedQuantity: 2 })
    assert.deepInclude(core.at("data.1"), { rejectionReason: "It was worn." })
    assert.deepStrictEqual(yield* amountsOf(sale), [1_500])
    yield* refused(invalid, ...askCore(sale, 1))
  })

  test("restocks its units once of eight receipts at once, and none that were given back otherwise", function*() {
    const sale = yield* aDelivery()
    const { id } = yield* shippedBack(sale, 2)
    const lines = [{ lineItemId: sale.lines[0]?.id, quantity: 2 }]
    yield* done(asAdmin, `POST /api/orders/${sale.orderId}/refunds`, { lines })
    yield* assertOnce(send(sale.vendor, stepOf("receive", id)))
    assert.deepStrictEqual(yield* stockOf(sale.lines[0]?.entityId ?? ""), { onHand: 98, reserved: 0 })
    assert.strictEqual((yield* coreOf(sale)).at("data.0.lines.0.receivedQuantity"), 1)
    assert.strictEqual((yield* step("refund", id, sale)).at("data.refundAmountCents"), 1_000)
    const late = yield* aDelivery(1)
    const { id: none } = yield* shippedBack(late)
    yield* done(asAdmin, `POST /api/orders/${late.orderId}/refunds`, { lines: [unitOf(late)] })
    yield* refused("409 CONFLICT", late.vendor, stepOf("receive", none))
    assert.deepStrictEqual(yield* stockOf(late.lines[0]?.entityId ?? ""), { onHand: 99, reserved: 0 })
  })

  test("that was agreed to be worth less, or nothing, is refunded so once it was received", function*() {
    const sale = yield* aDelivery()
    const [free, half] = [yield* shippedBack(sale, 1, 0), yield* shippedBack(sale, 1, 500)]
    for (const { id } of [free, half]) yield* step("receive", id, sale)
    const nothing = { status: "refunded", refundId: null, refundAmountCents: 0 }
    assert.deepInclude((yield* step("refund", free.id, sale)).at("data"), nothing)
    assert.strictEqual((yield* step("refund", half.id, sale)).at("data.refundAmountCents"), 500)
    assert.deepStrictEqual(yield* amountsOf(sale), [500])
    assert.deepStrictEqual((yield* coreOf(sale)).list("data").map((one) => at(one, "status")), ["refunded", "refunded"])
  })

  test("follows what staff and its buyer do with the return of the core", function*() {
    const goods = { lines: [{ entityId: yield* aProductOf(yield* aVendor()), quantity: 1 }] }
    const came = (sale: Sale) => ({ approve: {}, receive: { lines: [{ ...unitOf(sale), disposition: "scrap" }] } })
    const ends = [
      ["vendor_approved", {}, () => ({ approve: {} })],
      ["vendor_rejected", { vendorNotes: "It was worn." }, () => ({ reject: { reason: "It was worn." } })],
      ["received", {}, came],
      ["refunded", { refundAmountCents: 1_000 }, (sale: Sale) => ({ ...came(sale), refund: {} })],
      ["exchanged", { refundAmountCents: 1_000 }, (sale: Sale) => ({ ...came(sale), exchange: goods })],
      ["cancelled", { refundAmountCents: null }, () => ({})]
    ] as const
    for (const [status, shown, steps] of ends) {
      const sale = yield* aDelivery()
      const asked = yield* ask(sale, [{ entityId: sale.lines[0]?.entityId, quantity: 1 }])
      const core = `${sale.orderId}/returns/${asked.text("data.coreReturnId")}`
      for (const [verb, body] of Object.entries(steps(sale))) {
        yield* done(asAdmin, `POST /api/orders/${core}/${verb}`, body)
      }
      if (status === "cancelled") yield* done(sale.buyer, `POST /api/me/orders/${core}/cancel`)
      const read = done(sale.vendor, `GET /returns/${asked.text("data.id")}`)
      const isThere = Effect.map(read, (one) => one.at("data.status") === status && one)
      const found = yield* eventually(`a return that is ${status}`, isThere)
      const refundId = (yield* coreOf(sale)).at("data.0.refundId")
      assert.deepInclude(found.at("data"), { ...shown, refundId })
      assert.strictEqual(found.at("data.resolvedAt") === null, status === "vendor_approved" || status === "received")
    }
  })

  test("that the core has received and refunded takes off what its vendor is owed", function*() {
    const vendorId = yield* aVendor()
    const orderId = yield* anOrderOf([[yield* aProductOf(vendorId), 3]])
    const line = (yield* done(asAdmin, `GET /api/orders/${orderId}`)).text("data.lineItems.0.id")
    const subOrderId = (yield* subOrderOf(orderId, vendorId)).text("data.id")
    yield* done(asAdmin, `PATCH /sub-orders/${subOrderId}/status`, { status: "delivered" })
    const lines = [{ lineItemId: line, quantity: 1 }]
    const id = (yield* done(asAdmin, `POST /api/orders/${orderId}/returns`, { lines })).text("data.id")
    yield* done(asAdmin, `POST /api/orders/${orderId}/returns/${id}/approve`)
    const back = { lines: [{ ...lines[0], disposition: "restock" }] }
    yield* done(asAdmin, `POST /api/orders/${orderId}/returns/${id}/receive`, back)
    yield* done(asAdmin, `POST /api/orders/${orderId}/returns/${id}/refund`, {})
    const { balance, exact } = yield* accountOf(vendorId)
    assert.deepStrictEqual([balance, exact], [1_800, true])
    assert.deepStrictEqual(yield* amountsOf({ orderId }), [1_000])
  })

  test("is requested for units of the sub-order only, once for each of them, of eight at once", function*() {
    const sale = yield* aSale({ vendorLines: 1, lines: [{ quantity: 3 }, { quantity: 1 }] })
    const units = (quantity: number) => ({ entityId: sale.lines[0]?.entityId, quantity })
    const others = (yield* aSale()).lines[0]?.entityId
    const wrong = [[{ entityId: others, quantity: 1 }], [units(4)], [units(2), units(2)], [units(0)], [units(1.5)], []]
    yield* refusedBodies(invalid, sale.buyer, "POST /returns", wrong.map((lines) => asking(sale, lines)))
    // What a return asked for that came to nothing is free again.
    yield* aReturn(sale, "vendor_rejected")
    yield* assertOnce(send(sale.buyer, "POST /returns", asking(sale, [units(2)])))
    yield* refused(invalid, sale.buyer, "POST /returns", asking(sale, [units(2)]))
    yield* ask(sale, [units(1)])
  })
})

market({}, withoutWorker)("a return whose event was not handled yet", (test) => {
  test("of goods that are not counted is received in a store without a warehouse", function*() {
    const sale = yield* aDelivery(1, { type: "service" })
    const { id } = yield* shippedBack(sale)
    assert.strictEqual((yield* step("receive", id, sale)).at("data.status"), "received")
    assert.strictEqual((yield* step("refund", id, sale)).at("data.refundAmountCents"), 1_000)
  })

  test("takes steps from where staff have brought the return of the core", function*() {
    const [sale, denied] = [yield* aDelivery(), yield* aDelivery()]
    const [asked, other] = [yield* ask(sale), yield* ask(denied)]
    const core = `POST /api/orders/${sale.orderId}/returns/${asked.text("data.coreReturnId")}`
    yield* done(asAdmin, `${core}/approve`)
    yield* refused("422 INVALID_TRANSITION", sale.vendor, stepOf("approve", asked.text("data.id")), {})
    yield* done(asAdmin, `${core}/receive`, { lines: [{ ...unitOf(sale), disposition: "scrap" }] })
    assert.strictEqual((yield* done(asAdmin, `GET /returns/${asked.text("data.id")}`)).at("data.status"), "requested")
    const refund = yield* step("refund", asked.text("data.id"), sale)
    assert.deepInclude(refund.at("data"), { status: "refunded", refundAmountCents: 1_000 })
    yield* done(asAdmin, `POST /api/orders/${denied.orderId}/returns/${other.text("data.coreReturnId")}/cancel`)
    yield* refused("422 INVALID_TRANSITION", denied.vendor, stepOf("approve", other.text("data.id")), {})
  })
})
