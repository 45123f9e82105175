import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { customer, openSalon, type Salon } from "./Salon.ts"

const ann = customer("ann")

describe("payments in advance", () => {
  let salon: Salon
  beforeAll(async () => {
    salon = await openSalon()
  })
  afterAll(() => salon.close())

  /** A service with a price that the catalog sells for another one. */
  const sold = async () => {
    const entityId = await salon.product({ price: 9_900 })
    const service = await salon.service({ priceCents: 4_000, entityId })
    return { entityId, service, providerId: await salon.provider(service) }
  }
  const card = (service: string, time: string, more: object = {}) =>
    salon.wish(service, time, { paymentMethod: "card", paymentMethodId: "test", ...more })
  const pay = (...wished: Parameters<typeof card>) => salon.done("POST", "/bookings", card(...wished), ann)
  const unpaid = (expected: string, ...wished: Parameters<typeof card>) =>
    salon.refused(expected, "POST", "/bookings", card(...wished), ann)
  const order = (id: string) => salon.ask("GET", `/orders/${id}`)
  const booking = async (id: string) => Object((await salon.done("GET", `/bookings/${id}`)).at("data"))

  /** Until every event so far was sent to its handlers, and handled. */
  const heard = ({ db }: Salon) =>
    waitFor("its events to be handled", async () => {
      const left = "select 1 from outbox_events where position is null union all select 1 from event_dispatches"
      return (await db.query(left)).length === 0
    })

  it("are an order of what was agreed, go with the appointment to another time, and go back when it is cancelled", async () => {
    const { providerId, service } = await sold()
    const paid = await pay(service, salon.at(2, "09:00"), { providerId })
    const orderId = paid.text("data.paymentIntent.orderId")
    const agreed = { paymentStatus: "paid", orderId, payBy: null, priceCents: 4_000 }
    assert.deepInclude(paid.at("data.booking"), agreed)
    assert.deepInclude((await order(orderId)).at("data"), { grandTotal: 4_000, amountCaptured: 4_000 })
    const move = { newStartTime: salon.at(2, "10:00") }
    const moved = await salon.done("POST", `/bookings/${paid.text("data.booking.id")}/reschedule`, move, ann)
    assert.deepInclude(moved.at("data.newBooking"), { paymentStatus: "paid", orderId })
    // What is heard of the order is about the appointment that took it.
    await salon.ask("PATCH", `/orders/${orderId}/status`, { status: "processing" })
    const cancelled = await salon.done("POST", `/bookings/${moved.text("data.newBooking.id")}/cancel`, {}, ann)
    assert.isTrue(cancelled.at("data.refunded"))
    assert.strictEqual(cancelled.at("data.booking.paymentStatus"), "refunded")
    const refunds = await salon.ask("GET", `/orders/${orderId}/refunds`)
    assert.deepStrictEqual([refunds.at("data.length"), refunds.at("data.0.amount")], [1, 4_000])
  })

  it("stay with an appointment that is moved while an event of their order is looked at", async () => {
    const { providerId, service } = await sold()
    const paid = await pay(service, salon.at(7, "09:00"), { providerId })
    const [id, orderId] = [paid.text("data.booking.id"), paid.text("data.paymentIntent.orderId")]
    await heard(salon)
    const { sql, transaction } = salon.tables
    const waiting = (count: number) =>
      Effect.repeat(
        sql`select distinct pid from pg_locks waits join pg_locks has using (pid)
          where not waits.granted and has.relation = 'appointment_bookings'::regclass`,
        { until: (rows) => rows.length === count }
      )
    const both = Effect.gen(function*() {
      yield* sql`select 1 from appointment_bookings where id = ${id}::uuid for update`
      const move = { newStartTime: salon.at(7, "10:00") }
      const moving = salon.ask("POST", `/appointments/bookings/${id}/reschedule`, move, ann)
      yield* waiting(1)
      yield* Effect.promise(() => salon.ask("PATCH", `/orders/${orderId}/status`, { status: "confirmed" }))
      yield* waiting(2)
      return { moving }
    })
    const { moving } = await salon.serviceRegistry.run(transaction(both))
    const moved = await moving
    await heard(salon)
    assert.deepInclude(await booking(moved.text("data.newBooking.id")), { paymentStatus: "paid", orderId })
    assert.deepInclude((await order(orderId)).at("data"), { status: "confirmed", amountCaptured: 4_000 })
    assert.strictEqual((await salon.ask("GET", `/orders/${orderId}/refunds`)).at("data.length"), 0)
  })

  it("that are refused, or not possible, leave no appointment", async () => {
    const { providerId, service } = await sold()
    const time = salon.at(3, "09:00")
    await unpaid("422 CHECKOUT_FAILED", service, time, { providerId, paymentMethodId: "test_decline" })
    const plain = await salon.service({ priceCents: 4_000 })
    await salon.provider(plain)
    await unpaid("422 VALIDATION_FAILED", plain, time)
    await unpaid("422 VALIDATION_FAILED", service, time, { providerId, paymentMethod: "cash" })
    const { list } = await salon.done("GET", `/bookings?providerId=${providerId}`)
    const left = list("data").map(Object).map(({ paymentStatus, status }) => `${status} ${paymentStatus}`)
    assert.deepStrictEqual(left, ["cancelled failed"])
    await pay(service, time, { providerId })
    const free = await salon.service({ entityId: await salon.product() })
    await salon.provider(free)
    await unpaid("422 VALIDATION_FAILED", free, time)
    assert.strictEqual((await salon.done("GET", `/bookings?serviceTypeId=${free}`)).at("meta.pagination.total"), 0)
    await salon.refused("422 VALIDATION_FAILED", "POST", "/services", { name: "x", slug: "x", entityId: randomUUID() })
    await salon.refused("422 VALIDATION_FAILED", "PATCH", `/services/${free}`, { entityId: randomUUID() })
  })

  it("are heard of by events of their order; what comes after the time was given up goes back", async () => {
    const { providerId, service } = await sold()
    const paid = await pay(service, salon.at(4, "09:00"), { providerId })
    const id = paid.text("data.booking.id")
    const change = async (status: string) => {
      const changed = await salon.ask("PATCH", `/orders/${paid.text("data.paymentIntent.orderId")}/status`, { status })
      assert.strictEqual(changed.status, 200, JSON.stringify(changed.body))
    }
    const text = "update appointment_bookings set status = $2, payment_status = $3, order_id = null where id = $1"
    const set = (status: string, payment: string) => salon.db.query(text, [id, status, payment])
    await set("provisional", "pending")
    await change("confirmed")
    await waitFor("the event", async () => (await booking(id)).paymentStatus === "paid")
    await set("cancelled", "failed")
    await change("processing")
    const refunds = `/orders/${paid.text("data.paymentIntent.orderId")}/refunds`
    await waitFor("the refund", async () => (await salon.ask("GET", refunds)).at("data.0.amount") === 4_000)
    assert.strictEqual((await salon.ask("GET", refunds)).at("data.length"), 1)
  })

  it("that only set money aside are released with their order, when the appointment is cancelled", async () => {
    const cautious = await openSalon({}, { payments: { capture: "manual" } })
    const entityId = await cautious.product({ price: 9_900 })
    const service = await cautious.service({ entityId, priceCents: 4_000 })
    const providerId = await cautious.provider(service)
    const means = { providerId, paymentMethod: "card", paymentMethodId: "test" }
    const wish = cautious.wish(service, cautious.at(2, "09:00"), means)
    const paid = await cautious.done("POST", "/bookings", wish, ann)
    assert.strictEqual(paid.at("data.booking.paymentStatus"), "paid")
    const path = `/orders/${paid.text("data.paymentIntent.orderId")}`
    assert.deepInclude((await cautious.ask("GET", path)).at("data"), { status: "pending", amountCaptured: null })
    const id = paid.text("data.booking.id")
    const move = { newStartTime: cautious.at(2, "10:00") }
    const moved = await cautious.done("POST", `/bookings/${id}/reschedule`, move, ann)
    await heard(cautious)
    await cautious.done("POST", `/bookings/${moved.text("data.newBooking.id")}/cancel`, {}, ann)
    const isCancelled = async () => (await cautious.ask("GET", path)).at("data.status") === "cancelled"
    await waitFor("its order to be cancelled", isCancelled)
    // And the other way round.
    const other = await cautious.done("POST", "/bookings", cautious.wish(service, cautious.at(2, "11:00"), means), ann)
    const orderPath = `/orders/${other.text("data.paymentIntent.orderId")}/status`
    assert.strictEqual((await cautious.ask("PATCH", orderPath, { status: "cancelled" })).status, 200)
    const otherId = other.text("data.booking.id")
    await waitFor("the appointment to be cancelled", async () => (await cautious.status(otherId)) === "cancelled")
    await cautious.close()
  })

  it("at the visit may have an order of staff, which stays", async () => {
    const { entityId, providerId, service } = await sold()
    const id = await salon.book(ann, service, salon.at(6, "09:00"), { providerId })
    const line = { entityId, quantity: 1, metadata: { appointmentId: id }, isCustomPrice: true, unitPrice: 4_000 }
    const made = await salon.ask("POST", "/orders", { currency: "USD", lineItems: [line] })
    const orderId = made.text("data.id")
    const changed = await salon.ask("PATCH", `/orders/${orderId}/status`, { status: "confirmed" })
    assert.strictEqual(changed.status, 200, JSON.stringify([made.body, changed.body]))
    await heard(salon)
    assert.strictEqual((await order(orderId)).at("data.status"), "confirmed")
    assert.strictEqual((await booking(id)).paymentStatus, "none")
    // So does one for what a cancellation costs.
    await salon.done("POST", `/bookings/${id}/cancel`, {}, ann)
    const fee = (await salon.ask("POST", "/orders", { currency: "USD", lineItems: [line] })).text("data.id")
    await heard(salon)
    const { status } = Object((await order(fee)).at("data"))
    assert.strictEqual(status, "pending")
  })

  it("are for one appointment while they are awaited, which is given up when they do not come", async () => {
    const { entityId, providerId, service } = await sold()
    const id = await salon.book(ann, service, salon.at(5, "09:00"), { providerId, paymentMethod: "card" })
    await salon.db.query(
      "update appointment_bookings set payment_status = 'pending', pay_by = now() + interval '30 minutes' where id = $1",
      [id]
    )
    const move = { newStartTime: salon.at(5, "10:00") }
    await salon.refused("409 CONFLICT", "POST", `/bookings/${id}/reschedule`, move, ann)
    const cart = await salon.ask("POST", "/carts", { currency: "USD" })
    const whole = { entityId, quantity: 1, metadata: { appointmentId: id } }
    const add = (line: object = {}) => salon.ask("POST", `/carts/${cart.text("data.id")}/items`, { ...whole, ...line })
    const wrong = [
      { entityId: await salon.product({ price: 90_000 }) },
      { quantity: 2 },
      { metadata: { appointmentId: randomUUID() } }
    ]
    for (const line of wrong) {
      const { at, status } = await add(line)
      assert.deepStrictEqual([status, at("error.code")], [422, "VALIDATION_FAILED"])
    }
    const added = await add()
    assert.deepStrictEqual([added.status, added.at("data.unitPriceSnapshot")], [201, 4_000], JSON.stringify(added.body))
    const goods = { entityId: await salon.product(), metadata: {} }
    assert.strictEqual((await add(goods)).status, 201)
    const mixed = await salon.ask("POST", "/checkout", {
      cartId: cart.text("data.id"),
      paymentMethodId: "test",
      currency: "USD"
    })
    assert.match(mixed.text("error.message"), /is ordered alone/, JSON.stringify(mixed.body))
    salon.clock.advance("31 minutes")
    await salon.run("unpaid")
    await waitFor("the cancellation", async () => (await booking(id)).status === "cancelled")
    assert.strictEqual((await booking(id)).paymentStatus, "failed")
    assert.strictEqual((await add()).status, 422)
  })
})
