import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Inventory } from "../../src/domain/inventory/Inventory.ts"
import { ManualHoldRepo } from "../../src/domain/inventory/ManualHoldRepo.ts"
import { ReservationRepo } from "../../src/domain/inventory/ReservationRepo.ts"
import { adjustmentOf, type AdjustStock } from "../../src/domain/inventory/StockAdjustment.ts"
import { StockPostingRepo } from "../../src/domain/inventory/StockPostingRepo.ts"
import { StockRepo } from "../../src/domain/inventory/StockRepo.ts"
import { WarehouseRepo } from "../../src/domain/inventory/WarehouseRepo.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"
import { EntityId, VariantId } from "../../src/domain/platform/ids/Id.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { addEntity, addVariant, addWarehouse, organization, unitsOf } from "./StockRows.ts"

const hooked: Array<object> = []
const hooks = Hooks.layerOf([{
  key: "inventory.afterAdjust",
  after: ({ result: level }) =>
    Effect.andThen(Effect.sync(() => hooked.push(level)), Effect.die("a hook that fails changes nothing"))
}])

const repositories = Layer.mergeAll(
  ManualHoldRepo.layer,
  ReservationRepo.layer,
  StockPostingRepo.layer,
  StockRepo.layer,
  WarehouseRepo.layer
)
const App = Inventory.layer.pipe(
  Layer.provideMerge(repositories),
  Layer.provideMerge(Layer.mergeAll(TestDatabase, hooks, Layer.succeed(CurrentActor, systemActor(organization))))
)

const adjust = (body: AdjustStock) => Effect.flatMap(Inventory, (inventory) => inventory.adjust(body))

const countOf = Effect.fnUntraced(function*(table: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ rows: number }>`select count(*)::int4 as rows from ${sql(table)}`
  return rows[0]?.rows ?? 0
})

it.layer(App)("an organization without a warehouse", (it) => {
  it.effect("gets one default warehouse from eight simultaneous first restocks, and one level of forty", () =>
    Effect.gen(function*() {
      const entityId = yield* addEntity
      yield* Effect.all(Array.from({ length: 8 }, () => adjust({ entityId: entityId, type: "restock", quantity: 5 })), {
        concurrency: "unbounded"
      })
      const { items: warehouses } = yield* (yield* WarehouseRepo).list({ page: 1, limit: 20 })
      assert.deepStrictEqual(warehouses.map(({ code, name }) => [code, name]), [["DEFAULT", "Default Warehouse"]])
      assert.deepStrictEqual(yield* unitsOf(entityId), { [warehouses[0]?.id ?? ""]: { onHand: 40, reserved: 0 } })
      const { items: levels } = yield* (yield* StockRepo).levels({ entityId: entityId }, { page: 1, limit: 20 })
      assert.deepStrictEqual(levels.map(({ quantityOnHand, version }) => [quantityOnHand, version]), [[40, 8]])
      // Every adjustment, and the warehouse that was made for the first one.
      assert.deepStrictEqual([yield* countOf("stock_movements"), yield* countOf("outbox_events")], [8, 9])
    }))
})

