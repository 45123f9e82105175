import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { aProduct } from "../../../../../test/support/Purchase.ts"
import { asAdmin } from "../../../../../test/support/TestApp.ts"
import { accountOf, balanceOf, entriesOf } from "../Books.ts"
import { assertOnce, asVendor, done, each, refused, send, statusOf } from "../Calls.ts"
import { anOrderOf, aProductOf, aVendor, subOrderOf } from "../Goods.ts"
import { market, times } from "../Market.ts"
import { amountsOf } from "../Sales.ts"

const refusedStep = "422 INVALID_TRANSITION"
const parcel = { trackingNumber: "T-1", carrier: "Post", trackingUrl: "https://post.example/T-1" }

/** A paid order of two units of a vendor at 10.00 and one of the store at 3.00. */
const aSale = Effect.fnUntraced(function*(spec: { readonly holdbackDays?: number; readonly quantity?: number } = {}) {
  const { quantity = 2, ...terms } = spec
  const vendorId = yield* aVendor(terms)
  const [thing, own] = [yield* aProductOf(vendorId), yield* aProduct({ price: 300 })]
  const orderId = yield* anOrderOf([[thing, quantity], [own]])
  const found = yield* subOrderOf(orderId, vendorId)
  return { vendorId, orderId, thing, id: found.text("data.id"), line: found.text("data.lineItems.0.orderLineId") }
})

type Sale = Effect.Success<ReturnType<typeof aSale>>

/** The routes of the vendor's steps, and those steps. */
const route = ({ id }: Pick<Sale, "id">, step: string) => `POST /vendor/me/orders/${id}/${step}`
const bodies: Readonly<Record<string, object>> = { ship: parcel, cancel: { reason: "Broken" } }
const step = (sale: Pick<Sale, "id" | "vendorId">, name: string, body: object | undefined = bodies[name]) =>
  send(asVendor(sale.vendorId), route(sale, name), body)
const steps = (sale: Sale, ...names: ReadonlyArray<string>) =>
  Effect.forEach(names, (name) => done(asVendor(sale.vendorId), route(sale, name), bodies[name]))
const cannot = (sale: Sale, name: string) =>
  refused(refusedStep, asVendor(sale.vendorId), route(sale, name), bodies[name])

const move = (id: string, status: string, reason?: string) =>
  done(asAdmin, `PATCH /sub-orders/${id}/status`, { status, reason })
const stateOf = ({ orderId, vendorId }: Sale) =>
  Effect.map(subOrderOf(orderId, vendorId), (one) => one.at("data.status"))
const orderState = ({ orderId }: Sale) =>
  Effect.map(done(asAdmin, `GET /api/orders/${orderId}`), (one) => one.at("data.status"))

/** Fulfillments of an order as its reader sees them: status, units of each line. */
const parcelsOf = ({ orderId }: Sale) =>
  Effect.map(
    done(asAdmin, `GET /api/orders/${orderId}/fulfillments?limit=100`),
    (list) =>
      list.list("data").map((one) => [
        Object(one).status,
        Object(one).lineItems.map((line: object) => Object(line).quantity)
      ])
  )

/** Its vendor and the store have confirmed it. */
const confirmed = (sale: Sale) =>
  Effect.andThen(
    steps(sale, "confirm"),
    done(asAdmin, `PATCH /api/orders/${sale.orderId}/status`, { status: "confirmed" })
  )

const sendByStaff = ({ orderId }: Sale, orderLineItemId: string, quantity: number) =>
  done(asAdmin, `POST /api/orders/${orderId}/fulfillments`, { lineItems: [{ orderLineItemId, quantity }] })

