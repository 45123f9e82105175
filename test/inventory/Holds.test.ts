import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { HoldRepo } from "../../src/domain/inventory/HoldRepo.ts"
import { type ManualHold, ManualHoldRepo } from "../../src/domain/inventory/ManualHoldRepo.ts"
import { ReservationRepo } from "../../src/domain/inventory/ReservationRepo.ts"
import { allocateStock, isAllocated, manualHolder, type WarehouseStock } from "../../src/domain/inventory/StockRules.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { ValidationFailed } from "../../src/domain/platform/errors/ApiErrors.ts"
import { type EntityId, newId, type OrderId, type WarehouseId } from "../../src/domain/platform/ids/Id.ts"
import { TestDatabase } from "../support/Postgres.ts"
import {
  addWarehouse,
  heldUnits,
  inStock,
  organization,
  restockBehindTheEntity,
  stockUp,
  unitsOf
} from "./StockRows.ts"

const Rows = Layer.mergeAll(HoldRepo.layer, ManualHoldRepo.layer, ReservationRepo.layer).pipe(
  Layer.provideMerge(TestDatabase),
  Layer.provideMerge(Layer.succeed(CurrentActor, systemActor(organization)))
)

type Taken = readonly [sellable: EntityId, warehouse: WarehouseId | null, quantity: number]

/** A hold as the stock entity writes one. */
const hold = Effect.fnUntraced(function*(holder: string, taken: ReadonlyArray<Taken>, ttlSeconds: number) {
  const repo = yield* ReservationRepo
  const fences = yield* repo.load(taken.map(([sellable]) => sellable))
  const lines = taken.map(([sellable, warehouseId, quantity]) => ({
    sellable,
    warehouseId,
    quantity,
    entityId: sellable
  }))
  return yield* repo.reserve([...fences.values()], [{ holder, ttlSeconds, pricing: "{}", lines }])
})

const expireNow = Effect.fnUntraced(function*(holder: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update holds set expires_at = now() - interval '1 second' where holder = ${holder}`
})

const sell = Effect.fnUntraced(function*(holder: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update holds set state = 'sold', expires_at = null where holder = ${holder} and state = 'held'`
})

/** A new hold of a checkout; returns its holder. */
const held = (taken: ReadonlyArray<Taken>) => {
  const holder = newId<OrderId>()
  return Effect.as(hold(holder, taken, 900), holder)
}

/** A hold that became an order; returns the order's id. */
const soldTo = (taken: ReadonlyArray<Taken>) => Effect.tap(held(taken), sell)

const stateOf = Effect.fnUntraced(function*(holder: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ state: string }>`select state from holds where holder = ${holder}`
  return rows[0]?.state
})

const versionOf = Effect.fnUntraced(function*(sellable: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ version: bigint }>`select version from stock_items where sellable_id = ${sellable}`
  return Number(rows[0]?.version)
})

const movementsOf = Effect.fnUntraced(function*(sellable: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ type: string; quantity: number }>`select type, quantity from stock_movements
    where entity_id = ${sellable} order by performed_at, type, quantity`
  return rows.map(({ quantity, type }) => [type, quantity])
})

const byHand = (
  sellable: EntityId,
  quantity: number,
  orderId: string,
  warehouseId: WarehouseId | null = null
): ManualHold => ({
  orderId,
  entityId: sellable,
  sellable,
  warehouseId,
  quantity,
  performedBy: null
})

const allocate = ({ quantity, sellable }: ManualHold) => (levels: ReadonlyArray<WarehouseStock>) =>
  Result.mapBoth(allocateStock([{ sellable, quantity }], new Map([[sellable, { levels, backordered: 0 }]])), {
    onSuccess: (units) => units.filter(isAllocated),
    onFailure: ({ available }) => ValidationFailed.of("", `Available: ${available}`)
  })

const reserveByHand = (wanted: ManualHold) =>
  Effect.flatMap(ManualHoldRepo, (repo) => repo.reserve(wanted, allocate(wanted)))

