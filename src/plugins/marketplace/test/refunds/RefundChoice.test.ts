import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { EntityId, OrderLineId } from "stoa/plugin"
import { nextValue } from "../../../../domain/payments/RefundCalculation.ts"
import { chooseAll, choosePart, chooseUnits, type Left, type LeftLine, maxFor } from "../../refunds/RefundChoice.ts"

const line = (id: string, quantity: number, amount: number, entity = id): LeftLine => ({
  lineItemId: OrderLineId.make(id),
  entityId: EntityId.make(entity),
  quantity,
  amount
})
const left = (lines: ReadonlyArray<LeftLine>, cap = 1_000_000): Left => ({ lines, cap })
const chosen = (choice: Result.Result<unknown, { readonly error: { readonly code: string } }>) =>
  Result.isSuccess(choice) ? choice.success : choice.failure.error.code

describe("what is given back of a sub-order", () => {
  it("is everything that is left of it, and of its payment", () => {
    const lines = [line("a", 2, 200), line("b", 1, 50)]
    const all = [{ lineItemId: "a", quantity: 2 }, { lineItemId: "b", quantity: 1 }]
    assert.deepStrictEqual(chosen(chooseAll(left(lines))), { lines: all })
    assert.deepStrictEqual(chosen(chooseAll(left(lines, 120))), { lines: all, amount: 120 })
    assert.strictEqual(chosen(chooseAll(left([]))), "CONFLICT")
    assert.strictEqual(chosen(chooseAll(left(lines, 0))), "CONFLICT")
  })

  it("is a part on the cheapest line that bears it, with as few of its units as that takes", () => {
    const lines = [line("a", 10, 1_000), line("b", 1, 5_000)]
    assert.deepStrictEqual(chosen(choosePart(left(lines), 250)), {
      lines: [{ lineItemId: "a", quantity: 3 }],
      amount: 250
    })
    assert.deepStrictEqual(chosen(choosePart(left(lines), 5_500)), {
      lines: [{ lineItemId: "b", quantity: 1 }, { lineItemId: "a", quantity: 6 }],
      amount: 5_500
    })
    assert.strictEqual(chosen(choosePart(left(lines), 6_001)), "VALIDATION_FAILED")
    assert.strictEqual(chosen(choosePart(left(lines, 100), 101)), "VALIDATION_FAILED")
  })

  it("is units of what came back, of variants of one thing in their order, and none twice", () => {
    const lines = [line("a1", 1, 100, "a"), line("a2", 3, 300, "a"), line("b", 1, 50)]
    const wanted = [{ entityId: EntityId.make("a"), quantity: 2 }]
    assert.deepStrictEqual(chosen(chooseUnits(left(lines), wanted, null)), {
      lines: [{ lineItemId: "a1", quantity: 1 }, { lineItemId: "a2", quantity: 1 }],
      restock: true
    })
    assert.deepStrictEqual(chosen(chooseUnits(left([line("b", 1, 50)]), wanted, null)), "CONFLICT")
    assert.strictEqual(maxFor(left(lines), wanted), 400)
    assert.strictEqual(maxFor(left(lines, 70), wanted), 70)
  })

  const Case = Schema.Struct({
    share: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 })),
    quantity: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 30 })),
    gone: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 29 })),
    part: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 }))
  })

  it("is never less worth in units than the amount, as the core values them", () => {
    const cases = Effect.runSync(Arbitrary.sampleEffect(Arbitrary.schema(Case), { count: 2_000, seed: 11 }))
    let seen = 0
    for (const { gone, part, quantity, share } of cases) {
      const refundedQuantity = gone % quantity
      const base = {
        id: OrderLineId.make("a"),
        sellable: "a",
        unsent: 0,
        totalPrice: share,
        discountAmount: 0,
        taxAmount: 0,
        quantity
      }
      const refundedValue = nextValue({ ...base, refundedQuantity: 0, refundedValue: 0 }, share, refundedQuantity)
      const known = { ...base, refundedQuantity, refundedValue }
      const open = quantity - refundedQuantity
      const amount = nextValue(known, share, open)
      if (amount === 0) continue
      const asked = Math.max(1, Math.ceil((amount * part) / 1_000))
      const choice = Result.getOrThrow(choosePart(left([line("a", open, amount)]), asked))
      const units = choice.lines?.[0]?.quantity ?? 0
      assert.isAtMost(units, open)
      assert.isAtLeast(nextValue(known, share, units), asked)
      seen++
    }
    assert.isAbove(seen, 1_000)
  })
})
