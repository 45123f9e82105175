import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import { HoldRepo } from "../../src/domain/inventory/HoldRepo.ts"
import { OrderHoldRepo } from "../../src/domain/inventory/OrderHoldRepo.ts"
import { RefundedStockRepo } from "../../src/domain/inventory/RefundedStockRepo.ts"
import { StockAuditRepo } from "../../src/domain/inventory/StockAuditRepo.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { alone, pairs, sold, type TenantPair } from "./TenantPair.ts"

const Rows = Layer.mergeAll(HoldRepo.layer, OrderHoldRepo.layer, RefundedStockRepo.layer, StockAuditRepo.layer).pipe(
  Layer.provideMerge(TestDatabase),
  Layer.provideMerge(Layer.succeed(CurrentActor, systemActor("org_default")))
)

const unitsOf = (moved: ReadonlyArray<{ readonly quantity: number }>) => moved.map(({ quantity }) => quantity)

const some = (
  { sellable, warehouse: warehouseId }: TenantPair,
  quantity: number
) => [{ sellable, warehouseId, quantity }]

const change = ({ order: orderId, sellable }: TenantPair, units: number) =>
  Effect.flatMap(OrderHoldRepo, (repo) => repo.change({ orderId, entityId: sellable, sellable, units }))

/** Both organizations have sent units of the order: ours three, the other five. */
const bothSent = ({ order, sellable, warehouse }: TenantPair) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`insert into stock_movements (id, organization_id, entity_id, warehouse_id, type, quantity, reference_type,
        reference_id)
      select gen_random_uuid(), o, ${sellable}::uuid, ${warehouse}::uuid, 'fulfillment', q, 'order', ${order}
      from (values ('org_default', -3), ('org_twin', -5)) sent(o, q)`
  )

// The real clock: what waits for a lock has to be given up.
it.layer(Rows, { excludeTestServices: true })("stock of two organizations under the same names, in part", (it) => {
  it.effect("a shipment takes some of our units off the shelf", () =>
    alone(
      "sold",
      (pair) => Effect.map(Effect.flatMap(HoldRepo, (repo) => repo.fulfilSold(pair.order, some(pair, 3))), unitsOf),
      { result: [3], left: { ...sold, on_hand: 7, reserved: 3, version: 1, held: 3, movements: 1 } }
    ))

  it.effect("a shipment that comes to nothing puts them back", () =>
    alone("sold", (pair) => Effect.flatMap(HoldRepo, (repo) => repo.returnToHold(pair.order, some(pair, 2))), {
      result: undefined,
      left: { ...sold, on_hand: 12, reserved: 8, version: 1, held: 8, movements: 1 }
    }))

  it.effect("a refund gives back what was not sent", () =>
    alone(
      "sold",
      (pair) =>
        Effect.map(Effect.flatMap(RefundedStockRepo, (repo) => repo.release(pair.order, some(pair, 3))), unitsOf),
      { result: [3], left: { ...sold, reserved: 3, version: 1, held: 3, movements: 1 } }
    ))

  it.effect("a refund of everything ends our holds", () =>
    alone(
      "sold",
      (pair) =>
        Effect.map(Effect.flatMap(RefundedStockRepo, (repo) => repo.release(pair.order, some(pair, 6))), unitsOf),
      {
        result: [6],
        left: { ...sold, reserved: 0, version: 1, order: "released", manual: "released", held: 0, movements: 2 }
      }
    ))

  it.effect("a refund that comes to nothing holds them again", () =>
    alone(
      "sold",
      (pair) =>
        Effect.map(Effect.flatMap(RefundedStockRepo, (repo) => repo.holdAgain(pair.order, some(pair, 1))), unitsOf),
      { result: [1], left: { ...sold, reserved: 7, version: 1, held: 7, movements: 1 } }
    ))

  it.effect("units that came back are those that we have sent", () =>
    Effect.gen(function*() {
      const pair = yield* pairs("sold")
      yield* bothSent(pair)
      const back = yield* (yield* RefundedStockRepo).restoreHold(pair.order, some(pair, 9))
      assert.deepStrictEqual(unitsOf(back), [3])
      const sql = yield* SqlClient.SqlClient
      const levels = yield* sql`select l.organization_id, l.on_hand, i.version::int4 as version
        from stock_levels l join stock_items i using (organization_id, sellable_id)
        where l.sellable_id = ${pair.sellable}::uuid order by 1`
      assert.deepStrictEqual(levels.map((row) => Object.values(row)), [["org_default", 13, 1], ["org_twin", 100, 7]])
    }))

  it.effect("an order that is edited takes of our units, and no more than there are", () =>
    alone("sold", (pair) => Effect.andThen(Effect.flip(change(pair, 5)), change(pair, 2)), {
      result: undefined,
      left: { ...sold, reserved: 8, version: 1, held: 8, movements: 1 }
    }))

  it.effect("an order that is edited gives ours back", () =>
    alone("sold", (pair) => change(pair, -3), {
      result: undefined,
      left: { ...sold, reserved: 3, version: 1, held: 3, movements: 1 }
    }))

  it.effect("the audit compares levels and holds of one organization", () =>
    Effect.gen(function*() {
      const { sellable } = yield* pairs("held")
      const sql = yield* SqlClient.SqlClient
      const { audit } = yield* StockAuditRepo
      assert.strictEqual((yield* audit).unbacked, 0)
      // The other's level backs nothing of ours, and need not.
      yield* sql`delete from hold_lines where organization_id = 'org_twin' and sellable_id = ${sellable}::uuid`
      yield* sql`update stock_levels set reserved = 0
        where organization_id = 'org_twin' and sellable_id = ${sellable}::uuid`
      assert.strictEqual((yield* audit).unbacked, 0)
    }))
})
