import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { checkoutFailed } from "../checkout/CheckoutFixtures.ts"
import { type Answer, api, at } from "../support/TestApp.ts"
import { assertBalanced, assertSame, cartBill, orderedBill, quotedBill } from "./Agreement.ts"
import { type Bill, billOf, payableByCard, unpriced, unserved } from "./Bill.ts"
import type { countedPayments } from "./CountedPayments.ts"
import { addressOf } from "./Decided.ts"
import { buyerOf, nameOf, type OpenShop } from "./OpenShop.ts"
import { groupIn, type Wish } from "./Shop.ts"

/** An order that was placed, as its checkout answered, and what it should have cost. */
export interface Bought {
  readonly order: Answer
  readonly bill: Bill
}

const refusedForShipping = (answer: Answer, about: string): void => {
  assert.deepStrictEqual([answer.status, answer.at("error.code")], [422, "CHECKOUT_FAILED"], about)
  assert.match(answer.text("error.message"), /Shipping to|shipping rate/i, about)
}

/** Puts a wish into a new cart; what the cart shows is what was wanted, each line at the price it has. */
const filledCart = Effect.fnUntraced(
  function*(open: OpenShop, wish: Wish, bill: Bill | typeof unserved, about: string) {
    const [as, { shop }] = [buyerOf(open, wish), open]
    const cart = yield* api("POST", "/api/carts", { as, body: { currency: wish.currency } })
    const path = `/api/carts/${cart.text("data.id")}`
    const lines = wish.lines.flatMap(({ product, quantity }) => {
      const sold = shop.products[product]
      return sold === undefined ? [] : [{ entityId: sold.id, variantId: sold.variantId, quantity }]
    })
    for (const body of lines) assert.strictEqual((yield* api("POST", `${path}/items`, { as, body })).status, 201, about)
    const view = yield* api("GET", path, { as })
    assert.deepStrictEqual(
      view.list("data.lineItems").map((line) => ({
        entityId: at(line, "entityId"),
        variantId: at(line, "variantId"),
        quantity: at(line, "quantity")
      })),
      lines,
      about
    )
    if (bill !== unserved) {
      const shown = view.list("data.lineItems").map((line) => at(line, "unitPriceSnapshot"))
      assert.deepStrictEqual(shown, bill.lines.map(({ unitPrice }) => unitPrice), `the cart view of ${about}`)
    }
    return { cartId: cart.text("data.id"), lines }
  }
)

/** The first of the offered rates is charged unless another one is chosen; none: nothing to ship. */
const offeredFirst = Effect.fnUntraced(
  function*(open: OpenShop, wish: Wish, cartId: string, bill: Bill, about: string) {
    const shippingAddress = addressOf(wish)
    if (shippingAddress === null || wish.rateId !== null) return
    const body = { cartId, shippingAddress, promotionCodes: wish.codes }
    const offer = yield* api("POST", "/api/shipping/quotes", { as: buyerOf(open, wish), body })
    assert.strictEqual(offer.at("data.rates.0.amount") ?? 0, bill.shippingTotal, `the shipping offered to ${about}`)
  }
)

/** A gift card as the buyer has it: what it pays of the bill, and what of a request names it. */
const cardOf = Effect.fnUntraced(function*({ as, shop }: OpenShop, wish: Wish, bill: Bill | typeof unserved) {
  if (wish.card === 0) return { body: {}, pays: 0 }
  const issued = yield* api("POST", "/api/gift-cards", { as, body: { amount: wish.card, currency: wish.currency } })
  const pays = bill === unserved ? 0 : Math.min(wish.card, payableByCard(shop, wish, bill))
  return { body: { giftCardCodes: [issued.text("data.code")] }, pays }
})

type Card = Effect.Success<ReturnType<typeof cardOf>>