market()("a vendor", (test) => {
  test("takes its part of an order all the way, and its money is free days after it arrived", function*() {
    const sale = yield* aSale({ holdbackDays: 3 })
    yield* steps(sale, "confirm", "process")
    const wrong = [{}, { ...parcel, trackingUrl: "javascript:alert(1)" }]
    for (const body of wrong) {
      yield* refused("422 VALIDATION_FAILED", asVendor(sale.vendorId), route(sale, "ship"), body)
    }
    const [shipped] = yield* steps(sale, "ship")
    assert.deepInclude(shipped?.at("data"), { status: "shipped", ...parcel })
    assert.deepStrictEqual([yield* parcelsOf(sale), yield* orderState(sale)], [
      [["shipped", [2]]],
      "partially_fulfilled"
    ])
    const list = yield* done(asAdmin, `GET /api/orders/${sale.orderId}/fulfillments`)
    assert.deepInclude(list.at("data.0"), { ...parcel, id: shipped?.at("data.fulfillmentId") })
    const [delivered] = yield* steps(sale, "deliver")
    const at = (name: string) => Date.parse(delivered?.text(`data.${name}`) ?? "")
    assert.deepInclude(delivered?.at("data"), { status: "delivered", fulfillmentStatus: "fulfilled" })
    assert.isTrue(at("confirmedAt") <= at("shippedAt") && at("shippedAt") <= at("deliveredAt"))
    assert.strictEqual(at("availableAt") - at("deliveredAt"), 3 * 86_400_000)
    assert.deepStrictEqual(yield* parcelsOf(sale), [["delivered", [2]]])
  })

  test("ships without preparing and without a carrier, and announces it", function*() {
    const sale = yield* aSale()
    yield* steps(sale, "confirm")
    yield* done(asVendor(sale.vendorId), route(sale, "ship"), { trackingNumber: "T2" })
    const recorded = yield* onDatabase((sql) =>
      sql`select payload->>'trackingNumber' as tracking from outbox_events
        where type = 'suborder.shipped' and entity_id = ${sale.id}`
    )
    assert.deepStrictEqual(recorded, [{ tracking: "T2" }])
  })

  test("cannot make transitions that the state table does not allow", function*() {
    const sale = yield* aSale()
    for (
      const [now, impossible] of [
        ["confirm", ["confirm", "deliver"]],
        ["process", ["confirm", "process", "deliver"]],
        ["ship", ["confirm", "process", "ship", "cancel"]],
        ["deliver", ["confirm", "process", "ship", "deliver", "cancel"]]
      ] as const
    ) {
      if (now === "confirm") { for (const name of ["process", "ship", "deliver"]) yield* cannot(sale, name) }
      yield* steps(sale, now)
      for (const name of impossible) yield* cannot(sale, name)
    }
    assert.strictEqual(yield* balanceOf(sale.vendorId), 1800)
  })

  test("moves and ships once when eight ask at once", function*() {
    const sale = yield* aSale()
    yield* assertOnce(step(sale, "confirm"))
    yield* assertOnce(step(sale, "ship"))
    assert.deepStrictEqual(yield* parcelsOf(sale), [["shipped", [2]]])
  })

  test("cancels, and the customer gets the money of its lines back once, however many ask", function*() {
    const sale = yield* aSale()
    yield* assertOnce(step(sale, "cancel"))
    assert.deepStrictEqual([yield* amountsOf(sale), yield* parcelsOf(sale)], [[2000], []])
    const after = { status: "cancelled", cancellationReason: "Broken", commissionAmount: 0, payoutAmount: 0 }
    assert.deepInclude((yield* subOrderOf(sale.orderId, sale.vendorId)).at("data"), { ...after, refundedAmount: 2000 })
    assert.deepStrictEqual(yield* entriesOf(sale.vendorId), [
      ["sale", 2000],
      ["commission", -200],
      ["refund_deduction", -2000],
      ["commission_reversal", 200]
    ])
    yield* cannot(sale, "ship")
  })

  test("gives back no more than the order has left", function*() {
    const sale = yield* aSale()
    yield* done(asAdmin, `POST /api/orders/${sale.orderId}/refunds`, { amount: 1300 })
    yield* steps(sale, "cancel")
    assert.strictEqual((yield* done(asAdmin, `GET /api/orders/${sale.orderId}`)).at("data.refundedTotal"), 2300)
    assert.strictEqual(yield* balanceOf(sale.vendorId), 0)
  })

  test("ships what staff has not sent and customers were not refunded, and no parcel of nothing", function*() {
    const part = yield* aSale({ quantity: 5 })
    yield* confirmed(part)
    yield* sendByStaff(part, part.line, 2)
    yield* done(asAdmin, `POST /api/orders/${part.orderId}/refunds`, {
      lines: [{ lineItemId: part.line, quantity: 1 }]
    })
    yield* steps(part, "ship")
    assert.deepStrictEqual(yield* parcelsOf(part), [["shipped", [2]], ["shipped", [2]]])
    const whole = yield* aSale()
    yield* confirmed(whole)
    yield* sendByStaff(whole, whole.line, 2)
    const [shipped] = yield* steps(whole, "ship")
    assert.deepStrictEqual([shipped?.at("data.fulfillmentId"), yield* parcelsOf(whole)], [null, [["shipped", [2]]]])
  })

  test("ships parcel and sub-order both or neither, if either of them fails", function*() {
    for (const table of ["marketplace_vendor_sub_orders", "fulfillments"]) {
      const sale = yield* aSale()
      yield* steps(sale, "confirm")
      const stock = onDatabase((sql) => sql`select on_hand from stock_levels where entity_id = ${sale.thing}::uuid`)
      const before = yield* stock
      yield* onDatabase((sql) =>
        sql`create function no_writes() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`
      )
      yield* onDatabase((sql) =>
        sql`create trigger no_writes before insert or update on ${sql(table)} for each row execute function no_writes()`
      )
      assert.strictEqual(yield* statusOf(step(sale, "ship")), 500)
      yield* onDatabase((sql) => sql`drop function no_writes() cascade`)
      assert.deepStrictEqual([yield* parcelsOf(sale), yield* stateOf(sale), yield* stock], [[], "confirmed", before])
      yield* steps(sale, "ship")
    }
  })

  test("leaves the order open until its parcel is delivered, even if staff ships the rest", function*() {
    const sale = yield* aSale()
    yield* steps(sale, "confirm", "ship")
    const order = yield* done(asAdmin, `GET /api/orders/${sale.orderId}`)
    const own = order.list("data.lineItems").find((line) => Object(line).fulfillmentStatus === "unfulfilled")
    yield* sendByStaff(sale, Object(own).id, 1)
    assert.strictEqual(yield* orderState(sale), "partially_fulfilled")
    yield* refused(refusedStep, asAdmin, `PATCH /api/orders/${sale.orderId}/status`, { status: "fulfilled" })
    yield* steps(sale, "deliver")
    assert.strictEqual(yield* orderState(sale), "fulfilled")
  })

  test("ships no unpaid order, and confirms a paid one by shipping", function*() {
    const sale = yield* aSale()
    yield* steps(sale, "confirm")
    const captured = (amount: number | null) =>
      onDatabase((sql) => sql`update orders set amount_captured = ${amount} where id = ${sale.orderId}::uuid`)
    yield* captured(null)
    yield* cannot(sale, "ship")
    yield* captured(2300)
    assert.strictEqual(yield* orderState(sale), "pending")
    yield* steps(sale, "ship")
    assert.strictEqual(yield* orderState(sale), "partially_fulfilled")
  })
})

