import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { EntityId, PromotionId } from "../../src/domain/platform/ids/Id.ts"
import { applyPromotions } from "../../src/domain/promotions/AppliedPromotions.ts"
import {
  evaluatePromotion,
  type PromotionLine,
  type PromotionOrder,
  promotionReasons as reasons,
  type PromotionRow,
  PromotionType
} from "../../src/domain/promotions/PromotionRules.ts"

const now = new Date("2026-06-15T12:00:00.000Z")
const day = (offset: number) => new Date(now.getTime() + offset * 86_400_000)

const promotion = (
  id: string,
  type: PromotionType,
  value: number,
  also: Partial<PromotionRow> = {}
): PromotionRow => ({
  id: PromotionId.make(id),
  code: id.toUpperCase(),
  name: `Promotion ${id}`,
  type,
  value,
  currency: "GBP",
  buyQuantity: null,
  getQuantity: null,
  isAutomatic: false,
  isActive: true,
  stackable: true,
  priority: 100,
  conditions: {},
  usageLimitTotal: null,
  usageLimitPerCustomer: null,
  validFrom: null,
  validUntil: null,
  ...also
})

const line = (quantity: number, unitPrice: number, also: Partial<PromotionLine> = {}): PromotionLine => ({
  entityId: EntityId.make("shirt"),
  entityType: "product",
  categorySlugs: ["tops"],
  quantity,
  unitPrice,
  totalPrice: quantity * unitPrice,
  ...also
})

const shirts = line(2, 300)
const socks = line(4, 100, { entityId: EntityId.make("sock"), categorySlugs: ["socks"] })

const orderOf = (also: Partial<PromotionOrder> = {}): PromotionOrder => {
  const lines = also.lines ?? [shirts, socks]
  return {
    lines,
    subtotal: lines.reduce((sum, one) => sum + one.totalPrice, 0),
    currency: "GBP",
    customer: { isKnown: true, groupIds: ["vip"], orderCount: 3 },
    usage: new Map(),
    now,
    ...also
  }
}

const discount = (row: PromotionRow, also: Partial<PromotionOrder> = {}): number =>
  Result.getOrThrow(evaluatePromotion(row, orderOf(also))).discountAmount
const reason = (row: PromotionRow, also: Partial<PromotionOrder> = {}) =>
  Result.match(evaluatePromotion(row, orderOf(also)), { onFailure: (text) => text, onSuccess: () => "it applies" })

const apply = (
  promotions: ReadonlyArray<PromotionRow>,
  codes: ReadonlyArray<string>,
  also: Partial<PromotionOrder> = {}
) => applyPromotions({ ...orderOf(also), promotions, codes })
const amounts = (outcome: ReturnType<typeof apply>) =>
  outcome.applied.map((one) => [one.promotionId, Number(one.discountAmount)])

describe("the six kinds of promotion", () => {
  const onSocks = { conditions: { categories: ["socks"] } }

  it("the six kinds of promotion discount as the contract's table says", () => {
    assert.strictEqual(discount(promotion("p", "percentage_off_order", 12.5)), 125)
    assert.strictEqual(discount(promotion("p", "fixed_off_order", 150)), 150)
    assert.strictEqual(discount(promotion("p", "percentage_off_item", 10, onSocks)), 40)
    assert.strictEqual(discount(promotion("p", "fixed_off_item", 25, onSocks)), 100)
    assert.strictEqual(
      discount(promotion("p", "buy_x_get_y", 0, { buyQuantity: 2, getQuantity: 1 })),
      200
    )
    // Six units are one whole group of five, which gives three units and not the proportional 3.6.
    assert.strictEqual(
      discount(promotion("p", "buy_x_get_y", 0, { buyQuantity: 2, getQuantity: 3 })),
      300
    )
    assert.strictEqual(
      discount(promotion("p", "buy_x_get_y", 0, { buyQuantity: 1, getQuantity: 3 })),
      300
    )
    const free = Result.getOrThrow(evaluatePromotion(promotion("p", "free_shipping", 0), orderOf()))
    assert.deepStrictEqual(free, { discountAmount: free.discountAmount, freeShipping: true, eligibleLines: null })
    assert.strictEqual<number>(free.discountAmount, 0)
  })

  it("the six kinds of promotion name the lines their discount belongs to", () => {
    const of = (row: PromotionRow) => Result.getOrThrow(evaluatePromotion(row, orderOf())).eligibleLines
    assert.deepStrictEqual(of(promotion("p", "percentage_off_item", 10, onSocks)), [1])
    assert.isNull(of(promotion("p", "percentage_off_order", 10, onSocks)))
  })

  it("the six kinds of promotion never give more than the subtotal", () => {
    assert.strictEqual(discount(promotion("p", "fixed_off_order", 5000)), 1000)
    assert.strictEqual(discount(promotion("p", "fixed_off_item", Number.MAX_SAFE_INTEGER)), 1000)
  })
})

