import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { aProduct } from "../../../../../test/support/Purchase.ts"
import { api, asAdmin } from "../../../../../test/support/TestApp.ts"
import { anOrderOf, aProductOf, asVendor, aVendor, subOrderOf } from "../MarketBuilder.ts"
import { assertOnce, withMarketplace } from "../VendorShop.ts"

const step = (vendorId: string, id: string, name: string, body?: object, headers: Record<string, string> = {}) =>
  api("POST", `/api/marketplace/vendor/me/orders/${id}/${name}`, {
    as: asVendor(vendorId),
    headers,
    ...(body === undefined ? {} : { body })
  })

const parcel = { trackingNumber: "T-1", carrier: "Post", trackingUrl: "https://post.example/T-1" }

/** An order of some things of a vendor's, and one of the store's own; the vendor has confirmed its part. */
const aConfirmed = Effect.fnUntraced(function*(quantity = 2) {
  const vendorId = yield* aVendor()
  const [thing, own] = [yield* aProductOf(vendorId), yield* aProduct()]
  const orderId = yield* anOrderOf([[thing, quantity], [own, 1]])
  const id = (yield* subOrderOf(orderId, vendorId)).text("data.id")
  assert.strictEqual((yield* step(vendorId, id, "confirm")).status, 201)
  yield* api("PATCH", `/api/orders/${orderId}/status`, { as: asAdmin, body: { status: "confirmed" } })
  const line = (yield* subOrderOf(orderId, vendorId)).text("data.lineItems.0.orderLineId")
  return { vendorId, orderId, id, line, thing }
})

/** Fulfillments of an order as its reader sees them: status, units of each line. */
const parcelsOf = (orderId: string) =>
  Effect.map(
    api("GET", `/api/orders/${orderId}/fulfillments?limit=100`, { as: asAdmin }),
    (list) =>
      list.list("data").map((_, at) => [
        list.at(`data.${at}.status`),
        list.list(`data.${at}.lineItems`).map((__, n) => list.at(`data.${at}.lineItems.${n}.quantity`))
      ])
  )

const statusOf = (orderId: string) =>
  Effect.map(api("GET", `/api/orders/${orderId}`, { as: asAdmin }), (order) => order.at("data.status"))

const send = (orderId: string, line: string, quantity: number) =>
  api("POST", `/api/orders/${orderId}/fulfillments`, {
    as: asAdmin,
    body: { lineItems: [{ orderLineItemId: line, quantity }] }
  })

