import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { type Adjustment, adjustStock, type StockState } from "../../src/domain/inventory/StockAdjustment.ts"
import { maxUnits } from "../../src/domain/inventory/StockLevel.ts"
import {
  afterAllocations,
  allocateInTurn,
  allocateStock,
  isAllocated,
  type SellableStock,
  type WarehouseStock
} from "../../src/domain/inventory/StockRules.ts"
import { WarehouseId } from "../../src/domain/platform/ids/Id.ts"

const level = (onHand: number, reserved = 0, allowNegative = false): StockState => ({ onHand, reserved, allowNegative })
const after = (state: StockState, adjustment: Adjustment): number | string =>
  Result.match(adjustStock(state, adjustment), {
    onFailure: (error) => error.error.details.issues[0]?.code ?? "",
    onSuccess: (result) => {
      assert.strictEqual(result.after, result.before + result.delta)
      return result.after
    }
  })

describe("stock adjustments", () => {
  it("stock adjustments do what the contract's table says", () => {
    const table = [["restock", 15], ["receipt", 15], ["return", 15], ["adjustment", 15], ["sale", 5], ["damage", 5], [
      "shrinkage",
      5
    ], ["set", 5]] as const
    for (const [type, expected] of table) assert.strictEqual(after(level(10), { type, quantity: 5 }), expected, type)
    const modes = [["add", 15], ["remove", 5], ["set", 5]] as const
    for (const [mode, expected] of modes) assert.strictEqual(after(level(10), { mode, amount: 5 }), expected, mode)
    assert.strictEqual(after(level(10), { type: "adjustment", quantity: -4 }), 6)
  })

  it("stock adjustments mark restocks and name the movement", () => {
    const of = (adjustment: Adjustment) => Result.getOrThrow(adjustStock(level(10), adjustment))
    assert.deepInclude(of({ type: "restock", quantity: 1 }), { restocks: true, movement: "receipt" })
    assert.deepInclude(of({ type: "return", quantity: 1 }), { restocks: false, movement: "return" })
    assert.deepInclude(of({ type: "damage", quantity: 1 }), { restocks: false, movement: "adjustment" })
    assert.deepInclude(of({ mode: "add", amount: 1 }), { restocks: false, movement: "adjustment" })
  })

  it("stock adjustments refuse quantities without meaning", () => {
    for (const type of ["restock", "receipt", "return", "sale", "damage", "shrinkage"] as const) {
      for (const quantity of [0, -1, 1.5, NaN]) assert.strictEqual(after(level(10), { type, quantity }), "out_of_range")
    }
    assert.strictEqual(after(level(10), { type: "adjustment", quantity: 0 }), "out_of_range")
    assert.strictEqual(after(level(10), { type: "set", quantity: -1 }), "out_of_range")
    assert.strictEqual(after(level(10), { mode: "add", amount: -1 }), "out_of_range")
    assert.strictEqual(after(level(10), { type: "restock", quantity: maxUnits }), "too_large")
  })

  it("stock adjustments refuse to go below zero or below what is reserved", () => {
    assert.strictEqual(after(level(10), { type: "sale", quantity: 11 }), "insufficient_stock")
    assert.strictEqual(after(level(10, 6), { type: "damage", quantity: 5 }), "insufficient_stock")
    assert.strictEqual(after(level(10, 6), { type: "set", quantity: 5 }), "insufficient_stock")
    assert.strictEqual(after(level(10, 6), { mode: "set", amount: 6 }), 6)
    assert.strictEqual(after(level(-5, 0), { type: "restock", quantity: 2 }), -3)
  })

  it("stock adjustments go below both where negative stock is allowed", () => {
    assert.strictEqual(after(level(10, 6, true), { type: "sale", quantity: 11 }), -1)
    assert.strictEqual(after(level(10, 6, true), { type: "set", quantity: 0 }), 0)
  })

  it("stock adjustments with mode remove take what is free and report the real change", () => {
    const removed = (state: StockState) => Result.getOrThrow(adjustStock(state, { mode: "remove", amount: 500 })).delta
    assert.strictEqual(removed(level(10)), -10)
    assert.strictEqual(removed(level(10, 6)), -4)
    assert.strictEqual(removed(level(10, 6, true)), -10)
    assert.strictEqual(removed(level(-3, 0, true)), 0)
  })
})

const warehouse = (id: string, priority: number, available: number): WarehouseStock => ({
  warehouseId: WarehouseId.make(id),
  priority,
  available
})

