import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { CurrencyCode, newId, PaymentDeclined, type PaymentOffer } from "stoa/plugin"
import type { PricedCart } from "../../src/domain/checkout/PricedCart.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import type { CartId, OrderId } from "../../src/domain/platform/ids/Id.ts"
import { offersOf } from "../../src/workflows/checkout/CheckoutOffers.ts"

const actor = systemActor("org_default")
const asking = {
  actor,
  checkoutId: newId<OrderId>(),
  request: { cartId: newId<CartId>(), currency: CurrencyCode.make("USD") }
}
const refuse = () => Effect.die(new Error("Nothing is paid here."))

/** A payment that counts how often it is asked; declined where it has nothing. */
const counted = (hasSinglePurpose: boolean, has: number, singlePurpose: boolean, token: string) => {
  const asked: Array<number> = []
  const adapter = {
    providerId: "counted",
    isStoredValue: true,
    hasSinglePurpose,
    offer: ({ amount }: { readonly amount: number }): Effect.Effect<PaymentOffer, PaymentDeclined> => {
      asked.push(amount)
      return has === 0
        ? Effect.fail(new PaymentDeclined({ code: "PAYMENT_INTENT_CREATE_FAILED", message: "empty" }))
        : Effect.succeed({ amount: Math.min(amount, has), label: token, singlePurpose })
    },
    authorize: refuse,
    capture: refuse,
    cancel: refuse,
    refund: refuse
  }
  return { asked, adapter, token }
}

const buyer = { customerId: null }
const run = <A, E>(effect: Effect.Effect<A, E, CurrentActor>) => Effect.provideService(effect, CurrentActor, actor)

it.effect("offers of single-purpose stored value are asked once, come first, and are exactly what was not taxed", () =>
  run(Effect.gen(function*() {
    const [usual, single, empty] = [
      counted(true, 700, false, "usual"),
      counted(true, 300, true, "single"),
      counted(true, 0, true, "empty")
    ]
    const offers = offersOf(asking, [usual, single, empty])
    assert.strictEqual(yield* offers.alreadyTaxed({ customerId: null, most: 200 }), 200)
    // A cart that cannot be priced is totalled again, without its lines.
    assert.strictEqual(yield* offers.alreadyTaxed({ customerId: null, most: 1_000 }), 300)
    assert.deepStrictEqual(offers.order(), [1, 0, 2])
    assert.deepStrictEqual(
      [yield* offers.offer(1, buyer, single, 900), yield* offers.offer(0, buyer, usual, 600)],
      [{ amount: 300, label: "single" }, { amount: 600, label: "usual" }]
    )
    assert.match((yield* Effect.flip(offers.offer(2, buyer, empty, 5))).error.message, /empty/)
    assert.deepStrictEqual([usual, single, empty].map(({ asked }) => asked.length), [1, 1, 1])
  })))

it.effect("offers of other payments, and of carts that cost nothing, are not asked before tax", () =>
  run(Effect.gen(function*() {
    const [other, single] = [counted(false, 700, true, "other"), counted(true, 300, true, "single")]
    assert.strictEqual(yield* offersOf(asking, [other, undefined]).alreadyTaxed({ customerId: null, most: 900 }), 0)
    assert.strictEqual(yield* offersOf(asking, [single]).alreadyTaxed({ customerId: null, most: 0 }), 0)
    assert.deepStrictEqual([other.asked, single.asked], [[], []])
  })))

it.effect("a repeated checkout is taxed as its first run was, also when the card is empty by then", () =>
  run(Effect.gen(function*() {
    const single = counted(true, 0, true, "single")
    const first: PricedCart = {
      currency: "USD",
      customerId: null,
      cartSecretHash: "",
      lines: [],
      promotions: [],
      rejectedCodes: [],
      subtotal: 900,
      discountTotal: 0,
      taxTotal: 0,
      shippingTotal: 0,
      grandTotal: 900,
      alreadyTaxed: 300,
      metadata: {}
    }
    const offers = offersOf(asking, [single], Effect.succeed(first))
    assert.strictEqual(yield* offers.alreadyTaxed({ customerId: null, most: 900 }), 300)
    assert.deepStrictEqual(single.asked, [])
  })))
