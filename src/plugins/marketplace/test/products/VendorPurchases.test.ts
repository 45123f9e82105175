import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { aCartWith, addTo, aGuestCart, aProduct, checkOut, putInto } from "../../../../../test/support/Purchase.ts"
import { admin, anApprovedVendor, aVendor, suspend, withMarketplace } from "../VendorShop.ts"

/** Something that can be bought, of a vendor. */
const goodsOf = Effect.fnUntraced(function*(vendorId: string) {
  const entityId = yield* aProduct()
  assert.strictEqual((yield* admin("POST", `/${vendorId}/products`, { entityId })).status, 201)
  return entityId
})

const orders = Effect.map(
  onDatabase((sql) => sql`select count(*) as count from orders`),
  ([row]) => Number(row?.["count"])
)

withMarketplace()("what a vendor sells", (it) => {
  it.effect("what a vendor sells goes into carts and is bought while the vendor is approved, beside things of the store", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* goodsOf(yield* anApprovedVendor()))
      yield* putInto(cart, yield* aProduct())
      assert.strictEqual((yield* checkOut(cart)).status, 201)
    }))

  it.effect("what a vendor sells goes into no cart before the vendor is approved, while it is suspended, or after it was rejected", () =>
    Effect.gen(function*() {
      const [pending, rejected, suspended] = [yield* aVendor(), yield* aVendor(), yield* anApprovedVendor()]
      yield* admin("POST", `/${rejected}/reject`, { reason: "No." })
      yield* suspend(suspended)
      const cart = yield* aGuestCart()
      for (const vendorId of [pending, rejected, suspended]) {
        const refused = yield* addTo(cart, yield* goodsOf(vendorId))
        assert.deepStrictEqual([refused.status, refused.at("error.code")], [422, "VALIDATION_FAILED"])
        assert.include(refused.text("error.message"), "does not sell")
      }
      assert.strictEqual((yield* addTo(cart, yield* aProduct())).status, 201)
    }))

  it.effect("what a vendor sells cannot be bought in any cart while the vendor is suspended, and can again afterwards", () =>
    Effect.gen(function*() {
      const vendorId = yield* anApprovedVendor()
      const cart = yield* aCartWith(yield* goodsOf(vendorId))
      yield* putInto(cart, yield* goodsOf(yield* anApprovedVendor()))
      yield* putInto(cart, yield* aProduct())
      yield* suspend(vendorId)
      const before = yield* orders
      const refused = yield* checkOut(cart)
      assert.deepStrictEqual([refused.status, refused.at("error.code")], [422, "CHECKOUT_FAILED"])
      assert.include(refused.text("error.message"), "does not sell")
      assert.strictEqual(yield* orders, before)
      yield* admin("POST", `/${vendorId}/reinstate`)
      assert.strictEqual((yield* checkOut(cart)).status, 201)
    }))
})
