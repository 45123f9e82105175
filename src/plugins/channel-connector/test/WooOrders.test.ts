import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { newId } from "stoa/plugin"
import { slice, wooTests } from "./WooShop.ts"

const test = wooTests()

const clock = { now: Date.parse("2026-11-30T10:00:00Z") }
const taxed = { taxPercent: 8.1, pricesIncludeTax: false }

describe("orders for a WooCommerce", () => {
  test(
    "are paid and come to our totals, with its taxes and prices or without",
    ({ orders, shop }) =>
      Effect.gen(function*() {
        const shirt = shop.catalog.create({ name: "Shirt", type: "variable" })
        const small = shop.catalog.create({ regular_price: "99.99", manage_stock: true, stock_quantity: 5 }, shirt.id)
        const unit = `${shirt.id}/${small.id}`
        const pushed = yield* orders.push(slice(unit))
        const made = shop.orders.view(shop.orders.get(Number(pushed.remoteOrderId)))
        assert.deepInclude(made, { status: "processing", total: "26.49", shipping_total: "5.00", total_tax: "0.00" })
        assert.deepInclude(made.line_items[0], {
          variation_id: small.id,
          quantity: 3,
          total: "19.50",
          subtotal: "19.50"
        })
        assert.strictEqual(made.fee_lines[0]?.total, "1.99")
        const [billing, shipping]: ReadonlyArray<Readonly<Record<string, string>>> = [made.billing, made.shipping]
        assert.deepInclude(billing, { first_name: "Ann Mary", last_name: "Meier", email: "ann@x.example", phone: "" })
        assert.deepInclude(shipping, { address_1: "Gasse 1", postcode: "1010", city: "Wien", country: "AT" })
        assert.strictEqual(small.fields.stock_quantity, 2)
        assert.deepInclude(pushed, { status: "open", fulfillments: [], refunds: [] })
        const gross = yield* orders.push(slice(unit, { grandTotal: 1_950, shippingTotal: 0, pricesIncludeTax: true }))
        assert.strictEqual(shop.orders.view(shop.orders.get(Number(gross.remoteOrderId))).total, "19.50")
      }),
    taxed
  )

  test("are found by our id when the answer was lost, also in the trash, among many", ({ orders, shop }) =>
    Effect.gen(function*() {
      const mug = shop.catalog.create({ name: "Mug", regular_price: "5.00" })
      const sent = slice(`${mug.id}`, { orderId: newId() })
      shop.fault("POST /wp-json/wc/v3/orders", "hear")
      assert.strictEqual((yield* Effect.flip(orders.push(sent)))._tag, "ChannelUnavailable")
      const [taken] = shop.orders.orders.keys()
      for (let n = 0; n < 205; n++) shop.orders.create({ line_items: [{ product_id: mug.id }] })
      const later = slice(`${mug.id}`)
      const { remoteOrderId } = yield* orders.push(later)
      assert.strictEqual((yield* orders.lookup(sent.orderId))?.remoteOrderId, `${taken}`)
      assert.match(shop.calls.at(-2)?.query.get("after") ?? "", /^20\d\d-/)
      assert.strictEqual((yield* orders.lookup(later.orderId))?.remoteOrderId, remoteOrderId)
      shop.orders.remove(Number(remoteOrderId), false)
      assert.deepInclude(yield* orders.lookup(later.orderId), { remoteOrderId, status: "cancelled" })
      assert.isUndefined(yield* orders.lookup(randomUUID()))
      assert.strictEqual(shop.calls.filter(({ method }) => method === "POST").length, 2)
    }))

  test(
    "show what was shipped and given back, and are cancelled until they are shipped",
    ({ orders, shop }) =>
      Effect.gen(function*() {
        const mug = `${shop.catalog.create({ name: "Mug" }).id}`
        const { remoteOrderId } = yield* orders.push(slice(mug))
        const id = Number(remoteOrderId)
        const line = shop.orders.get(id).lines[0]?.id
        const refund = (quantity: number, amount: string) =>
          shop.orders.refund(id, { amount, api_refund: false, line_items: [{ id: line, quantity, refund_total: 6.5 }] })
        refund(1, "6.50")
        clock.now += 1_000
        const tracked = [{ tracking_number: "T-1", custom_tracking_link: "https://carrier.example/T-1" }]
        shop.orders.change(id, {
          status: "completed",
          meta_data: [{ key: "_wc_shipment_tracking_items", value: tracked }]
        })
        refund(2, "13.01")
        const found = yield* orders.get(remoteOrderId)
        assert.deepInclude(found, { status: "fulfilled" })
        assert.deepStrictEqual(found?.fulfillments, [{
          externalId: remoteOrderId,
          lines: [{ externalVariantId: mug, quantity: 2 }],
          trackingNumber: "T-1",
          trackingUrl: "https://carrier.example/T-1"
        }])
        assert.deepStrictEqual(found?.refunds.map(({ amount, lines }) => [amount, lines[0]?.quantity]), [[650, 1], [
          1_301,
          2
        ]])
        assert.isFalse(yield* orders.cancel(remoteOrderId))
        const other = yield* orders.push(slice(mug))
        assert.deepStrictEqual([yield* orders.cancel(other.remoteOrderId), yield* orders.cancel(other.remoteOrderId)], [
          true,
          true
        ])
        const back = yield* orders.push(slice(mug))
        shop.orders.refund(Number(back.remoteOrderId), { amount: "26.49", api_refund: false })
        assert.isTrue(yield* orders.cancel(back.remoteOrderId))
        assert.strictEqual(shop.orders.get(Number(back.remoteOrderId)).status, "refunded")
        shop.orders.remove(Number(other.remoteOrderId), true)
        assert.deepStrictEqual([yield* orders.get(other.remoteOrderId), yield* orders.cancel(other.remoteOrderId)], [
          undefined,
          false
        ])
      }),
    { now: () => clock.now }
  )
})
