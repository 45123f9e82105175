import { assert, describe, it } from "@effect/vitest"
import { BigDecimal, Effect, Layer, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { HoldRepo } from "../../src/domain/inventory/HoldRepo.ts"
import { Inventory } from "../../src/domain/inventory/Inventory.ts"
import { ManualHoldRepo } from "../../src/domain/inventory/ManualHoldRepo.ts"
import { OrderHoldRepo } from "../../src/domain/inventory/OrderHoldRepo.ts"
import { ReservationRepo } from "../../src/domain/inventory/ReservationRepo.ts"
import { emptyLevel, type StockLevel } from "../../src/domain/inventory/StockLevel.ts"
import { decidePosting, placeOf, postingOf, type StockPostingLine } from "../../src/domain/inventory/StockPosting.ts"
import { StockPostingRepo } from "../../src/domain/inventory/StockPostingRepo.ts"
import { StockRepo } from "../../src/domain/inventory/StockRepo.ts"
import { WarehouseRepo } from "../../src/domain/inventory/WarehouseRepo.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"
import { EntityId, newId, OrderId, type StockLevelId, WarehouseId } from "../../src/domain/platform/ids/Id.ts"
import { atOnce } from "../support/AtOnce.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { addEntity, addWarehouse, organization } from "./StockRows.ts"

const goods = {
  flour: EntityId.make(randomUUID()),
  salt: EntityId.make(randomUUID()),
  bread: EntityId.make(randomUUID())
}
const [main, shop] = [WarehouseId.make(randomUUID()), WarehouseId.make(randomUUID())]
const of = (what: keyof typeof goods, warehouseId = main) => ({ entityId: goods[what], warehouseId })

type Line = StockPostingLine

const places = Object.values(goods).flatMap((entityId) =>
  [main, shop].map((warehouseId) => ({ entityId, warehouseId }))
)
const nothing: ReadonlyMap<string, StockLevel> = new Map(
  places.map((place) => {
    const level = {
      ...place,
      id: newId<StockLevelId>(),
      variantId: null,
      organizationId: "org",
      updatedAt: new Date(0)
    }
    return [placeOf(level), emptyLevel(level)]
  })
)

/** Posts one document after the other. */
const posted = (...documents: ReadonlyArray<ReadonlyArray<Line>>) => {
  let levels = nothing
  const answers = documents.map((lines) => {
    const posting = Result.getOrThrow(postingOf({ reference: { type: "test", id: "1" }, lines }))
    const decided = Result.getOrThrow(decidePosting(posting.lines, levels))
    levels = new Map(decided.levels.map((level) => [placeOf(level), level]))
    return decided.posted
  })
  return {
    answers,
    costs: (place: Pick<Line, "entityId" | "warehouseId">) => {
      const level = levels.get(placeOf({ variantId: null, ...place }))
      return [level?.averageCost, level?.unitCost]
    }
  }
}

const receipt = (delta: number, unitCost: number | string, place = of("flour")): Line => ({
  ...place,
  delta,
  unitCost,
  average: true
})

describe("the cost of a unit on hand", () => {
  it("is the average of what is there and what comes in, to ten decimals", () => {
    const { costs } = posted([receipt(10, 100)], [receipt(5, 130)], [receipt(15, "0.5")])
    assert.deepStrictEqual(costs(of("flour")), ["55.25", 55])
    assert.deepStrictEqual(posted([receipt(1, 1), receipt(2, 2)]).costs(of("flour")), ["1.6666666667", 2])
    assert.deepStrictEqual(posted([receipt(2, 1), receipt(1, 2)]).costs(of("flour")), ["1.3333333333", 1])
    assert.deepStrictEqual(posted([receipt(1, 1), receipt(1, 2)]).costs(of("flour")), ["1.5", 2])
  })

  it("is replaced by a receipt that does not average, and kept by one without a cost", () => {
    const { answers, costs } = posted([receipt(10, 100)], [{ ...of("flour"), delta: 1, unitCost: 7 }], [
      { ...of("flour"), delta: 1 }
    ])
    assert.deepStrictEqual(costs(of("flour")), ["7", 7])
    assert.strictEqual(answers[2]?.[0]?.unitCost, "7")
  })

  it("is that of the receipt where the stock before it had no cost or was below zero", () => {
    const unknown: Line = { ...of("flour"), delta: 10 }
    assert.deepStrictEqual(posted([unknown], [receipt(1, 30)]).costs(of("flour")), ["30", 30])
    const oversold: Line = { ...of("flour"), delta: -12, allowNegative: true }
    const { answers, costs } = posted([receipt(10, 100)], [oversold], [receipt(5, 30)])
    assert.deepStrictEqual([answers[1]?.[0]?.unitCost, costs(of("flour"))], ["100", ["30", 30]])
  })

  it("is that of the largest amounts, exactly", () => {
    const { costs } = posted([receipt(1_000_000_000, 9_007_199_254_740_991), receipt(1, 9_007_199_254_740_991)])
    assert.deepStrictEqual(costs(of("flour")), ["9007199254740991", 9_007_199_254_740_991])
  })
})

describe("goods whose cost is issued", () => {
  it("keep the cost of one unit when they move to another warehouse", () => {
    const moved: ReadonlyArray<Line> = [
      { ...of("flour"), delta: -3 },
      { ...of("flour", shop), delta: 2, unitCost: "issued", average: true }
    ]
    const { costs } = posted([receipt(10, 100), receipt(2, 50, of("flour", shop))], moved)
    assert.deepStrictEqual([costs(of("flour")), costs(of("flour", shop))], [["100", 100], ["75", 75]])
  })

  it("cost what the materials cost that they are made of", () => {
    const baked: ReadonlyArray<Line> = [
      { ...of("flour"), delta: -5 },
      { ...of("salt"), delta: -1 },
      { ...of("bread"), delta: 3, unitCost: "issued" },
      { ...of("bread", shop), delta: 4, unitCost: "issued" }
    ]
    const { answers, costs } = posted([receipt(10, 100), receipt(1, 11, of("salt"))], baked)
    assert.deepStrictEqual([costs(of("bread")), costs(of("bread", shop))], [["73", 73], ["73", 73]])
    assert.deepStrictEqual(answers[1]?.map(({ unitCost }) => unitCost), ["100", "11", "73", "73"])
  })

  it("have no known cost when nothing that left has one", () => {
    const baked: ReadonlyArray<Line> = [
      { ...of("flour"), delta: -1 },
      { ...of("bread"), delta: 1, unitCost: "issued", average: true }
    ]
    assert.deepStrictEqual(posted([{ ...of("flour"), delta: 1 }], baked).costs(of("bread")), [null, null])
  })
})

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const Day = Schema.Struct({
  units: between(1, 5_000),
  cost: between(0, 1_000_000),
  fraction: between(0, 9_999),
  what: between(0, 3)
})

const value = (units: number, cost: string | null | undefined) =>
  BigDecimal.multiply(BigDecimal.fromBigInt(BigInt(units)), BigDecimal.fromStringUnsafe(cost ?? "0"))

it.prop(
  "a year of receipts, transfers and sales: what is left and what was sold cost what was received",
  [Schema.Array(Day).check(Schema.isMinLength(50), Schema.isMaxLength(365))],
  ([days]) => {
    let levels = nothing
    let [received, sold, allowed] = [BigDecimal.fromBigInt(0n), BigDecimal.fromBigInt(0n), 0]
    const onHand = (warehouse: WarehouseId) =>
      levels.get(placeOf({ variantId: null, ...of("flour", warehouse) }))?.quantityOnHand ?? 0
    for (const { cost, fraction, units, what } of days) {
      const [most, moved] = [Math.min(units, onHand(main)), Math.min(units, onHand(shop))]
      const unitCost = `${cost}.${String(fraction).padStart(4, "0")}`
      const lines: ReadonlyArray<Line> = what === 0
        ? [receipt(units, unitCost)]
        : what === 1 && most > 0
        ? [{ ...of("flour"), delta: -most }, { ...of("flour", shop), delta: most, unitCost: "issued", average: true }]
        : what === 2 && moved > 0
        ? [{ ...of("flour", shop), delta: -moved, type: "sale" }]
        : most > 0
        ? [{ ...of("flour"), delta: -most, type: "sale" }]
        : []
      const posting = Result.getOrThrow(postingOf({ reference: { type: "day", id: "1" }, lines }))
      const { levels: after, posted } = Result.getOrThrow(decidePosting(posting.lines, levels))
      levels = new Map(after.map((level) => [placeOf(level), level]))
      for (const [index, { delta, type }] of posting.lines.entries()) {
        if (type === "sale") sold = BigDecimal.sum(sold, value(-delta, posted[index]?.unitCost))
      }
      if (what === 0) received = BigDecimal.sum(received, value(units, unitCost))
      // Each average is rounded once: half of the tenth decimal for each unit on hand.
      allowed += onHand(main) + onHand(shop)
    }
    const left = BigDecimal.sumAll([...levels.values()].map((level) => value(level.quantityOnHand, level.averageCost)))
    const difference = BigDecimal.abs(BigDecimal.subtract(received, BigDecimal.sum(left, sold)))
    const tolerance = BigDecimal.multiply(value(allowed, "1"), BigDecimal.fromStringUnsafe("0.00000000005"))
    assert.isTrue(
      BigDecimal.isLessThanOrEqualTo(difference, tolerance),
      `${BigDecimal.format(difference)} of ${BigDecimal.format(received)}`
    )
  },
  { arbitrary: { runs: 200 } }
)

const App = Inventory.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(
    HoldRepo.layer,
    ManualHoldRepo.layer,
    OrderHoldRepo.layer,
    ReservationRepo.layer,
    StockPostingRepo.layer,
    StockRepo.layer,
    WarehouseRepo.layer
  )),
  Layer.provideMerge(
    Layer.mergeAll(TestDatabase, Hooks.layerNone, Layer.succeed(CurrentActor, systemActor(organization)))
  )
)