withMarketplace()(
  "the parcel of a sub-order",
  (it) => {
    it.effect("the parcel of a sub-order is a fulfillment of the customer's order, with its tracking, and arrives with the sub-order", () =>
      Effect.gen(function*() {
        const { id, orderId, vendorId } = yield* aConfirmed()
        const shipped = yield* step(vendorId, id, "ship", parcel)
        assert.strictEqual(shipped.status, 201, JSON.stringify(shipped.body))
        const list = yield* api("GET", `/api/orders/${orderId}/fulfillments`, { as: asAdmin })
        assert.deepInclude(list.at("data.0"), { ...parcel, status: "shipped", id: shipped.at("data.fulfillmentId") })
        assert.deepStrictEqual(yield* parcelsOf(orderId), [["shipped", [2]]])
        assert.strictEqual(yield* statusOf(orderId), "partially_fulfilled")
        assert.strictEqual((yield* step(vendorId, id, "deliver")).status, 201)
        assert.deepStrictEqual(yield* parcelsOf(orderId), [["delivered", [2]]])
      }))

    it.effect("the parcel of a sub-order is sent once, of eight requests at once and however often one Idempotency-Key is sent", () =>
      Effect.gen(function*() {
        const { id, orderId, vendorId } = yield* aConfirmed()
        yield* assertOnce(step(vendorId, id, "ship", parcel))
        assert.deepStrictEqual(yield* parcelsOf(orderId), [["shipped", [2]]])
        const other = yield* aConfirmed()
        const headers = { "idempotency-key": randomUUID() }
        const first = yield* step(other.vendorId, other.id, "ship", parcel, headers)
        const again = yield* step(other.vendorId, other.id, "ship", parcel, headers)
        assert.deepStrictEqual([first.status, again.status, again.body], [201, 201, first.body])
        assert.deepStrictEqual(yield* parcelsOf(other.orderId), [["shipped", [2]]])
      }))

    it.effect("ships what staff has not sent and customers were not refunded; creates no parcel when nothing is left", () =>
      Effect.gen(function*() {
        const part = yield* aConfirmed(5)
        assert.strictEqual((yield* send(part.orderId, part.line, 2)).status, 201)
        const refund = yield* api("POST", `/api/orders/${part.orderId}/refunds`, {
          as: asAdmin,
          body: { lines: [{ lineItemId: part.line, quantity: 1 }] }
        })
        assert.isBelow(refund.status, 300, JSON.stringify(refund.body))
        assert.strictEqual((yield* step(part.vendorId, part.id, "ship", parcel)).status, 201)
        assert.deepStrictEqual(yield* parcelsOf(part.orderId), [["shipped", [2]], ["shipped", [2]]])
        const whole = yield* aConfirmed(2)
        assert.strictEqual((yield* send(whole.orderId, whole.line, 2)).status, 201)
        const shipped = yield* step(whole.vendorId, whole.id, "ship", parcel)
        assert.deepStrictEqual([shipped.status, shipped.at("data.fulfillmentId")], [201, null])
        assert.deepStrictEqual(yield* parcelsOf(whole.orderId), [["shipped", [2]]])
      }))

    it.effect("writes a parcel and its sub-order both or neither, if either of them fails", () =>
      Effect.gen(function*() {
        for (const table of ["marketplace_vendor_sub_orders", "fulfillments"]) {
          const { id, orderId, thing, vendorId } = yield* aConfirmed()
          const stock = onDatabase((sql) =>
            sql`select sum(on_hand)::int4 as hand from stock_levels where entity_id = ${thing}::uuid`
          )
          const before = yield* stock
          yield* onDatabase((sql) =>
            sql`create function no_writes() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`
          )
          yield* onDatabase((sql) =>
            sql`create trigger no_writes before insert or update on ${
              sql(table)
            } for each row execute function no_writes()`
          )
          assert.strictEqual((yield* step(vendorId, id, "ship", parcel)).status, 500)
          yield* onDatabase((sql) => sql`drop function no_writes() cascade`)
          assert.deepStrictEqual(yield* parcelsOf(orderId), [])
          assert.strictEqual((yield* subOrderOf(orderId, vendorId)).at("data.status"), "confirmed")
          assert.deepStrictEqual(yield* stock, before)
          assert.strictEqual((yield* step(vendorId, id, "ship", parcel)).status, 201)
        }
      }))

    it.effect("leaves the order open until the parcel is delivered, even if staff ships the rest", () =>
      Effect.gen(function*() {
        const { id, orderId, vendorId } = yield* aConfirmed()
        yield* step(vendorId, id, "ship", parcel)
        const order = yield* api("GET", `/api/orders/${orderId}`, { as: asAdmin })
        const own = order.list("data.lineItems").flatMap((_, at) =>
          order.at(`data.lineItems.${at}.fulfillmentStatus`) === "unfulfilled"
            ? [order.text(`data.lineItems.${at}.id`)]
            : []
        )
        assert.strictEqual((yield* send(orderId, own[0] ?? "", 1)).status, 201)
        assert.strictEqual(yield* statusOf(orderId), "partially_fulfilled")
        const end = api("PATCH", `/api/orders/${orderId}/status`, { as: asAdmin, body: { status: "fulfilled" } })
        assert.strictEqual((yield* end).status, 422)
        yield* step(vendorId, id, "deliver")
        assert.strictEqual(yield* statusOf(orderId), "fulfilled")
      }))

    it.effect("the parcel of a sub-order is taken back with its units when staff moves the sub-order back, and is sent again", () =>
      Effect.gen(function*() {
        const { id, orderId, vendorId } = yield* aConfirmed()
        yield* step(vendorId, id, "ship", parcel)
        const back = yield* api("PATCH", `/api/marketplace/sub-orders/${id}/status`, {
          as: asAdmin,
          body: { status: "processing" }
        })
        assert.deepStrictEqual([back.status, back.at("data.fulfillmentId")], [200, null])
        assert.deepStrictEqual(yield* parcelsOf(orderId), [["cancelled", [2]]])
        assert.strictEqual((yield* step(vendorId, id, "ship", parcel)).status, 201)
        assert.deepStrictEqual(yield* parcelsOf(orderId), [["cancelled", [2]], ["shipped", [2]]])
      }))

    it.effect("refuses a tracking address that is not a link", () =>
      Effect.gen(function*() {
        const { id, vendorId } = yield* aConfirmed()
        const body = { ...parcel, trackingUrl: "javascript:alert(1)" }
        assert.strictEqual((yield* step(vendorId, id, "ship", body)).status, 422)
      }))

    it.effect("confirms a paid order by shipping, and refuses to ship an unpaid one", () =>
      Effect.gen(function*() {
        const vendorId = yield* aVendor()
        const orderId = yield* anOrderOf([[yield* aProductOf(vendorId), 1]])
        const id = (yield* subOrderOf(orderId, vendorId)).text("data.id")
        yield* step(vendorId, id, "confirm")
        const captured = (amount: unknown) =>
          onDatabase((sql) => sql`update orders set amount_captured = ${amount} where id = ${orderId}::uuid`)
        const paid = yield* onDatabase((sql) =>
          sql`select amount_captured::int4 as amount from orders where id = ${orderId}::uuid`
        )
        yield* captured(null)
        const refused = yield* step(vendorId, id, "ship", parcel)
        assert.deepStrictEqual([refused.status, refused.at("error.code")], [422, "INVALID_TRANSITION"])
        yield* captured(paid[0]?.["amount"] ?? null)
        assert.strictEqual(yield* statusOf(orderId), "pending")
        assert.strictEqual((yield* step(vendorId, id, "ship", parcel)).status, 201)
        assert.strictEqual(yield* statusOf(orderId), "partially_fulfilled")
        yield* step(vendorId, id, "deliver")
        assert.strictEqual(yield* statusOf(orderId), "fulfilled")
      }))

    it.effect("a cancelled sub-order has no parcel", () =>
      Effect.gen(function*() {
        const { id, orderId, vendorId } = yield* aConfirmed()
        assert.strictEqual((yield* step(vendorId, id, "cancel", { reason: "Broken" })).status, 201)
        assert.strictEqual((yield* step(vendorId, id, "ship", parcel)).status, 422)
        assert.deepStrictEqual(yield* parcelsOf(orderId), [])
      }))
  }
)
