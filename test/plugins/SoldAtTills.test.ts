import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { makeOutbox } from "../auth/Visitors.ts"
import { refused, stockOf } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { aProduct, aWarehouse } from "../support/Purchase.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"
import { aTaxRate, to } from "../tax/TaxedShop.ts"
import { register } from "./RegisterPlugin.ts"

const outbox = makeOutbox()
const shop = layer(testAppLayer({ plugins: [register], email: { send: outbox.send } }, { logLevel: "none" }), live)

const mailsTo = (address: string) => outbox.mails.filter(({ to }) => to === address).length

const sell = (body: object) => api("POST", "/api/register/sales", { as: asAdmin, body })

/** A product of which there are five, and its sale for 10.00 each. */
const aSale = Effect.fnUntraced(function*(id: string, quantity = 1) {
  const [entityId, warehouseId] = [yield* aProduct({ price: 1_000, stock: 5 }), yield* aWarehouse()]
  const sale = { id, warehouseId, lines: [{ entityId, quantity }], cash: quantity * 1_000 }
  return { entityId, sale }
})

/** So many units are promised to an order that waits. */
const promise = (entityId: string, quantity: number) =>
  api("POST", "/api/orders", { as: asAdmin, body: { currency: "USD", lineItems: [{ entityId, quantity }] } })

shop("a sale at a till", (it) => {
  it.effect("is taxed where it happens, and goes nowhere", () =>
    Effect.gen(function*() {
      yield* aTaxRate({ country: "NL", rateBps: 1_000 })
      const { sale } = yield* aSale("taxed")
      const { shippingAddress: handedOverAt } = to("NL")
      refused(yield* sell({ ...sale, handedOverAt }), 422, "VALIDATION_FAILED")
      const order = yield* sell({ ...sale, handedOverAt, cash: 1_100 })
      const fields = ["taxTotal", "grandTotal", "shippingTotal", "shippingAddress"]
      assert.deepStrictEqual(fields.map((field) => order.at(`data.${field}`)), [100, 1_100, 0, null])
      assert.strictEqual((yield* sell({ ...sale, id: "nowhere" })).at("data.taxTotal"), 0)
    }))

  it.effect("can refuse goods that are not there or are promised, and then changes nothing", () =>
    Effect.gen(function*() {
      const { entityId, sale } = yield* aSale("promised", 3)
      yield* promise(entityId, 3)
      const short = yield* sell({ ...sale, stock: "refuse" })
      refused(short, 422, "VALIDATION_FAILED")
      assert.strictEqual(short.at("error.details.issues.0.path"), "lineItems.0.quantity")
      assert.match(short.text("error.message"), /^lineItems\.0\.quantity is more than the warehouse has of Title of /)
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 5, reserved: 3 })
      const two = { ...sale, id: "two", lines: [{ entityId, quantity: 2 }], cash: 2_000, stock: "refuse" }
      assert.strictEqual((yield* sell(two)).at("data.metadata.oversold"), undefined)
      // On hand there is one more; it is promised.
      const one = { ...sale, id: "one", lines: [{ entityId, quantity: 1 }], cash: 1_000, stock: "allow" }
      assert.strictEqual((yield* sell(one)).at("data.metadata.oversold"), true)
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 2, reserved: 3 })
    }))

  it.effect("posts what it uses up together with its goods, or nothing", () =>
    Effect.gen(function*() {
      const [{ entityId, sale }, flour] = [yield* aSale("used"), yield* aProduct({ stock: 10 })]
      refused(yield* sell({ ...sale, uses: { entityId: flour, units: 11 } }), 422, "VALIDATION_FAILED")
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 5, reserved: 0 })
      assert.strictEqual((yield* sell({ ...sale, uses: { entityId: flour, units: 4 } })).status, 201)
      assert.deepStrictEqual(yield* stockOf(flour), { onHand: 6, reserved: 0 })
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 4, reserved: 0 })
    }))

  it.effect("mails its buyer only on request", () =>
    Effect.gen(function*() {
      const { sale } = yield* aSale("mailed")
      const quiet = yield* sell({ ...sale, id: "quiet", email: "quiet@example.com" })
      assert.strictEqual(quiet.at("data.metadata.mails"), false)
      yield* sell({ ...sale, email: "loud@example.com", mails: true })
      yield* eventually(
        "the mails of the sale that asked for them",
        Effect.sync(() => mailsTo("loud@example.com") === 4 ? true : undefined)
      )
      assert.strictEqual(mailsTo("quiet@example.com"), 0)
    }))
})