/** The totals of the cart are the bill: of one that chooses it all for a try, and of one that keeps it. */
const totalled = Effect.fnUntraced(
  function*(open: OpenShop, wish: Wish, cartId: string, bill: Bill | typeof unserved, card: Card, about: string) {
    const as = buyerOf(open, wish)
    const chosen = { promotionCodes: wish.codes, shippingAddress: addressOf(wish), shippingRateId: wish.rateId }
    const body = { ...chosen, ...card.body }
    const tried = yield* api("POST", `/api/carts/${cartId}/quote`, { as, body })
    const kept = yield* api("PATCH", `/api/carts/${cartId}`, { as, body })
    for (const answer of [tried, kept]) {
      assert.strictEqual(answer.status, 200, `${about} ${JSON.stringify(answer.body)}`)
      if (bill === unserved) assert.strictEqual(answer.at("data.totals.warnings.0.code"), "shipping_unavailable", about)
      else {
        assertSame(cartBill(answer.at("data.totals")), bill, `the totals of the cart of ${about}`)
        assert.strictEqual(answer.at("data.totals.amountDue"), bill.grandTotal - card.pays, about)
      }
    }
  }
)

/**
 * Buys a wish over HTTP. Totals of the cart, quote of the cart, quote of the same lines without a cart, offered shipping, checkout,
 * the order as it is read afterwards and what the provider took are one and the same bill, computed without the service.
 * Undefined if it cannot be shipped: then quote and checkout are refused alike.
 */
export const buy = Effect.fnUntraced(
  function*(open: OpenShop, payments: ReturnType<typeof countedPayments>, wish: Wish, about: string) {
    const as = buyerOf(open, wish)
    const bill = billOf(open.shop, wish)
    if (bill === unpriced) return assert.fail(`${about}: shops over HTTP have no plugin`)
    const { cartId, lines } = yield* filledCart(open, wish, bill, about)
    const asked = {
      currency: wish.currency,
      promotionCodes: wish.codes,
      shippingAddress: addressOf(wish),
      shippingRateId: wish.rateId
    }
    if (bill !== unserved) yield* offeredFirst(open, wish, cartId, bill, about)
    const card = yield* cardOf(open, wish, bill)
    yield* totalled(open, wish, cartId, bill, card, about)
    const quoted = (body: object) => api("POST", "/api/orders/quote", { as: open.as, body: { ...asked, ...body } })
    const quote = yield* quoted({ cartId })
    const customerGroupIds = wish.groups.map((group) => groupIn(open.shop.groups, group))
    const customer = wish.exempt ? { customerId: open.customers.get(nameOf(wish) ?? "") } : {}
    const unbound = yield* quoted({ lineItems: lines, customerGroupIds, ...customer })
    const expected = bill === unserved ? {} : { expectedTotal: bill.grandTotal }
    const body = { ...asked, ...expected, cartId, paymentMethodId: "counted" }
    if (bill !== unserved && bill.grandTotal > 0 && wish.card > 0 && card.pays === 0) {
      checkoutFailed(yield* api("POST", "/api/checkout", { as, body }), /cannot pay for/)
      yield* api("PATCH", `/api/carts/${cartId}`, { as, body: { giftCardCodes: null } })
    }
    const order = yield* api("POST", "/api/checkout", { as, body })
    if (bill === unserved) {
      for (const answer of [quote, unbound, order]) refusedForShipping(answer, about)
      return undefined
    }
    assert.deepStrictEqual([quote.status, order.status], [200, 201], `${about} ${JSON.stringify(order.body)}`)
    assertSame(quotedBill(quote.at("data")), bill, `the quote of ${about}`)
    assertSame(quotedBill(unbound.at("data")), bill, `the quote without a cart of ${about}`)
    assertSame(orderedBill(order.at("data"), order.at("meta.rejectedPromotionCodes")), bill, `the order of ${about}`)
    const read = yield* api("GET", `/api/orders/${order.text("data.id")}`, { as })
    assertSame(
      orderedBill(read.at("data"), order.at("meta.rejectedPromotionCodes")),
      bill,
      `the stored order of ${about}`
    )
    assertBalanced(orderedBill(read.at("data"), order.at("meta.rejectedPromotionCodes")), about)
    assert.strictEqual(read.at("data.amountCaptured"), bill.grandTotal, about)
    const tenders = read.list("data.tenders").filter((tender) => at(tender, "method") === "counted")
    const rest = tenders.reduce<number>((sum, tender) => sum + Number(at(tender, "amount")), 0)
    assert.strictEqual(rest, bill.grandTotal - card.pays, about)
    if (rest > 0) assert.strictEqual(payments.bookOf(order.text("data.paymentIntentId")).captured, rest, about)
    const bought: Bought = { order, bill }
    return bought
  }
)