market()("staff of a marketplace", (test) => {
  test("finds sub-orders by order, vendor and status, and a vendor finds them by status", function*() {
    const [{ id, orderId, vendorId, ...sale }] = [yield* aSale(), yield* aSale()]
    yield* steps({ id, orderId, vendorId, ...sale }, "confirm")
    const questions = [
      [asAdmin, `/sub-orders?vendorId=${vendorId}`, [id]],
      [asAdmin, `/sub-orders?vendorId=${vendorId}&status=confirmed`, [id]],
      [asAdmin, `/sub-orders?orderId=${orderId}&status=pending`, []],
      [asVendor(vendorId), "/vendor/me/orders", [id]],
      [asVendor(vendorId), "/vendor/me/orders?status=shipped", []]
    ] as const
    for (const [as, path, ids] of questions) {
      assert.deepStrictEqual(each(yield* done(as, `GET ${path}`), "id"), [...ids], path)
    }
  })

  test("moves a part to any status and back with its parcel, but not out of an end", function*() {
    const sale = yield* aSale()
    assert.isString((yield* move(sale.id, "shipped")).at("data.shippedAt"))
    const back = yield* move(sale.id, "confirmed")
    assert.deepInclude(back.at("data"), { status: "confirmed", shippedAt: null, fulfillmentId: null })
    assert.deepStrictEqual(yield* parcelsOf(sale), [["cancelled", [2]]])
    yield* move(sale.id, "confirmed")
    assert.isString((yield* move(sale.id, "delivered")).at("data.availableAt"))
    for (const status of ["pending", "shipped", "cancelled"]) {
      yield* refused(refusedStep, asAdmin, `PATCH /sub-orders/${sale.id}/status`, { status })
    }
    yield* refused("422 VALIDATION_FAILED", asAdmin, `PATCH /sub-orders/${sale.id}/status`, { status: "lost" })
  })

  test("cancels a part as its vendor does, with the money", function*() {
    const sale = yield* aSale()
    const cancelled = yield* move(sale.id, "cancelled", "no more of them")
    assert.deepInclude(cancelled.at("data"), { status: "cancelled", cancellationReason: "no more of them" })
    assert.deepStrictEqual(yield* amountsOf(sale), [2000])
    yield* refused(refusedStep, asAdmin, `PATCH /sub-orders/${sale.id}/status`, { status: "confirmed" })
  })

  test("cancels an unpaid order only as a whole, and once", function*() {
    const [one, two] = [yield* aVendor(), yield* aVendor()]
    const [a, b] = [yield* aProductOf(one), yield* aProductOf(two)]
    const order = Effect.fnUntraced(function*(...entities: ReadonlyArray<string>) {
      const lineItems = entities.map((entityId) => ({ entityId, quantity: 1 }))
      const orderId = (yield* done(asAdmin, "POST /api/orders", { currency: "USD", lineItems })).text("data.id")
      return { orderId, vendorId: one, id: (yield* subOrderOf(orderId, one)).text("data.id") }
    })
    const part = yield* order(a, b)
    yield* refused("409 CONFLICT", asAdmin, `PATCH /sub-orders/${part.id}/status`, { status: "cancelled" })
    assert.strictEqual((yield* subOrderOf(part.orderId, one)).at("data.status"), "pending")
    const whole = yield* order(a)
    const answers = yield* Effect.all(times(8, step(whole, "cancel")), { concurrency: 8 })
    assert.strictEqual(answers.filter(({ status }) => status === 201).length, 1)
    assert.strictEqual((yield* done(asAdmin, `GET /api/orders/${whole.orderId}`)).at("data.status"), "cancelled")
    assert.strictEqual((yield* subOrderOf(whole.orderId, one)).at("data.cancellationReason"), "Broken")
    assert.strictEqual((yield* accountOf(one)).entries, 0)
  })
})
