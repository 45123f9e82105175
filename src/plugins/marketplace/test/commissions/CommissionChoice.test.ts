import { assert, describe, it } from "@effect/vitest"
import type { CommissionRule } from "../../commissions/CommissionRule.ts"
import { chooseCommission, type Sale } from "../../commissions/CommissionTerms.ts"

const at = new Date("2026-06-15T12:00:00.000Z")
const [vendorId, otherVendor] = ["00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"]
let made = 0

const rule = (rest: Partial<CommissionRule>): CommissionRule => {
  const id = `00000000-0000-4000-8000-${String(++made).padStart(12, "0")}`
  return {
    id,
    organizationId: "org_default",
    name: id,
    type: "category",
    categorySlug: null,
    vendorId: null,
    vendorTier: null,
    minVolumeCents: null,
    maxVolumeCents: null,
    rateBps: 1000,
    fixedFeeCents: 0,
    minFeeCents: null,
    maxFeeCents: null,
    validFrom: null,
    validUntil: null,
    priority: 0,
    isActive: true,
    createdAt: at,
    updatedAt: at,
    ...rest
  }
}

const sale = (rest: Partial<Sale> = {}): Sale => ({
  vendorId,
  tier: "gold",
  commissionRateBps: 1500,
  categories: new Map([["shoes", 0], ["clothes", 1], ["everything", 2]]),
  volumeCents: 5000,
  at,
  ...rest
})

const rateOf = (rules: ReadonlyArray<CommissionRule>, of: Sale = sale()) => chooseCommission(rules, of, 900).rateBps

const closest = [
  rule({ type: "category", vendorId, categorySlug: "clothes", rateBps: 1 }),
  rule({ type: "vendor_tier", vendorId, vendorTier: "gold", rateBps: 2 }),
  rule({ type: "category", categorySlug: "shoes", rateBps: 3 }),
  rule({ type: "vendor_tier", vendorTier: "gold", rateBps: 4 }),
  rule({ type: "volume_tier", minVolumeCents: 5000, rateBps: 5 })
]

describe("the rule of a commission", () => {
  it("the rule of a commission is the closest one: vendor and category, vendor, category, tier, volume", () => {
    for (let gone = 0; gone < closest.length; gone++) {
      assert.strictEqual(rateOf(closest.slice(gone)), gone + 1)
      assert.strictEqual(rateOf(closest.slice(gone).toReversed()), gone + 1)
    }
  })

  it("the rule of a commission is not beaten by a priority further away", () => {
    assert.strictEqual(rateOf([...closest, rule({ type: "vendor_tier", vendorTier: "gold", priority: 99 })]), 1)
  })

  it("the rule of a commission is of several categories the one of the closest", () => {
    const far = rule({ categorySlug: "everything", rateBps: 1, priority: 9 })
    assert.strictEqual(rateOf([far, rule({ categorySlug: "clothes", rateBps: 2 })]), 2)
    assert.strictEqual(rateOf([far], sale({ categories: new Map([["tools", 0]]) })), 1500)
  })

  it("the rule of a commission is then of the highest priority, then the newest, then decided by its id", () => {
    const [old, newer] = [
      rule({ categorySlug: "shoes", rateBps: 1, createdAt: new Date(0) }),
      rule({ categorySlug: "shoes" })
    ]
    assert.strictEqual(rateOf([old, newer]), 1000)
    assert.strictEqual(rateOf([{ ...old, priority: 1 }, newer]), 1)
    const pairs = [rule({ categorySlug: "shoes", rateBps: 7 }), rule({ categorySlug: "shoes", rateBps: 8 })]
    assert.deepStrictEqual([rateOf(pairs), rateOf(pairs.toReversed())], [7, 7])
  })

  it("the rule of a commission holds for its vendor, tier and volume only; bounds are inclusive", () => {
    assert.strictEqual(rateOf([rule({ categorySlug: "shoes", vendorId: otherVendor, rateBps: 1 })]), 1500)
    assert.strictEqual(rateOf([rule({ type: "vendor_tier", vendorTier: "silver", rateBps: 1 })]), 1500)
    const bounded = [rule({ type: "volume_tier", minVolumeCents: 5000, maxVolumeCents: 5000, rateBps: 1 })]
    assert.deepStrictEqual([4999, 5000, 5001].map((volumeCents) => rateOf(bounded, sale({ volumeCents }))), [
      1500,
      1,
      1500
    ])
  })

  it("counts while it is active and in its time", () => {
    assert.strictEqual(rateOf([rule({ categorySlug: "shoes", isActive: false, rateBps: 1 })]), 1500)
    assert.strictEqual(
      rateOf([rule({ categorySlug: "shoes", validUntil: new Date(at.getTime() - 1), rateBps: 1 })]),
      1500
    )
    assert.strictEqual(rateOf([rule({ categorySlug: "shoes", validFrom: at, validUntil: at, rateBps: 1 })]), 1)
  })

  it("the rule of a commission is the vendor's own rate without any, and the store's without a vendor", () => {
    assert.strictEqual(rateOf([]), 1500)
    assert.strictEqual(rateOf([], sale({ commissionRateBps: null })), 900)
  })
})

describe("a promotion", () => {
  const promotion = (rest: Partial<CommissionRule>) => rule({ type: "promotional", ...rest })

  it("a promotion takes the place of the standing rule if it is lower", () => {
    assert.strictEqual(rateOf([...closest.slice(2), promotion({ rateBps: 2 })]), 2)
    assert.strictEqual(rateOf([...closest.slice(2), promotion({ rateBps: 4 })]), 3)
    assert.strictEqual(rateOf([promotion({ rateBps: 1499 })]), 1499)
    assert.strictEqual(rateOf([promotion({ rateBps: 1500 })]), 1500)
  })

  it("a promotion takes it at any rate if its priority is higher", () => {
    assert.strictEqual(rateOf([...closest, promotion({ rateBps: 4000, priority: 1 })]), 4000)
    assert.strictEqual(rateOf([promotion({ rateBps: 4000, priority: 1 })]), 4000)
  })

  it("a promotion ends with its dates, and is for its vendor", () => {
    assert.strictEqual(rateOf([promotion({ rateBps: 1, validUntil: new Date(at.getTime() - 1) })]), 1500)
    assert.strictEqual(rateOf([promotion({ rateBps: 1, validFrom: new Date(at.getTime() + 1) })]), 1500)
    assert.strictEqual(rateOf([promotion({ rateBps: 1, vendorId: otherVendor })]), 1500)
  })
})