describe("a promotion is refused", () => {
  const ten = (also: Partial<PromotionRow>) => promotion("p", "percentage_off_order", 10, also)

  it("a promotion is refused for its state and window", () => {
    assert.strictEqual(reason(ten({ isActive: false })), reasons.inactive)
    assert.strictEqual(reason(ten({ validFrom: day(1) })), reasons.outsideWindow)
    assert.strictEqual(reason(ten({ validUntil: day(-1) })), reasons.outsideWindow)
    assert.strictEqual(reason(ten({ validUntil: now })), reasons.outsideWindow)
    assert.strictEqual(reason(ten({ validFrom: now, validUntil: day(1) })), "it applies")
  })

  it("a promotion is refused for the conditions of the order", () => {
    assert.strictEqual(reason(ten({ conditions: { minimumOrderValue: 1001 } })), reasons.minimumOrderValue)
    assert.strictEqual(reason(ten({ conditions: { minimumOrderValue: 1000 } })), "it applies")
    assert.strictEqual(reason(ten({ conditions: { minimumQuantity: 7 } })), reasons.minimumQuantity)
    assert.strictEqual(reason(ten({ conditions: { customerGroups: ["staff"] } })), reasons.groupNotEligible)
    assert.strictEqual(reason(ten({ conditions: { entityTypes: ["course"] } })), reasons.noEligibleItem)
    assert.strictEqual(reason(ten({ conditions: { categories: ["hats"] } })), reasons.noEligibleItem)
    assert.strictEqual(reason(ten({ conditions: { firstOrderOnly: true } })), reasons.firstOrderOnly)
    assert.strictEqual(reason(ten({ conditions: { categories: [], minimumQuantity: 6 } })), "it applies")
  })

  it("a promotion is refused when its usage limits are reached; who is not known takes none that is limited per customer", () => {
    const usage = new Map([["p", { total: 5, byCustomer: 1 }]])
    const unknown = { isKnown: false, groupIds: [], orderCount: 0 }
    assert.strictEqual(reason(ten({ usageLimitTotal: 5 }), { usage }), reasons.usageLimit)
    assert.strictEqual(reason(ten({ usageLimitTotal: 6 }), { usage }), "it applies")
    assert.strictEqual(reason(ten({ usageLimitPerCustomer: 1 }), { usage }), reasons.customerLimit)
    assert.strictEqual(reason(ten({ usageLimitPerCustomer: 1 }), { customer: unknown }), reasons.unknownCustomer)
    assert.strictEqual(
      reason(ten({ conditions: { firstOrderOnly: true } }), { customer: unknown }),
      reasons.unknownCustomer
    )
    assert.strictEqual(reason(ten({}), { customer: unknown }), "it applies")
  })

  it("a promotion is refused when it has no meaning: other currency, percentage above 100, no quantities, nothing to gain", () => {
    assert.strictEqual(
      reason(promotion("p", "fixed_off_order", 100, { currency: "EUR" })),
      reasons.otherCurrency
    )
    assert.strictEqual(
      reason(promotion("p", "fixed_off_item", 100, { currency: null })),
      reasons.otherCurrency
    )
    assert.strictEqual(
      reason(promotion("p", "percentage_off_order", 10, { currency: "EUR" })),
      "it applies"
    )
    assert.strictEqual(reason(promotion("p", "percentage_off_order", 200)), reasons.malformed)
    assert.strictEqual(
      reason(promotion("p", "buy_x_get_y", 0, { buyQuantity: 0, getQuantity: 1 })),
      reasons.malformed
    )
    assert.strictEqual(reason(promotion("p", "percentage_off_order", 0)), reasons.noDiscount)
  })
})

