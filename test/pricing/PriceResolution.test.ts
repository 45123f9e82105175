import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { EntityId, VariantId } from "../../src/domain/platform/ids/Id.ts"
import {
  type ModifierRow,
  ModifierType,
  NoPrice,
  type PriceQuestion,
  type PriceRow,
  resolvePrice
} from "../../src/domain/pricing/PriceResolution.ts"

const [shirt, hat, red] = [EntityId.make("shirt"), EntityId.make("hat"), VariantId.make("red")]

const now = new Date("2026-06-15T12:00:00.000Z")
const day = (offset: number) => new Date(now.getTime() + offset * 86_400_000)

const price = (id: string, amount: number, also: Partial<PriceRow> = {}): PriceRow => ({
  id,
  entityId: shirt,
  variantId: null,
  currency: "GBP",
  amount,
  compareAtAmount: null,
  customerGroupId: null,
  minQuantity: null,
  maxQuantity: null,
  validFrom: null,
  validUntil: null,
  createdAt: day(-100),
  ...also
})

const modifier = (id: string, type: ModifierType, value: number, also: Partial<ModifierRow> = {}): ModifierRow => ({
  id,
  name: `modifier ${id}`,
  type,
  value,
  priority: 100,
  entityId: null,
  variantId: null,
  customerGroupId: null,
  currency: type === "percentage_discount" ? null : "GBP",
  minQuantity: null,
  maxQuantity: null,
  conditions: {},
  validFrom: null,
  validUntil: null,
  ...also
})

const ask = (also: Partial<PriceQuestion>) =>
  resolvePrice({
    prices: [],
    modifiers: [],
    entityId: shirt,
    variantId: null,
    currency: "GBP",
    quantity: 1,
    groups: [],
    now,
    basePrice: null,
    ...also
  })

const chosen = (also: Partial<PriceQuestion>) => Result.getOrThrow(ask(also)).basePriceId
const final = (base: number, modifiers: ReadonlyArray<ModifierRow>, also: Partial<PriceQuestion> = {}): number =>
  Result.getOrThrow(ask({ prices: [price("p", base)], modifiers, ...also })).finalAmount

describe("the choice among prices", () => {
  const general = price("general", 1000)

  it("prefers the variant, then the group, then the quantity range, then the window, then the newest", () => {
    const ladder = [
      general,
      price("newer", 9000, { createdAt: day(-1) }),
      price("half window", 8000, { validFrom: day(-9) }),
      price("long window", 7000, { validFrom: day(-9), validUntil: day(9) }),
      price("short window", 6000, { validFrom: day(-1), validUntil: day(1) }),
      price("one bound", 5000, { minQuantity: 1 }),
      price("two bounds", 4000, { minQuantity: 1, maxQuantity: 10 }),
      price("group", 3000, { customerGroupId: "vip" }),
      price("variant", 2000, { variantId: red })
    ]
    for (let rank = 1; rank <= ladder.length; rank++) {
      const prices = ladder.slice(0, rank)
      const expected = prices.at(-1)?.id
      assert.strictEqual(chosen({ prices, variantId: red, groups: ["vip"] }), expected)
      assert.strictEqual(
        chosen({ prices: prices.toReversed(), variantId: red, groups: ["vip"] }),
        expected
      )
    }
  })

  it("ignores other variants, entities, currencies, groups, quantities and times", () => {
    const outsiders = [
      price("variant", 1, { variantId: VariantId.make("blue") }),
      price("entity", 1, { entityId: hat }),
      price("currency", 1, { currency: "EUR" }),
      price("group", 1, { customerGroupId: "staff" }),
      price("from two", 1, { minQuantity: 2 }),
      price("future", 1, { validFrom: day(1) }),
      price("past", 1, { validUntil: day(-1) })
    ]
    assert.strictEqual(
      chosen({ prices: [...outsiders, general], variantId: red, groups: ["vip"] }),
      "general"
    )
    assert.isTrue(Result.isFailure(ask({ prices: [price("of a variant", 1, { variantId: red })] })))
  })

  it("includes both bounds of quantity and the beginning, not the end", () => {
    const row = price("exact", 1, { minQuantity: 3, maxQuantity: 3, validFrom: now, validUntil: day(1) })
    assert.strictEqual(chosen({ prices: [general, row], quantity: 3, now: day(1) }), "general")
    assert.strictEqual(chosen({ prices: [general, row], quantity: 3 }), "exact")
    assert.strictEqual(chosen({ prices: [general, row], quantity: 4 }), "general")
    assert.strictEqual(chosen({ prices: [general, row], quantity: 2 }), "general")
  })

  it("the choice among prices falls back to the rounded base price of the entity, else says that there is none", () => {
    const resolved = Result.getOrThrow(ask({ basePrice: 1999.5 }))
    assert.strictEqual<number>(resolved.finalAmount, 2000)
    assert.isNull(resolved.basePriceId)
    const none = Result.fail(new NoPrice({ entityId: shirt, currency: "GBP" }))
    for (const basePrice of [null, NaN, -5]) assert.deepStrictEqual(ask({ basePrice }), none)
  })
})