it.layer(App)("adjusting stock", (it) => {
  describe("records", () => {
    it.effect("writes the level, a movement, the event and calls the hook with the same values", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const [entityId, warehouseId] = [yield* addEntity, yield* addWarehouse()]
        const answer = yield* adjust({
          entityId: entityId,
          warehouseId: warehouseId,
          type: "restock",
          quantity: 7,
          unitCost: 250,
          reorderThreshold: 2,
          reason: "delivery",
          referenceType: "purchase",
          referenceId: "P-1"
        })
        const { after, before, delta, movementId, ...level } = answer
        assert.deepStrictEqual([before, after, delta], [0, 7, 7])
        assert.deepInclude(level, { quantityOnHand: 7, available: 7, unitCost: 250, reorderThreshold: 2, version: 1 })
        assert.strictEqual(level.lastRestockedAt?.getTime(), level.updatedAt.getTime())
        const stored = yield* (yield* StockRepo).levels({ entityId: entityId }, { page: 1, limit: 20 })
        assert.deepStrictEqual(stored.items, [level])
        const movements = yield* sql`select id, type, quantity, reason, reference_type, reference_id, performed_by
          from stock_movements where entity_id = ${entityId}`
        assert.deepStrictEqual(movements, [{
          id: movementId,
          type: "receipt",
          quantity: 7,
          reason: "delivery",
          reference_type: "purchase",
          reference_id: "P-1",
          performed_by: "system:internal"
        }])
        const events = yield* sql`select type, entity_type, payload from outbox_events where entity_id = ${level.id}`
        const payload = JSON.parse(JSON.stringify(level))
        assert.deepStrictEqual(events, [{ type: "inventory.afterAdjust", entity_type: "inventory", payload }])
        assert.deepStrictEqual(hooked.at(-1), level)
      }))

    it.effect("keeps the settings that an adjustment does not name", () =>
      Effect.gen(function*() {
        const [entityId, warehouseId] = [yield* addEntity, yield* addWarehouse()]
        yield* adjust({
          entityId: entityId,
          warehouseId: warehouseId,
          type: "restock",
          quantity: 7,
          unitCost: 250,
          reorderQuantity: 9
        })
        const level = yield* adjust({
          entityId: entityId,
          warehouseId: warehouseId,
          adjustment: -2,
          reorderQuantity: null
        })
        assert.deepInclude(level, { before: 7, after: 5, delta: -2, unitCost: 250, reorderQuantity: null, version: 2 })
        assert.isNotNull(level.lastRestockedAt)
      }))

    it.effect("adjusts a variant apart from its entity", () =>
      Effect.gen(function*() {
        const [entityId, warehouseId] = [yield* addEntity, yield* addWarehouse()]
        const variantId = yield* addVariant(entityId)
        yield* adjust({ entityId: entityId, warehouseId: warehouseId, type: "set", quantity: 3 })
        yield* adjust({
          entityId: entityId,
          variantId: VariantId.make(variantId.toUpperCase()),
          warehouseId: warehouseId,
          type: "set",
          quantity: 4
        })
        assert.deepStrictEqual(yield* (yield* StockRepo).available([entityId]), { [entityId]: 7 })
        assert.deepStrictEqual(yield* unitsOf(variantId), { [warehouseId]: { onHand: 4, reserved: 0 } })
      }))
  })

  describe("refuses", () => {
    it.effect("refuses a level below what is reserved, and changes nothing", () =>
      Effect.gen(function*() {
        const [entityId, warehouseId] = [yield* addEntity, yield* addWarehouse()]
        yield* adjust({ entityId: entityId, warehouseId: warehouseId, type: "restock", quantity: 5 })
        yield* (yield* Inventory).reserve({ entityId: entityId, orderId: randomUUID(), quantity: 3 })
        const before = yield* countOf("outbox_events")
        assert.strictEqual(
          (yield* Effect.flip(adjust({ entityId: entityId, warehouseId: warehouseId, type: "damage", quantity: 3 })))
            ._tag,
          "ValidationFailed/BelowReserved"
        )
        assert.strictEqual(yield* countOf("outbox_events"), before)
        assert.deepStrictEqual(yield* unitsOf(entityId), { [warehouseId]: { onHand: 5, reserved: 3 } })
      }))

    it.effect("allows a negative level for one adjustment only", () =>
      Effect.gen(function*() {
        const [entityId, warehouseId] = [yield* addEntity, yield* addWarehouse()]
        const sold = { entityId, warehouseId, type: "sale", quantity: 3 } as const
        assert.deepInclude(yield* adjust({ ...sold, allowNegative: true }), { after: -3, allowNegative: true })
        assert.strictEqual((yield* Effect.flip(adjust(sold)))._tag, "ValidationFailed/BelowReserved")
        // Upwards it needs no permission, and the level clears the flag once nothing is missing.
        const restock = { entityId, warehouseId, type: "restock", quantity: 2 } as const
        assert.deepInclude(yield* adjust(restock), { after: -1, allowNegative: true })
        assert.deepInclude(yield* adjust(restock), { after: 1, allowNegative: false })
        assert.strictEqual((yield* Effect.flip(adjust(sold)))._tag, "ValidationFailed/BelowReserved")
      }))

    it.effect("allows a level below what is reserved for one adjustment only", () =>
      Effect.gen(function*() {
        const [entityId, warehouseId] = [yield* addEntity, yield* addWarehouse()]
        const hold = { entityId, orderId: randomUUID(), quantity: 3 }
        yield* adjust({ entityId: entityId, warehouseId: warehouseId, type: "restock", quantity: 5 })
        yield* (yield* Inventory).reserve(hold)
        const level = yield* adjust({
          entityId: entityId,
          warehouseId: warehouseId,
          type: "set",
          quantity: 2,
          allowNegative: true
        })
        assert.deepInclude(level, { quantityReserved: 3, available: -1, allowNegative: true })
        assert.strictEqual(
          (yield* Effect.flip(adjust({ entityId: entityId, warehouseId: warehouseId, type: "damage", quantity: 1 })))
            ._tag,
          "ValidationFailed/BelowReserved"
        )
        yield* (yield* Inventory).release(hold)
        const [found] = (yield* (yield* StockRepo).levels({ entityId: entityId }, { page: 1, limit: 1 })).items
        assert.deepInclude(found, { quantityReserved: 0, available: 2, allowNegative: false })
      }))
  })

  it.effect("adds up with concurrent reservations and adjustments", () =>
    Effect.gen(function*() {
      const [entityId, warehouseId] = [yield* addEntity, yield* addWarehouse()]
      const inventory = yield* Inventory
      yield* adjust({ entityId: entityId, warehouseId: warehouseId, type: "restock", quantity: 20 })
      yield* Effect.all([
        ...Array.from({ length: 10 }, () =>
          adjust({ entityId: entityId, warehouseId: warehouseId, type: "restock", quantity: 2 })),
        ...Array.from({ length: 10 }, () =>
          inventory.reserve({ entityId: entityId, orderId: randomUUID(), quantity: 1 }))
      ], { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* unitsOf(entityId), { [warehouseId]: { onHand: 40, reserved: 10 } })
    }))

  it.effect("an adjustment needs exactly one of its three forms", () =>
    Effect.sync(() => {
      const entityId = randomUUID()
      const ok: ReadonlyArray<Partial<AdjustStock>> = [
        { type: "sale", quantity: 1 },
        { adjustment: -1 },
        { mode: "set", amount: 0 }
      ]
      for (const form of ok) {
        assert.strictEqual(adjustmentOf({ entityId: EntityId.make(entityId), ...form })._tag, "Success")
      }
      const bad: ReadonlyArray<Partial<AdjustStock>> = [
        {},
        { type: "sale" },
        { quantity: 1 },
        { mode: "set" },
        { amount: 1 },
        { adjustment: 0 },
        { type: "sale", quantity: 1, adjustment: 1 },
        { mode: "set", amount: 1, type: "sale", quantity: 1 }
      ]
      for (const form of bad) {
        assert.strictEqual(
          adjustmentOf({ entityId: EntityId.make(entityId), ...form })._tag,
          "Failure",
          JSON.stringify(form)
        )
      }
    }))

  it.effect("counts neither inactive warehouses nor other organizations as available", () =>
    Effect.gen(function*() {
      const [entityId, open, closed] = [
        yield* addEntity,
        yield* addWarehouse(),
        yield* addWarehouse({ isActive: false })
      ]
      yield* adjust({ entityId: entityId, warehouseId: open, type: "restock", quantity: 2 })
      yield* adjust({ entityId: entityId, warehouseId: closed, type: "restock", quantity: 5 })
      const stock = yield* StockRepo
      const unknown = randomUUID()
      assert.deepStrictEqual(yield* stock.available([entityId, EntityId.make(unknown)]), {
        [entityId]: 2,
        [unknown]: 0
      })
      const elsewhere = Effect.provideService(CurrentActor, systemActor("org_other"))
      assert.deepStrictEqual(yield* elsewhere(stock.available([entityId])), { [entityId]: 0 })
      assert.deepStrictEqual((yield* elsewhere(stock.levels({ entityId: entityId }, { page: 1, limit: 20 }))).items, [])
    }))
})