describe("stock allocation", () => {
  const levels = new Map([
    ["shirt", { backordered: 0, levels: [warehouse("b", 1, 5), warehouse("c", 0, 1), warehouse("a", 1, 5)] }],
    ["sock", { backordered: 3, levels: [warehouse("a", 0, 2), warehouse("b", 0, -3)] }]
  ])

  it("stock allocation takes warehouses by priority, then id, and splits when one does not suffice", () => {
    assert.deepStrictEqual(
      allocateStock([{ sellable: "shirt", quantity: 8 }], levels),
      Result.succeed([
        { sellable: "shirt", warehouseId: WarehouseId.make("c"), quantity: 1 },
        { sellable: "shirt", warehouseId: WarehouseId.make("a"), quantity: 5 },
        { sellable: "shirt", warehouseId: WarehouseId.make("b"), quantity: 2 }
      ])
    )
  })

  it("refuses the whole checkout for one short line and names it", () => {
    const lines = [{ sellable: "shirt", quantity: 1 }, { sellable: "sock", quantity: 3 }]
    assert.deepStrictEqual(allocateStock(lines, levels), Result.fail({ sellable: "sock", available: 2, requested: 3 }))
    assert.deepStrictEqual(
      allocateStock([{ sellable: "hat", quantity: 1 }], levels),
      Result.fail({ sellable: "hat", available: 0, requested: 1 })
    )
  })

  it("takes what is there and lets the rest wait, up to the limit over all orders", () => {
    const socks = (quantity: number, backorders: number) => [{ sellable: "sock", quantity, backorders }]
    assert.deepStrictEqual(
      allocateStock(socks(4, 5), levels),
      Result.succeed([
        { sellable: "sock", warehouseId: WarehouseId.make("a"), quantity: 2 },
        { sellable: "sock", warehouseId: null, quantity: 2 }
      ])
    )
    assert.deepStrictEqual(
      allocateStock(socks(5, 5), levels),
      Result.fail({ sellable: "sock", available: 4, requested: 5 })
    )
    assert.deepStrictEqual(
      allocateStock(socks(3, 2), levels),
      Result.fail({ sellable: "sock", available: 2, requested: 3 })
    )
  })

  it("lets nothing wait for one warehouse", () => {
    const [outcome] = allocateInTurn(
      [{ lines: [{ sellable: "sock", quantity: 3, backorders: 50 }], warehouseId: WarehouseId.make("a") }],
      levels
    )
    assert.deepStrictEqual(outcome, Result.fail({ sellable: "sock", available: 2, requested: 3 }))
  })

  it("counts lines of the same sellable together and refuses quantities that are none", () => {
    const twice = [{ sellable: "sock", quantity: 1 }, { sellable: "sock", quantity: 2 }]
    assert.deepStrictEqual(allocateStock(twice, levels), Result.fail({ sellable: "sock", available: 2, requested: 3 }))
    for (const quantity of [0, -1, 0.5]) {
      assert.isTrue(Result.isFailure(allocateStock([{ sellable: "sock", quantity }], levels)))
    }
  })

  it("serves first come first served; a refused checkout takes nothing", () => {
    const requests = [2, 5, 9, 4].map((quantity) => ({ lines: [{ sellable: "shirt", quantity }] }))
    const outcomes = allocateInTurn(requests, levels)
    assert.deepStrictEqual(outcomes.map(Result.isSuccess), [true, true, false, true])
    assert.deepStrictEqual(outcomes[2], Result.fail({ sellable: "shirt", available: 4, requested: 9 }))
    assert.deepStrictEqual(levels.get("shirt")?.levels.map((one) => one.available), [5, 1, 5])
  })
})

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const sellables = Schema.Literals(["shirt", "sock"])
const anyLevels = Schema.Array(
  Schema.Struct({ sellable: sellables, priority: between(0, 2), available: between(-3, 9) })
)
const anyLimits = Schema.Struct({ shirt: between(0, 5), sock: between(0, 5) })
const anyRequests = Schema.Array(Schema.NonEmptyArray(Schema.Struct({ sellable: sellables, quantity: between(1, 6) })))

const sumOf = (units: ReadonlyArray<{ readonly quantity: number }>) =>
  units.reduce((sum, { quantity }) => sum + quantity, 0)

describe("generated buyers", () => {
  it.prop(
    "generated buyers never get more than there is and may wait, all or nothing",
    [anyLevels, anyLimits, anyRequests],
    ([rows, limits, generated]) => {
      const requests = generated.map((lines) => lines.map((line) => ({ ...line, backorders: limits[line.sellable] })))
      const of = (sellable: string) =>
        rows.flatMap((row, index) =>
          row.sellable === sellable ? [warehouse(`w${index}`, row.priority, row.available)] : []
        )
      const levels = new Map<string, SellableStock>(
        sellables.literals.map((one) => [one, { levels: of(one), backordered: 0 }])
      )
      const open = new Map(sellables.literals.map((one) => [one, limits[one]] as const))
      const free = new Map(
        sellables.literals.map((one) =>
          [one, of(one).reduce((sum, row) => sum + Math.max(0, row.available), 0)] as const
        )
      )
      let left = levels
      for (const [index, outcome] of allocateInTurn(requests.map((lines) => ({ lines })), levels).entries()) {
        const wanted = (sellable: string) =>
          (requests[index] ?? []).reduce((sum, one) => one.sellable === sellable ? sum + one.quantity : sum, 0)
        const fits = sellables.literals.every((sellable) =>
          wanted(sellable) <= (free.get(sellable) ?? 0) + (open.get(sellable) ?? 0)
        )
        assert.strictEqual(Result.isSuccess(outcome), fits)
        if (Result.isFailure(outcome)) continue
        for (const sellable of sellables.literals) {
          const units = outcome.success.filter((one) => one.sellable === sellable)
          const given = sumOf(units.filter(isAllocated))
          const waits = sumOf(units) - given
          assert.strictEqual(given, Math.min(wanted(sellable), free.get(sellable) ?? 0))
          assert.strictEqual(given + waits, wanted(sellable))
          free.set(sellable, (free.get(sellable) ?? 0) - given)
          open.set(sellable, (open.get(sellable) ?? 0) - waits)
        }
        left = new Map([...left, ...afterAllocations(left, outcome.success)])
      }
      for (const row of [...left.values()].flatMap(({ levels }) => levels)) {
        assert.isAtLeast(row.available, Math.min(0, rows[Number(row.warehouseId.slice(1))]?.available ?? 0))
      }
      const given = (sellable: string) =>
        (left.get(sellable)?.levels ?? []).reduce((sum, row) => sum + Math.max(0, row.available), 0)
      for (const sellable of sellables.literals) {
        assert.strictEqual(given(sellable), free.get(sellable))
        assert.strictEqual(left.get(sellable)?.backordered, limits[sellable] - (open.get(sellable) ?? 0))
      }
    },
    { arbitrary: { runs: 3000 } }
  )
})
