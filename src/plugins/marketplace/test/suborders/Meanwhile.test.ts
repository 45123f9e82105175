import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { aCartWith, aProduct, checkOut } from "../../../../../test/support/Purchase.ts"
import { appBeside, asAdmin, TestApp } from "../../../../../test/support/TestApp.ts"
import type { PaymentAdapter } from "../../../../domain/payments/PaymentAdapter.ts"
import { newId } from "../../../../domain/platform/ids/Id.ts"
import { testProvider } from "../../../../layers/payments/TestProvider.ts"
import { marketplace } from "../../index.ts"
import { entriesOf } from "../Books.ts"
import { done } from "../Calls.ts"
import { aVendor, giveTo, subOrderOf } from "../Goods.ts"
import { market } from "../Market.ts"

const base = testProvider({ webhookSecret: "meanwhile" })

/** What others do while the provider `meanwhile` authorizes, and while it captures. */
const others: { authorizing: Effect.Effect<void>; capturing: Effect.Effect<void> } = {
  authorizing: Effect.void,
  capturing: Effect.void
}

const meanwhile: PaymentAdapter = {
  ...base,
  providerId: "meanwhile",
  authorize: (request) => Effect.andThen(Effect.suspend(() => others.authorizing), base.authorize(request)),
  capture: (...asked) => Effect.andThen(Effect.suspend(() => others.capturing), base.capture(...asked))
}

/** Buys a thing of the store while others do something; the order's id. */
const boughtWhile = Effect.fnUntraced(function*(entityId: string, work: Partial<typeof others>) {
  const cart = yield* aCartWith(entityId)
  const placed = yield* Effect.acquireUseRelease(
    Effect.sync(() => Object.assign(others, work)),
    () => checkOut(cart, { paymentMethodId: "meanwhile" }),
    () => Effect.sync(() => Object.assign(others, { authorizing: Effect.void, capturing: Effect.void }))
  )
  assert.strictEqual(placed.status, 201, JSON.stringify(placed.body))
  return placed.text("data.id")
})

market({}, { payments: { adapters: [meanwhile] } })("a thing that becomes a vendor's during a purchase", (test) => {
  test("is its vendor's at once, whichever process made it so", function*() {
    const [vendorId, entityId] = [yield* aVendor(), yield* aProduct({ price: 1000 })]
    const cart = yield* aCartWith(entityId)
    const beside = yield* appBeside({ plugins: [marketplace()] })
    yield* Effect.provideService(
      done(asAdmin, `POST /vendors/${vendorId}/products`, { entityId }),
      TestApp,
      beside
    )
    const orderId = (yield* checkOut(cart)).text("data.id")
    assert.strictEqual((yield* subOrderOf(orderId, vendorId)).at("data.subtotal"), 1000)
    assert.deepStrictEqual(yield* entriesOf(vendorId), [["sale", 1000], ["commission", -100]])
  })

  test("is so also when that was committed only after the order was created", function*() {
    const [vendorId, entityId] = [yield* aVendor(), yield* aProduct({ price: 1000 })]
    const app = yield* TestApp
    // Of a transaction that began before the order.
    const given = onDatabase((sql, organization) =>
      sql`insert into marketplace_vendor_entities (id, organization_id, vendor_id, entity_id, created_at)
        values (${newId()}::uuid, ${organization}, ${vendorId}::uuid, ${entityId}::uuid, now() - interval '1 minute')`
    )
    const orderId = yield* boughtWhile(entityId, {
      capturing: Effect.asVoid(Effect.provideService(given, TestApp, app))
    })
    assert.strictEqual((yield* subOrderOf(orderId, vendorId)).at("data.subtotal"), 1000)
    assert.deepStrictEqual(yield* entriesOf(vendorId), [["sale", 1000], ["commission", -100]])
  })

  test("leaves its order with its vendor when it is taken back before the capture", function*() {
    const [vendorId, entityId] = [yield* aVendor(), yield* aProduct({ price: 1000 })]
    const here = Effect.provideService(TestApp, yield* TestApp)
    const taken = done(asAdmin, `DELETE /vendors/${vendorId}/products/${entityId}`)
    yield* boughtWhile(entityId, {
      authorizing: here(Effect.asVoid(giveTo(vendorId, entityId))),
      capturing: here(Effect.asVoid(taken))
    })
    assert.deepStrictEqual(yield* entriesOf(vendorId), [["sale", 1000], ["commission", -100]])
  })
})

market({}, { payments: { adapters: [meanwhile], capture: "manual" } })("an order that is not captured", (test) => {
  test("is created with the sub-order of a vendor who got the thing while its payment was authorized", function*() {
    const [vendorId, entityId] = [yield* aVendor(), yield* aProduct({ price: 1000 })]
    const given = Effect.provideService(giveTo(vendorId, entityId), TestApp, yield* TestApp)
    const orderId = yield* boughtWhile(entityId, { authorizing: Effect.asVoid(given) })
    assert.strictEqual((yield* subOrderOf(orderId, vendorId)).at("data.subtotal"), 1000)
  })
})
