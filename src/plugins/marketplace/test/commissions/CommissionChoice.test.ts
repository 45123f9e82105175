import { assert, describe, it } from "@effect/vitest"
import type { CommissionRule } from "../../commissions/CommissionRule.ts"
import { chooseCommission, type Sale } from "../../commissions/CommissionTerms.ts"

const at = new Date("2026-06-15T12:00:00.000Z")
const [before, after] = [new Date(at.getTime() - 1), new Date(at.getTime() + 1)]
const open = { categorySlug: null, vendorId: null, vendorTier: null, minVolumeCents: null, maxVolumeCents: null }
const fees = { fixedFeeCents: 0, minFeeCents: null, maxFeeCents: null }
const always = { validFrom: null, validUntil: null, isActive: true, priority: 0, createdAt: at, updatedAt: at }
let made = 0

const rule = (type: CommissionRule["type"], rateBps: number, rest: Partial<CommissionRule> = {}): CommissionRule => {
  const id = `00000000-0000-4000-8000-${String(++made).padStart(12, "0")}`
  return { ...open, ...fees, ...always, id, organizationId: "org_default", name: id, type, rateBps, ...rest }
}
const inCategory = (categorySlug: string, rateBps: number, rest: Partial<CommissionRule> = {}) =>
  rule("category", rateBps, { categorySlug, ...rest })
const forTier = (rateBps: number, rest: Partial<CommissionRule> = {}) =>
  rule("vendor_tier", rateBps, { vendorTier: "gold", ...rest })

/** Of a vendor whose own rate is 15 %. */
const sale: Sale = {
  vendorId: "own",
  tier: "gold",
  commissionRateBps: 1500,
  categories: new Map([["shoes", 0], ["clothes", 1], ["everything", 2]]),
  volumeCents: 5000,
  at
}
const rateOf = (rules: ReadonlyArray<CommissionRule>, of: Partial<Sale> = {}) =>
  chooseCommission(rules, { ...sale, ...of }, 900).rateBps

const closest = [
  inCategory("clothes", 1, { vendorId: "own" }),
  forTier(2, { vendorId: "own" }),
  inCategory("shoes", 3),
  forTier(4),
  rule("volume_tier", 5, { minVolumeCents: 5000 })
]

describe("the rule of a commission", () => {
  it("is the closest one: vendor and category, vendor, category, tier, volume, at any priority of others", () => {
    for (let gone = 0; gone < closest.length; gone++) {
      assert.strictEqual(rateOf(closest.slice(gone)), gone + 1)
      assert.strictEqual(rateOf(closest.slice(gone).toReversed()), gone + 1)
    }
    assert.strictEqual(rateOf([...closest, forTier(9, { priority: 99 })]), 1)
  })

  it("is of several categories the one of the closest", () => {
    const far = inCategory("everything", 1, { priority: 9 })
    assert.strictEqual(rateOf([far, inCategory("clothes", 2)]), 2)
    assert.strictEqual(rateOf([far], { categories: new Map([["tools", 0]]) }), 1500)
  })

  it("is then of the highest priority, then the newest, then decided by its id", () => {
    const [old, newer] = [inCategory("shoes", 1, { createdAt: before }), inCategory("shoes", 2)]
    assert.strictEqual(rateOf([old, newer]), 2)
    assert.strictEqual(rateOf([{ ...old, priority: 1 }, newer]), 1)
    const pair = [inCategory("shoes", 7), inCategory("shoes", 8)]
    assert.deepStrictEqual([rateOf(pair), rateOf(pair.toReversed())], [7, 7])
  })

  it("holds for its vendor, tier, volume and time only, while it is active; only the end is exclusive", () => {
    const others = [{ vendorId: "other" }, { isActive: false }, { validUntil: at }, { validFrom: after }]
    for (const rest of others) assert.strictEqual(rateOf([inCategory("shoes", 1, rest)]), 1500, JSON.stringify(rest))
    assert.strictEqual(rateOf([forTier(1, { vendorTier: "silver" })]), 1500)
    assert.strictEqual(rateOf([inCategory("shoes", 1, { validFrom: at, validUntil: after })]), 1)
    const bounded = [rule("volume_tier", 1, { minVolumeCents: 5000, maxVolumeCents: 5000 })]
    const rates = [4999, 5000, 5001].map((volumeCents) => rateOf(bounded, { volumeCents }))
    assert.deepStrictEqual(rates, [1500, 1, 1500])
  })

  it("is the vendor's own rate without any, and the store's without a vendor", () => {
    assert.deepStrictEqual([rateOf([]), rateOf([], { commissionRateBps: null })], [1500, 900])
  })
})

describe("a promotion", () => {
  const promoted = (rateBps: number, rest: Partial<CommissionRule> = {}) => rule("promotional", rateBps, rest)

  it("takes the place of the standing rule if it is lower, or at any rate if its priority is higher", () => {
    const standing = closest.slice(2)
    assert.deepStrictEqual([rateOf([...standing, promoted(2)]), rateOf([...standing, promoted(4)])], [2, 3])
    assert.deepStrictEqual([rateOf([promoted(1499)]), rateOf([promoted(1500)])], [1499, 1500])
    const wanted = promoted(4000, { priority: 1 })
    assert.deepStrictEqual([rateOf([...closest, wanted]), rateOf([wanted])], [4000, 4000])
  })

  it("ends with its dates, and is for its vendor", () => {
    const others = [{ validUntil: before }, { validFrom: after }, { vendorId: "other" }]
    for (const rest of others) assert.strictEqual(rateOf([promoted(1, rest)]), 1500)
  })
})