it.layer(App)("the cost of goods", (it) => {
  const place = Effect.all({ entityId: addEntity, warehouseId: addWarehouse() })
  const post = (id: string, lines: ReadonlyArray<Line>) => Inventory.use((i) => i.post({ type: "grn", id }, lines))
  const levelOf = Effect.fnUntraced(function*({ entityId }: Line) {
    const { items: [level] } = yield* Inventory.use((i) => i.levels({ entityId }, { page: 1, limit: 1 }))
    return [level?.quantityOnHand, level?.averageCost, level?.unitCost]
  })
  const movementsOf = Effect.fnUntraced(function*({ entityId }: Line) {
    const sql = yield* SqlClient.SqlClient
    return yield* sql<{ type: string; quantity: number; cost: string | null }>`
      select type, quantity, trim_scale(unit_cost)::text as cost from stock_movements
      where entity_id = ${entityId} and type <> 'release' order by performed_at, type, quantity`
  })

  it.effect("leaves with what is shipped, comes back with what is returned, and not with what is reserved", () =>
    Effect.gen(function*() {
      const here = yield* place
      const orderId = OrderId.make(randomUUID())
      yield* post("1", [receipt(2, 10, here), receipt(1, 11, here)])
      yield* Inventory.use((i) => i.reserve({ ...here, orderId, quantity: 3 }))
      const units = [{ sellable: here.entityId, quantity: 2 }]
      const gone = yield* HoldRepo.use((holds) => holds.fulfilSold(orderId, units))
      yield* HoldRepo.use((holds) => holds.returnToHold(orderId, gone))
      yield* HoldRepo.use((holds) => holds.fulfilSold(orderId, units))
      yield* OrderHoldRepo.use((holds) => holds.restoreHold(orderId, [{ sellable: here.entityId, quantity: 1 }]))
      const [average, sale] = ["10.3333333333", "fulfillment"]
      assert.deepStrictEqual(yield* movementsOf(here), [
        { type: "receipt", quantity: 1, cost: "11" },
        { type: "receipt", quantity: 2, cost: "10" },
        { type: "reservation", quantity: 3, cost: null },
        { type: sale, quantity: -2, cost: average },
        { type: "return", quantity: 2, cost: average },
        { type: sale, quantity: -2, cost: average },
        { type: "return", quantity: 1, cost: average }
      ])
      assert.deepStrictEqual(yield* levelOf(here), [2, average, 10])
    }))

  it.effect(
    "is that of the moment when the units leave, also for a shipment that waited for a receipt",
    () =>
      Effect.gen(function*() {
        const here = yield* place
        const orderId = OrderId.make(randomUUID())
        yield* post("a", [receipt(10, 100, here)])
        yield* Inventory.use((i) => i.reserve({ ...here, orderId, quantity: 4 }))
        yield* atOnce<void, unknown, CurrentActor | HoldRepo | Inventory>(
          (sql) => sql`select 1 from stock_items where sellable_id = ${here.entityId} for update`,
          [
            Effect.asVoid(post("b", [receipt(10, 200, here)])),
            Effect.asVoid(HoldRepo.use((holds) => holds.fulfilSold(orderId)))
          ]
        )
        const shipped = (yield* movementsOf(here)).find(({ type }) => type === "fulfillment")
        assert.deepStrictEqual(shipped, { type: "fulfillment", quantity: -4, cost: "150" })
        assert.deepStrictEqual(yield* levelOf(here), [16, "150", 150])
      })
  )

  it.effect("set by hand replaces an average; the number that it shows already keeps the decimals", () =>
    Effect.gen(function*() {
      const here = yield* place
      const set = (unitCost: number | null) =>
        Inventory.use((i) => i.adjust({ ...here, type: "sale", quantity: 1, unitCost }))
      yield* post("x", [receipt(9, 10, here), receipt(1, 11, here)])
      assert.deepInclude(yield* set(10), { unitCost: 10, averageCost: "10.1" })
      assert.deepStrictEqual(yield* levelOf(here), [9, "10.1", 10])
      assert.deepInclude(yield* set(20), { unitCost: 20, averageCost: "20" })
      assert.deepInclude(yield* set(10), { unitCost: 10, averageCost: "10" })
      assert.deepStrictEqual(yield* levelOf(here), [7, "10", 10])
      assert.deepInclude(yield* set(null), { unitCost: null, averageCost: null })
      const sales = (yield* movementsOf(here)).filter(({ type }) => type === "sale")
      assert.deepStrictEqual(sales.map(({ cost }) => cost), ["10.1", "20", "10", null])
    }))
})