describe("modifiers", () => {
  it("modifiers apply by priority on the running amount and explain themselves", () => {
    const resolved = Result.getOrThrow(ask({
      prices: [price("p", 1000)],
      modifiers: [
        modifier("b", "fixed_discount", 50, { priority: 20 }),
        modifier("a", "percentage_discount", 12.5, { priority: 10 }),
        modifier("c", "markup", 25, { priority: 30 })
      ]
    }))
    assert.strictEqual<number>(resolved.baseAmount, 1000)
    assert.strictEqual<number>(resolved.finalAmount, 850)
    assert.deepStrictEqual(resolved.appliedModifiers.map(({ delta, id }) => [id, delta]), [["a", -125], ["b", -50], [
      "c",
      25
    ]])
    assert.deepStrictEqual(
      resolved.breakdown.map((
        { amountAfter, amountBefore, delta, label }
      ) => [label, amountBefore, delta, amountAfter]),
      [["Base price", 0, 1000, 1000], ["modifier a", 1000, -125, 875], ["modifier b", 875, -50, 825], [
        "modifier c",
        825,
        25,
        850
      ]]
    )
  })

  it("modifiers round a half up, stop at zero and can override", () => {
    assert.strictEqual(final(5, [modifier("m", "percentage_discount", 50)]), 2)
    assert.strictEqual(final(100, [modifier("m", "fixed_discount", 500)]), 0)
    assert.strictEqual(final(100, [modifier("m", "override", 4200)]), 4200)
    assert.strictEqual(final(5, [modifier("m", "percentage_markup", 50)]), 8)
    assert.strictEqual(final(100, [modifier("m", "percentage_markup", 1_000)]), 1_100)
  })

  it("modifiers of every held group apply, of other groups none", () => {
    const modifiers = ["a", "b", "c"].map((customerGroupId) =>
      modifier(customerGroupId, "fixed_discount", 10, { customerGroupId })
    )
    assert.strictEqual(final(100, modifiers, { groups: ["a", "b"] }), 80)
    assert.strictEqual(final(100, modifiers, { groups: [] }), 100)
  })

  it("modifiers without meaning are skipped: a fixed one without currency, a percentage outside its bounds", () => {
    for (const type of ["fixed_discount", "markup", "override"] as const) {
      assert.strictEqual(final(100, [modifier("m", type, 10, { currency: null })]), 100)
      assert.strictEqual(final(100, [modifier("m", type, 10, { currency: "EUR" })]), 100)
    }
    for (const value of [250, -1, NaN]) {
      assert.strictEqual(final(100, [modifier("m", "percentage_discount", value)]), 100)
    }
    for (const value of [1_001, -1, NaN]) {
      assert.strictEqual(final(100, [modifier("m", "percentage_markup", value)]), 100)
    }
  })

  it("modifiers compare minSubtotal with base price times quantity", () => {
    const modifiers = [modifier("m", "percentage_discount", 10, { conditions: { minSubtotal: 3000, other: true } })]
    assert.strictEqual(final(1000, modifiers, { quantity: 2 }), 1000)
    assert.strictEqual(final(1000, modifiers, { quantity: 3 }), 900)
  })

  it("modifiers of other entities, variants, quantities and times do not apply", () => {
    const modifiers = [
      modifier("a", "override", 1, { entityId: hat }),
      modifier("b", "override", 1, { variantId: red }),
      modifier("c", "override", 1, { minQuantity: 2 }),
      modifier("d", "override", 1, { validFrom: day(1) })
    ]
    assert.strictEqual(final(100, modifiers), 100)
    assert.strictEqual(final(100, [modifier("m", "override", 1, { entityId: shirt })]), 1)
  })

  it("modifiers that leave the range of amounts are refused as a value", () => {
    const markup = modifier("m", "markup", Number.MAX_SAFE_INTEGER)
    const result = ask({ prices: [price("p", 1)], modifiers: [markup] })
    assert.isTrue(Result.isFailure(result) && result.failure._tag === "AmountOutOfRange")
  })
})

const small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))
const anyRows = Schema.Array(Schema.Struct({ variant: small, group: small, min: small, from: small, age: small }))
const anyModifiers = Schema.Array(Schema.Struct({
  type: ModifierType,
  value: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 })),
  priority: small
}))

describe("price resolution", () => {
  it.prop(
    "price resolution does not depend on the order of the rows",
    { rows: anyRows, rules: anyModifiers },
    ({ rows, rules }) => {
      const prices = rows.map((row, index) =>
        price(`p${index}`, index, {
          variantId: row.variant === 0 ? red : null,
          customerGroupId: row.group === 0 ? "vip" : null,
          minQuantity: row.min === 0 ? 1 : null,
          validFrom: row.from === 0 ? day(-1) : null,
          createdAt: day(-row.age)
        })
      )
      const modifiers = rules.map((rule, index) =>
        modifier(`m${index}`, rule.type, rule.value, { priority: rule.priority })
      )
      const there = ask({ prices, modifiers, variantId: red, groups: ["vip"] })
      const back = ask({
        prices: prices.toReversed(),
        modifiers: modifiers.toReversed(),
        variantId: red,
        groups: ["vip"]
      })
      assert.deepStrictEqual(there, back)
    },
    { arbitrary: { runs: 2000 } }
  )

  it.prop(
    "price resolution has a breakdown that adds up and never goes below zero",
    { rules: anyModifiers },
    ({ rules }) => {
      const modifiers = rules.map((rule, index) =>
        modifier(`m${index}`, rule.type, rule.value, { priority: rule.priority })
      )
      const resolved = Result.getOrThrow(ask({ prices: [price("p", 150)], modifiers }))
      let running = 0
      for (const step of resolved.breakdown) {
        assert.strictEqual(step.amountBefore, running)
        assert.strictEqual(step.amountAfter, running + step.delta)
        assert.isAtLeast(step.amountAfter, 0)
        running = step.amountAfter
      }
      assert.strictEqual<number>(resolved.finalAmount, running)
    },
    { arbitrary: { runs: 2000 } }
  )
})
