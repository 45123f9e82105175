import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { PricedCart } from "../../src/domain/checkout/PricedCart.ts"
import { assertBalanced, assertSame, billIn } from "./Agreement.ts"
import { anyShop, anyWish } from "./AnyShop.ts"
import { type Bill, billOf, unpriced, unserved } from "./Bill.ts"
import { type Chance, chanceOf } from "./Chance.ts"
import { decided } from "./Decided.ts"
import { giveBack, refundable } from "./RandomRefunds.ts"
import type { Shop, Wish } from "./Shop.ts"

/** How much of what there is to get wrong a run has seen. */
export interface Seen {
  carts: number
  /** Carts that cannot be shipped to their address, or not by the chosen rate. */
  unserved: number
  /** Carts whose price the steps of a plugin would bring below zero. */
  unpriced: number
  /** Carts with steps of a plugin. */
  stepped: number
  discounted: number
  stacked: number
  taxed: number
  taxIncluded: number
  shipped: number
  refunds: number
}

const cartsOfShop = 25

const shopOf = (chance: Chance): Shop =>
  anyShop(chance, {
    tax: chance.oneOf(["classes", "regions", "regions", "nothing"]),
    included: chance.inHundred(50),
    products: chance.between(1, 10),
    withHuge: true,
    withSteps: chance.inHundred(50)
  })

/** Whether a bill of that kind was there to be compared. */
const note = (seen: Seen, bill: Bill): void => {
  if (bill.discountTotal > 0) seen.discounted += 1
  if (bill.applied.length > 1) seen.stacked += 1
  if (bill.taxTotal > 0) seen.taxed += 1
  if (bill.taxTotal > 0 && bill.taxIncluded) seen.taxIncluded += 1
  if (bill.shippingTotal > 0) seen.shipped += 1
}

const billOfDecision = (pricedCart: PricedCart): Bill =>
  billIn(pricedCart, { lines: "lines", promotions: pricedCart.promotions, rejected: pricedCart.rejectedCodes })

const checkCart = (chance: Chance, seen: Seen, shop: Shop, wish: Wish, found: PricedCart | string, about: string) => {
  const expected = billOf(shop, wish)
  seen.carts += 1
  if (expected === unpriced) {
    seen.unpriced += 1
    if (!/below zero|more than the line/.test(String(found))) assert.fail(`${about}: ${String(found)} has no price`)
    return
  }
  if (typeof found === "string" || expected === unserved) {
    seen.unserved += 1
    const text = typeof found === "string" ? found : JSON.stringify(found)
    if (expected !== unserved || !/Shipping to|shipping rate/i.test(text)) {
      assert.fail(`${about}: ${text} instead of ${JSON.stringify(expected)}`)
    }
    return
  }
  const bill = billOfDecision(found)
  assertSame(bill, expected, about)
  assertBalanced(bill, about)
  note(seen, bill)
  if (found.lines.some(({ addedSteps }) => addedSteps !== undefined)) seen.stepped += 1
  if (bill.grandTotal === 0) return
  const captured = chance.inHundred(20) ? chance.between(1, bill.grandTotal) : bill.grandTotal
  seen.refunds += giveBack(chance, refundable(bill, wish, captured), about)
}

/**
 * Generates shops and carts, has the service decide what each costs, and compares every amount with a bill that was
 * computed without it; then gives the order back in random parts. Fails with the seed and the number of the cart.
 */
export const checkPrices = Effect.fnUntraced(function*(seed: number, carts: number) {
  const chance = chanceOf(seed)
  const seen: Seen = {
    carts: 0,
    unserved: 0,
    unpriced: 0,
    stepped: 0,
    discounted: 0,
    stacked: 0,
    taxed: 0,
    taxIncluded: 0,
    shipped: 0,
    refunds: 0
  }
  while (seen.carts < carts) {
    const shop = shopOf(chance)
    const wishes = Array.from({ length: Math.min(cartsOfShop, carts - seen.carts) }, () => anyWish(chance, shop))
    const found = yield* decided(shop, wishes)
    for (const [index, wish] of wishes.entries()) {
      const one = found[index]
      if (one !== undefined) checkCart(chance, seen, shop, wish, one, `cart ${seen.carts} of seed ${seed}`)
    }
  }
  return seen
})
