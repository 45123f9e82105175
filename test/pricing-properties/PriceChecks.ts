import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { payableByStoredValue, type PricedCart } from "../../src/domain/checkout/PricedCart.ts"
import { assertBalanced, assertSame, billIn, cartBill } from "./Agreement.ts"
import { anyShop, anyWish } from "./AnyShop.ts"
import { type Bill, billOf, payableByCard, unpriced, unserved } from "./Bill.ts"
import { type Chance, chanceOf } from "./Chance.ts"
import { decided, type Decision } from "./Decided.ts"
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
  exempt: number
  storedValue: number
  alreadyTaxed: number
  shipped: number
  refunds: number
}

const cartsOfShop = 25

const shopOf = (chance: Chance): Shop =>
  anyShop(chance, {
    tax: chance.oneOf(["classes", "regions", "both", "both", "nothing"]),
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

/** Taxes of each line add up to its tax, and none is negative. */
const assertTaxes = ({ lines }: PricedCart, about: string): void => {
  for (const { taxAmount, taxes = [] } of lines) {
    const sum = taxes.reduce((left, { amount }) => left + amount, 0)
    if (sum !== taxAmount || taxes.some(({ amount, base }) => amount < 0 || base < 0)) {
      assert.fail(`${about}: ${JSON.stringify(taxes)} is not ${taxAmount}`)
    }
  }
}

/** The cart shows what cannot be shipped, too: with a warning. */
const isWarned = (shown: Decision["shown"]): boolean =>
  typeof shown !== "string" && shown.warnings.some(({ code }) => code === "shipping_unavailable")

const checkCart = (chance: Chance, seen: Seen, shop: Shop, wish: Wish, { shown, sold }: Decision, about: string) => {
  const expected = billOf(shop, wish)
  seen.carts += 1
  if (expected === unpriced) {
    seen.unpriced += 1
    if (!/below zero|more than the line/.test(String(sold)) || shown !== sold) {
      assert.fail(`${about}: ${String(sold)}, ${String(shown)} has no price`)
    }
    return
  }
  if (typeof sold === "string" || expected === unserved) {
    seen.unserved += 1
    const text = typeof sold === "string" ? sold : JSON.stringify(sold)
    if (expected !== unserved || !/Shipping to|shipping rate/i.test(text) || !isWarned(shown)) {
      assert.fail(`${about}: ${text} instead of ${JSON.stringify(expected)}`)
    }
    return
  }
  const bill = billOfDecision(sold)
  assertSame(bill, expected, about)
  assertSame(cartBill(shown), expected, `the cart of ${about}`)
  assertBalanced(bill, about)
  assertTaxes(sold, about)
  const payable = payableByCard(shop, wish, expected)
  if (payableByStoredValue(sold) !== payable) assert.fail(`${about}: cards may pay ${payable}`)
  const { alreadyTaxed = 0 } = sold
  if (alreadyTaxed > payable) assert.fail(`${about}: ${alreadyTaxed} was taxed before, and cards may pay ${payable}`)
  if (alreadyTaxed > 0) seen.alreadyTaxed += 1
  note(seen, bill)
  if (wish.exempt) seen.exempt += 1
  if (sold.lines.some(({ storedValue }) => storedValue === true)) seen.storedValue += 1
  if (sold.lines.some(({ addedSteps }) => addedSteps !== undefined)) seen.stepped += 1
  if (bill.grandTotal === 0) return
  const captured = chance.inHundred(20) ? chance.between(1, bill.grandTotal) : bill.grandTotal
  seen.refunds += giveBack(chance, refundable(bill, wish, captured), about)
}

/**
 * Generates shops and carts and compares every amount of what a checkout decides, and of what the cart shows, with a bill that
 * was computed without the service; then gives the order back in random parts. Fails with the seed and the number of the cart.
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
    exempt: 0,
    storedValue: 0,
    alreadyTaxed: 0,
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