describe("promotions of an order", () => {
  it("promotions of an order stack on the undiscounted subtotal, and the list adds up to the discount", () => {
    const outcome = apply(
      [
        promotion("a", "percentage_off_order", 60),
        promotion("b", "percentage_off_order", 60)
      ],
      ["a", "b"]
    )
    assert.deepStrictEqual(amounts(outcome), [["a", 600], ["b", 400]])
    assert.strictEqual<number>(outcome.discountTotal, 1000)
    assert.deepStrictEqual(outcome.rejectedCodes, [])
  })

  it("promotions of an order count codes once in any case, and say which are unknown", () => {
    const outcome = apply([promotion("ten", "percentage_off_order", 10)], [
      " ten",
      "TEN",
      "bogus",
      ""
    ])
    assert.deepStrictEqual(amounts(outcome), [["ten", 100]])
    assert.deepStrictEqual(outcome.rejectedCodes, [{ code: "BOGUS", reason: reasons.unknownCode }])
  })

  it("promotions of an order count once when automatic and named, and apply automatic ones without a code", () => {
    const automatic = promotion("ten", "percentage_off_order", 10, { isAutomatic: true })
    assert.deepStrictEqual(amounts(apply([automatic, automatic], ["ten"])), [["ten", 100]])
    assert.deepStrictEqual(amounts(apply([automatic], [])), [["ten", 100]])
    assert.deepStrictEqual(amounts(apply([promotion("ten", "percentage_off_order", 10)], [])), [])
  })

  it("promotions of an order go by priority, then id", () => {
    const rows = [
      promotion("c", "fixed_off_order", 10, { priority: 5 }),
      promotion("b", "fixed_off_order", 20),
      promotion("a", "fixed_off_order", 30)
    ]
    assert.deepStrictEqual(amounts(apply(rows, ["a", "b", "c"])), [["c", 10], ["a", 30], ["b", 20]])
  })

  it("promotions of an order reject named ones with the reason and keep silent about automatic ones", () => {
    const rows = [
      promotion("old", "fixed_off_order", 10, { validUntil: day(-1) }),
      promotion("quiet", "fixed_off_order", 10, { isActive: false, isAutomatic: true })
    ]
    const outcome = apply(rows, ["old"])
    assert.deepStrictEqual(outcome.rejectedCodes, [{ code: "OLD", reason: reasons.outsideWindow }])
    assert.deepStrictEqual(outcome.applied, [])
  })

  it("promotions of an order drop those for which nothing is left, except free shipping", () => {
    const rows = [
      promotion("all", "percentage_off_order", 100),
      promotion("late", "fixed_off_order", 10),
      promotion("ship", "free_shipping", 0)
    ]
    const outcome = apply(rows, ["all", "late", "ship"])
    assert.deepStrictEqual(amounts(outcome), [["all", 1000], ["ship", 0]])
    assert.deepStrictEqual(outcome.rejectedCodes, [{ code: "LATE", reason: reasons.noDiscount }])
    assert.isTrue(outcome.freeShipping)
  })

  it("promotions of an order apply a non-stackable one only alone, and only when it saves more than the stack", () => {
    const rows = [
      promotion("a", "fixed_off_order", 200),
      promotion("b", "fixed_off_order", 150)
    ]
    const alone = (
      value: number
    ) => [promotion("solo", "fixed_off_order", value, { stackable: false }), ...rows]
    const better = apply(alone(400), ["a", "b", "solo"])
    assert.deepStrictEqual(amounts(better), [["solo", 400]])
    assert.deepStrictEqual(better.rejectedCodes.map((one) => one.reason), [
      reasons.notCombinable,
      reasons.notCombinable
    ])
    const tie = apply(alone(350), ["a", "b", "solo"])
    assert.deepStrictEqual(amounts(tie), [["a", 200], ["b", 150]])
    assert.deepStrictEqual(tie.rejectedCodes, [{ code: "SOLO", reason: reasons.notCombinable }])
    assert.deepStrictEqual(amounts(apply(alone(10), ["solo"])), [["solo", 10]])
  })
})