it.layer(Rows)("holds", (it) => {
  describe("release", () => {
    it.effect("release gives the stock back once and moves the version", () =>
      Effect.gen(function*() {
        const { sellable, warehouse } = yield* inStock(5)
        const repo = yield* HoldRepo
        const holder = yield* held([[sellable, warehouse, 3]])
        const before = yield* versionOf(sellable)
        assert.deepStrictEqual([yield* repo.release(holder), yield* repo.release(holder)], [true, false])
        assert.deepStrictEqual(yield* unitsOf(sellable), { [warehouse]: { onHand: 5, reserved: 0 } })
        assert.strictEqual(yield* versionOf(sellable), before + 1)
        assert.deepStrictEqual(yield* movementsOf(sellable), [["reservation", 3], ["release", 3]])
      }))

    it.effect("release prevents a reservation of the holder that arrives later", () =>
      Effect.gen(function*() {
        const { sellable, warehouse } = yield* inStock(5)
        const holder = randomUUID()
        assert.isFalse(yield* (yield* HoldRepo).release(holder))
        const { existing, fresh } = yield* hold(holder, [[sellable, warehouse, 1]], 900)
        assert.deepStrictEqual([fresh.size, existing[0]?.state], [0, "released"])
        assert.deepStrictEqual(yield* unitsOf(sellable), { [warehouse]: { onHand: 5, reserved: 0 } })
      }))

    it.effect("release leaves no stock behind when it meets the reservation of the same holder", () =>
      Effect.gen(function*() {
        const { sellable, warehouse } = yield* inStock(500)
        const repo = yield* HoldRepo
        yield* Effect.forEach(Array.from({ length: 100 }), () => {
          const holder = randomUUID()
          return Effect.all([hold(holder, [[sellable, warehouse, 1]], 900), repo.release(holder)], { concurrency: 2 })
        }, { concurrency: 4 })
        assert.strictEqual(yield* heldUnits(sellable), 0)
        assert.deepStrictEqual(yield* unitsOf(sellable), { [warehouse]: { onHand: 500, reserved: 0 } })
      }))

    it.effect("release and a repeated reservation of the same holder do not deadlock", () =>
      Effect.gen(function*() {
        const { sellable, warehouse } = yield* inStock(500)
        const repo = yield* HoldRepo
        yield* Effect.forEach(Array.from({ length: 100 }), () =>
          Effect.gen(function*() {
            const holder = yield* held([[sellable, warehouse, 1]])
            // A deadlock would end one of the two with a defect.
            yield* Effect.all([repo.release(holder), hold(holder, [[sellable, warehouse, 1]], 900)], { concurrency: 2 })
          }), { concurrency: 4 })
        assert.strictEqual(yield* heldUnits(sellable), (yield* unitsOf(sellable))[warehouse]?.reserved)
      }))

    it.effect("release keeps the stock of a sold hold", () =>
      Effect.gen(function*() {
        const { sellable, warehouse } = yield* inStock(5)
        const holder = yield* held([[sellable, warehouse, 2]])
        yield* sell(holder)
        assert.isFalse(yield* (yield* HoldRepo).release(holder))
        assert.strictEqual(yield* heldUnits(sellable), 2)
      }))
  })

  describe("expiry", () => {
    it.effect("expiry and a release end the wait for units, and give back those that came in meanwhile", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const repo = yield* HoldRepo
        for (const end of ["expires", "is released"]) {
          const { sellable, warehouse } = yield* inStock(1)
          const holder = yield* held([[sellable, warehouse, 1], [sellable, null, 4]])
          yield* restockBehindTheEntity(sellable, 1)
          assert.deepStrictEqual(yield* unitsOf(sellable), { [warehouse]: { onHand: 2, reserved: 2 } })
          if (end === "expires") yield* expireNow(holder)
          assert.deepStrictEqual(
            end === "expires" ? yield* repo.expireDue : yield* repo.release(holder),
            end === "expires" ? 1 : true
          )
          assert.deepStrictEqual(yield* unitsOf(sellable), { [warehouse]: { onHand: 2, reserved: 0 } })
          const waiting = yield* sql`select backordered from stock_items where sellable_id = ${sellable}::uuid
            union all select quantity from backorders where sellable_id = ${sellable}::uuid`
          assert.deepStrictEqual(waiting, [{ backordered: 0 }, { backordered: 0 }])
        }
      }))

    it.effect("expires the holds whose time has run out, and no others", () =>
      Effect.gen(function*() {
        const { sellable, warehouse } = yield* inStock(9)
        const [due, alive, sold] = [randomUUID(), randomUUID(), randomUUID()]
        for (const holder of [due, alive, sold]) yield* hold(holder, [[sellable, warehouse, 2]], 900)
        yield* sell(sold)
        yield* expireNow(due)
        assert.strictEqual(yield* (yield* HoldRepo).expireDue, 1)
        assert.deepStrictEqual(yield* unitsOf(sellable), { [warehouse]: { onHand: 9, reserved: 4 } })
        assert.deepStrictEqual([yield* stateOf(due), yield* stateOf(alive)], ["expired", "held"])
      }))

    it.effect("expires other holds when one of them cannot be ended", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const warehouse = yield* addWarehouse()
        const [spoilt, sound] = [yield* stockUp([[warehouse, 5]]), yield* stockUp([[warehouse, 5]])]
        const [bad, good] = [randomUUID(), randomUUID()]
        yield* hold(bad, [[spoilt, warehouse, 2]], 900)
        yield* hold(good, [[sound, warehouse, 2]], 900)
        // More is held than the level says is reserved: giving it back would break a constraint.
        yield* sql`update stock_levels set reserved = 0 where sellable_id = ${spoilt}::uuid`
        yield* expireNow(bad)
        yield* expireNow(good)
        const repo = yield* HoldRepo
        assert.strictEqual(yield* repo.expireDue, 1)
        assert.deepStrictEqual([yield* stateOf(bad), yield* stateOf(good)], ["held", "expired"])
        assert.strictEqual(yield* heldUnits(sound), 0)
        yield* sql`update stock_levels set reserved = 2 where sellable_id = ${spoilt}::uuid`
        assert.strictEqual(yield* repo.expireDue, 1)
      }))

    it.effect("gives every unit back once when several processes expire holds concurrently", () =>
      Effect.gen(function*() {
        const { sellable, warehouse } = yield* inStock(200)
        const holders = Array.from({ length: 60 }, () => randomUUID())
        yield* Effect.forEach(
          holders,
          (holder) => Effect.andThen(hold(holder, [[sellable, warehouse, 1]], 900), expireNow(holder))
        )
        const ended = yield* Effect.all(
          Array.from({ length: 6 }, () => Effect.flatMap(HoldRepo, (repo) => repo.expireDue)),
          {
            concurrency: "unbounded"
          }
        )
        assert.strictEqual(ended.reduce((all, one) => all + one, 0), 60)
        assert.deepStrictEqual(yield* unitsOf(sellable), { [warehouse]: { onHand: 200, reserved: 0 } })
      }))
  })

  describe("orders", () => {
    it.effect("gives the units of a cancelled order back once", () =>
      Effect.gen(function*() {
        const [near, far] = [yield* addWarehouse({ priority: 1 }), yield* addWarehouse({ priority: 2 })]
        const sellable = yield* stockUp([[near, 1], [far, 5]])
        const order = yield* soldTo([[sellable, near, 1], [sellable, far, 2]])
        const repo = yield* HoldRepo
        const units = yield* Effect.all(
          [repo.releaseSold(order), repo.releaseSold(order)],
          { concurrency: 2 }
        )
        assert.sameMembers([...units], [3, 0])
        assert.deepStrictEqual(yield* unitsOf(sellable), {
          [near]: { onHand: 1, reserved: 0 },
          [far]: { onHand: 5, reserved: 0 }
        })
      }))

    it.effect("ships from the reserved warehouses even if priorities have changed", () =>
      Effect.gen(function*() {
        const [near, far] = [yield* addWarehouse({ priority: 1 }), yield* addWarehouse({ priority: 2 })]
        const sellable = yield* stockUp([[near, 3], [far, 5]])
        const order = yield* soldTo([[sellable, far, 2]])
        const taken = yield* (yield* HoldRepo).fulfilSold(order)
        assert.deepStrictEqual(taken, [{ sellable, warehouseId: far, quantity: 2 }])
        assert.deepStrictEqual(yield* unitsOf(sellable), {
          [near]: { onHand: 3, reserved: 0 },
          [far]: { onHand: 3, reserved: 0 }
        })
        assert.strictEqual(yield* stateOf(order), "fulfilled")
        assert.deepStrictEqual((yield* movementsOf(sellable)).at(-1), ["fulfillment", -2])
      }))

    it.effect("leaves fourteen of twenty on hand after six simultaneous shipments of one", () =>
      Effect.gen(function*() {
        const { sellable, warehouse } = yield* inStock(20)
        const order = yield* soldTo([[sellable, warehouse, 10]])
        const repo = yield* HoldRepo
        yield* Effect.all(
          Array.from({ length: 6 }, () => repo.fulfilSold(order, [{ sellable, quantity: 1 }])),
          {
            concurrency: "unbounded"
          }
        )
        assert.deepStrictEqual(yield* unitsOf(sellable), { [warehouse]: { onHand: 14, reserved: 4 } })
      }))

    it.effect("ships from two warehouses in steps, never more than the order holds, and gives the rest back on cancel", () =>
      Effect.gen(function*() {
        const [near, far] = [yield* addWarehouse({ priority: 1 }), yield* addWarehouse({ priority: 2 })]
        const sellable = yield* stockUp([[near, 2], [far, 5]])
        const order = yield* soldTo([[sellable, near, 2], [sellable, far, 3]])
        const repo = yield* HoldRepo
        yield* repo.fulfilSold(order, [{ sellable, quantity: 2 }, { sellable, quantity: 1 }])
        assert.deepStrictEqual(yield* unitsOf(sellable), {
          [near]: { onHand: 0, reserved: 0 },
          [far]: { onHand: 4, reserved: 2 }
        })
        assert.strictEqual(yield* repo.releaseSold(order), 2)
        assert.deepStrictEqual(yield* repo.fulfilSold(order, [{ sellable, quantity: 9 }]), [])
        assert.deepStrictEqual((yield* unitsOf(sellable))[far], { onHand: 4, reserved: 0 })
      }))
  })

  describe("by hand", () => {
    it.effect("adds manual reservations of one order, and releases at most what it holds", () =>
      Effect.gen(function*() {
        const { sellable, warehouse } = yield* inStock(9)
        const order = randomUUID()
        const repo = yield* ManualHoldRepo
        yield* reserveByHand(byHand(sellable, 2, order))
        yield* reserveByHand(byHand(sellable, 3, order))
        yield* reserveByHand(byHand(sellable, 1, randomUUID()))
        assert.strictEqual(yield* repo.release(byHand(sellable, 99, order)), 5)
        assert.strictEqual(yield* repo.release(byHand(sellable, 1, order)), 0)
        assert.deepStrictEqual(yield* unitsOf(sellable), { [warehouse]: { onHand: 9, reserved: 1 } })
        assert.strictEqual(yield* stateOf(manualHolder(order)), "released")
        yield* reserveByHand(byHand(sellable, 4, order))
        assert.strictEqual(yield* stateOf(manualHolder(order)), "held")
        assert.strictEqual(yield* heldUnits(sellable), 5)
      }))

    it.effect("leaves no hold behind when it refuses a manual reservation", () =>
      Effect.gen(function*() {
        const order = randomUUID()
        assert.strictEqual(
          (yield* Effect.flip(reserveByHand(byHand(newId<EntityId>(), 1, order))))._tag,
          "NotFound/StockRecord"
        )
        assert.isUndefined(yield* stateOf(manualHolder(order)))
      }))

    it.effect("reserves only in the named warehouse", () =>
      Effect.gen(function*() {
        const [near, far] = [yield* addWarehouse({ priority: 1 }), yield* addWarehouse({ priority: 2 })]
        const sellable = yield* stockUp([[near, 3], [far, 1]])
        assert.strictEqual(
          (yield* Effect.flip(reserveByHand(byHand(sellable, 2, "o1", far))))._tag,
          "ValidationFailed"
        )
        yield* reserveByHand(byHand(sellable, 1, "o1", far))
        assert.deepStrictEqual((yield* unitsOf(sellable))[far], { onHand: 1, reserved: 1 })
      }))

    it.effect("gives the units of a cancelled order back, and takes them when the order reserves again", () =>
      Effect.gen(function*() {
        const { sellable, warehouse } = yield* inStock(9)
        const order = newId<OrderId>()
        yield* reserveByHand(byHand(sellable, 4, order))
        assert.strictEqual(yield* (yield* HoldRepo).releaseSold(order), 4)
        yield* reserveByHand(byHand(sellable, 1, order))
        assert.strictEqual(yield* heldUnits(sellable), 1)
        assert.deepStrictEqual(yield* unitsOf(sellable), { [warehouse]: { onHand: 9, reserved: 1 } })
      }))
  })

  it.effect("deletes holds that ended without an order long ago", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* HoldRepo
      const { sellable, warehouse } = yield* inStock(9)
      const [old, recent, sold] = [randomUUID(), randomUUID(), randomUUID()]
      for (const holder of [old, recent, sold]) yield* hold(holder, [[sellable, warehouse, 1]], 900)
      yield* sell(sold)
      yield* repo.release(old)
      yield* repo.release(recent)
      yield* sql`update holds set updated_at = now() - interval '9 days' where holder in (${old}, ${sold})`
      yield* repo.purgeEnded(7)
      assert.deepStrictEqual([yield* stateOf(old), yield* stateOf(recent), yield* stateOf(sold)], [
        undefined,
        "released",
        "sold"
      ])
      const lines = yield* sql`select 1 from hold_lines where holder = ${old}`
      assert.strictEqual(lines.length, 0)
    }))

  it.effect("deletes holds of fulfilled orders, and keeps stock and movements", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* HoldRepo
      const { sellable, warehouse } = yield* inStock(10)
      const [old, recent, partly] = [newId<OrderId>(), newId<OrderId>(), newId<OrderId>()]
      for (const holder of [old, recent, partly]) {
        yield* hold(holder, [[sellable, warehouse, 2]], 60)
        yield* sell(holder)
      }
      yield* repo.fulfilSold(old)
      yield* repo.fulfilSold(recent)
      yield* repo.fulfilSold(partly, [{ sellable, quantity: 1 }])
      yield* sql`update holds set updated_at = now() - interval '9 days' where holder in (${old}, ${partly})`
      const [before, movements] = [yield* unitsOf(sellable), yield* movementsOf(sellable)]
      assert.strictEqual(yield* repo.purgeEnded(7), 1)
      const states = [yield* stateOf(old), yield* stateOf(recent), yield* stateOf(partly)]
      assert.deepStrictEqual(states, [undefined, "fulfilled", "sold"])
      assert.deepStrictEqual(yield* unitsOf(sellable), before)
      assert.deepStrictEqual(yield* movementsOf(sellable), movements)
      assert.strictEqual(yield* repo.releaseSold(old), 0)
      assert.strictEqual(yield* repo.releaseSold(partly), 1)
    }))
})