const small = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const anyLines = Schema.NonEmptyArray(
  Schema.Struct({ quantity: small(1, 9), unitPrice: small(0, 5000), isTop: Schema.Boolean })
)
const anyPromotions = Schema.Array(Schema.Struct({
  type: PromotionType,
  value: small(0, 4000),
  onTops: Schema.Boolean,
  stackable: Schema.Boolean,
  priority: small(0, 2),
  buy: small(1, 3),
  get: small(1, 3)
}))

const rowsOf = (rules: typeof anyPromotions.Type): ReadonlyArray<PromotionRow> =>
  rules.map(({ buy, get, onTops, type, value, ...rest }, index) =>
    promotion(`p${index}`, type, type.startsWith("percentage") ? value / 40 : value, {
      ...rest,
      isAutomatic: true,
      buyQuantity: buy,
      getQuantity: get,
      conditions: onTops ? { categories: ["tops"] } : {}
    })
  )

/** The arithmetic of the contract's table a second time, independently: BigInt, percentages in 1/40 per cent. */
const modelled = (rule: typeof anyPromotions.Type[number], lines: ReadonlyArray<PromotionLine>): bigint => {
  const total = (some: ReadonlyArray<PromotionLine>) =>
    some.reduce((sum, one) => sum + BigInt(one.quantity * one.unitPrice), 0n)
  const eligible = lines.filter((one) => !rule.onTops || one.categorySlugs.includes("tops"))
  const units = eligible.reduce((sum, one) => sum + BigInt(one.quantity), 0n)
  const percent = (amount: bigint) => (amount * BigInt(rule.value) * 2n + 4000n) / 8000n
  const cheapest = eligible.map((one) => BigInt(one.unitPrice)).sort((a, b) => Number(a - b))[0] ?? 0n
  const table: { readonly [T in PromotionType]: bigint } = {
    percentage_off_order: percent(total(lines)),
    fixed_off_order: BigInt(rule.value),
    percentage_off_item: percent(total(eligible)),
    fixed_off_item: BigInt(rule.value) * units,
    free_shipping: 0n,
    buy_x_get_y: units / BigInt(rule.buy + rule.get) * BigInt(rule.get) * cheapest
  }
  return eligible.length === 0 ? 0n : table[rule.type]
}

describe("generated orders with generated promotions", () => {
  it.prop("generated orders with generated promotions agree with the model, add up and never exceed the subtotal", [
    anyLines,
    anyPromotions
  ], ([shape, rules]) => {
    const lines = shape.map((one) => line(one.quantity, one.unitPrice, { categorySlugs: one.isTop ? ["tops"] : [] }))
    const rows = rowsOf(rules)
    const outcome = apply(rows, [], { lines })
    const subtotal = lines.reduce((sum, one) => sum + one.totalPrice, 0)
    const least = (value: bigint) => value < BigInt(subtotal) ? value : BigInt(subtotal)
    const stack = rules.reduce((sum, rule) => rule.stackable ? sum + modelled(rule, lines) : sum, 0n)
    const alone = rules.filter((rule) => !rule.stackable).map((rule) => modelled(rule, lines))
    const best = [stack, ...alone].map(least).sort((a, b) => Number(b - a))[0] ?? 0n
    assert.strictEqual(BigInt(outcome.discountTotal), best)
    assert.strictEqual(outcome.applied.reduce((sum, one) => sum + one.discountAmount, 0), outcome.discountTotal)
    assert.isTrue(outcome.applied.every((one) => one.freeShipping || one.discountAmount > 0))
    assert.deepStrictEqual(apply(rows.toReversed(), [], { lines }), outcome)
  }, { arbitrary: { runs: 5000 } })
})
