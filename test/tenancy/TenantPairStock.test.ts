import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import { HoldRepo } from "../../src/domain/inventory/HoldRepo.ts"
import { ManualHoldRepo } from "../../src/domain/inventory/ManualHoldRepo.ts"
import { ReservationRepo } from "../../src/domain/inventory/ReservationRepo.ts"
import { StockRepo } from "../../src/domain/inventory/StockRepo.ts"
import { waiting } from "../support/AtOnce.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { rowsAreTaken } from "./Taken.ts"
import { alone, ours, pairs, rowsOf, sold, type TenantPair, untouched } from "./TenantPair.ts"

const Rows = Layer.mergeAll(HoldRepo.layer, ManualHoldRepo.layer, ReservationRepo.layer, StockRepo.layer).pipe(
  Layer.provideMerge(TestDatabase),
  Layer.provideMerge(Layer.succeed(CurrentActor, systemActor("org_default")))
)

const expire = (holder: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`update holds set expires_at = now() - interval '1 second'
      where organization_id = 'org_default' and holder = ${holder}`)

const manual = ({ order, sellable }: TenantPair, quantity: number) => ({
  orderId: order,
  entityId: sellable,
  sellable,
  warehouseId: null,
  quantity,
  performedBy: null
})

// The real clock: what waits for a lock has to be given up.
it.layer(Rows, { excludeTestServices: true })("stock of two organizations under the same names", (it) => {
  it.effect("a release ends our hold", () =>
    alone("held", ({ order }) => Effect.flatMap(HoldRepo, (repo) => repo.release(order)), {
      result: true,
      left: { ...untouched, reserved: 2, version: 1, order: "released", movements: 1 }
    }))

  it.effect("a release of what only the other one holds marks our own name", () =>
    Effect.gen(function*() {
      const pair = yield* pairs("held")
      const sql = yield* SqlClient.SqlClient
      yield* sql`delete from holds where organization_id = 'org_default' and holder = ${pair.order}`
      const before = yield* rowsOf("org_twin")
      assert.isFalse(yield* (yield* HoldRepo).release(pair.order))
      assert.strictEqual((yield* ours(pair))?.order, "released")
      assert.deepStrictEqual(yield* rowsOf("org_twin"), before)
    }))

  it.effect("a release that meets a hold on its way ends it, though the other one has held under that name all along", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const holder = randomUUID()
      yield* sql`insert into organizations (id, slug, name) values ('org_twin', 'twin', 'Twin') on conflict do nothing`
      yield* sql`insert into holds (organization_id, holder) values ('org_twin', ${holder})`
      const onItsWay = yield* sql.reserve
      yield* onItsWay.executeRaw("begin", [])
      yield* onItsWay.executeRaw("insert into holds (organization_id, holder) values ('org_default', $1)", [holder])
      const releasing = yield* Effect.forkChild((yield* HoldRepo).release(holder))
      yield* waiting(1)
      yield* onItsWay.executeRaw("commit", [])
      assert.isTrue(yield* Fiber.join(releasing))
    }).pipe(Effect.scoped))

  it.effect("the purge leaves a hold alone that somebody is at, though the other one's of that name may go", () =>
    Effect.gen(function*() {
      const pair = yield* pairs("released")
      const sql = yield* SqlClient.SqlClient
      yield* sql`update holds set state = 'released' where organization_id = 'org_twin' and holder = ${pair.order}`
      const busy = yield* sql.reserve
      yield* busy.executeRaw("begin", [])
      yield* busy.executeRaw("select 1 from holds where organization_id = 'org_default' for update", [])
      yield* Effect.timeout((yield* HoldRepo).purgeEnded(30), "5 seconds")
      yield* busy.executeRaw("rollback", [])
      assert.strictEqual((yield* ours(pair))?.order, "released")
      yield* (yield* HoldRepo).purgeEnded(30)
    }).pipe(Effect.scoped))

  it.effect("the expiry ends our hold whose time has run out", () =>
    alone(
      "held",
      ({ order }) => Effect.andThen(expire(order), Effect.flatMap(HoldRepo, (repo) => repo.expireDue)),
      { result: 1, left: { ...untouched, reserved: 2, version: 1, order: "expired", movements: 1 } }
    ))

  it.effect("the expiry ends both when both have run out, each once", () =>
    Effect.gen(function*() {
      const pair = yield* pairs("held")
      const sql = yield* SqlClient.SqlClient
      yield* sql`update holds set expires_at = now() - interval '1 second' where holder = ${pair.order}`
      assert.strictEqual(yield* (yield* HoldRepo).expireDue, 2)
      assert.strictEqual((yield* ours(pair))?.reserved, 2)
    }))

  it.effect("the purge deletes our holds that ended long ago", () =>
    alone("released", () => Effect.flatMap(HoldRepo, (repo) => repo.purgeEnded(30)), {
      result: 2,
      left: { ...untouched, order: null, manual: null, held: 0 }
    }))

  it.effect("a cancelled order gives our stock back", () =>
    alone("sold", ({ order }) => Effect.flatMap(HoldRepo, (repo) => repo.releaseSold(order)), {
      result: 6,
      left: { ...sold, reserved: 0, version: 1, order: "released", manual: "released", held: 0, movements: 2 }
    }))

  it.effect("a cancelled order whose hold has ended gives nothing back, though the other's is alive", () =>
    alone("released", ({ order }) => Effect.flatMap(HoldRepo, (repo) => repo.releaseSold(order)), {
      result: 0,
      left: { ...untouched, order: "released", manual: "released" }
    }))

  it.effect("a fulfilled order takes our stock off the shelf", () =>
    alone(
      "sold",
      ({ order }) =>
        Effect.map(Effect.flatMap(HoldRepo, (repo) => repo.fulfilSold(order)), (taken) =>
          taken.map(({ quantity }) => quantity).sort()),
      {
        result: [2, 4],
        left: {
          ...sold,
          on_hand: 4,
          reserved: 0,
          version: 1,
          order: "fulfilled",
          manual: "fulfilled",
          held: 0,
          movements: 2
        }
      }
    ))

  it.effect("a reservation by hand takes our units and sees no others", () =>
    alone(
      "held",
      (pair) =>
        Effect.flatMap(ManualHoldRepo, (repo) =>
          repo.reserve(manual(pair, 3), (levels) => {
            assert.deepStrictEqual(levels.map(({ available }) => available), [4])
            return Result.succeed([{ sellable: pair.sellable, warehouseId: pair.warehouse, quantity: 3 }])
          })),
      { result: undefined, left: { ...untouched, reserved: 9, version: 1, held: 9, movements: 1 } }
    ))

  it.effect("a release by hand gives our units back, and ends the hold when nothing is left", () =>
    Effect.gen(function*() {
      const release = (pair: TenantPair, units: number) =>
        Effect.flatMap(ManualHoldRepo, (repo) => repo.release(manual(pair, units)))
      yield* alone("held", (pair) => release(pair, 1), {
        result: 1,
        left: { ...untouched, reserved: 5, version: 1, held: 5, movements: 1 }
      })
      yield* alone("held", (pair) => release(pair, 2), {
        result: 2,
        left: { ...untouched, reserved: 4, version: 1, manual: "released", held: 4, movements: 1 }
      })
    }))

  it.effect("the desk reads our units, version and holds", () =>
    alone("held", ({ order, sellable }) =>
      Effect.gen(function*() {
        const repo = yield* ReservationRepo
        const stock = (yield* repo.load([sellable])).get(sellable)
        const holds = yield* repo.holds([order])
        return {
          version: stock?.version,
          available: stock?.levels.map(({ available }) => available),
          pricing: holds.map(({ pricing }) => pricing)
        }
      }), { result: { version: 0, available: [4], pricing: [`"org_default"`] }, left: untouched }))

  it.effect("the desk reserves for a holder whom only the other one knows", () =>
    Effect.gen(function*() {
      const pair = yield* pairs("held")
      const sql = yield* SqlClient.SqlClient
      const { sellable, warehouse } = pair
      const holder = randomUUID()
      yield* sql`insert into holds (organization_id, holder) values ('org_twin', ${holder})`
      const before = yield* rowsOf("org_twin")
      const line = { sellable, entityId: sellable, warehouseId: warehouse, quantity: 1 }
      const repo = yield* ReservationRepo
      const reserve = repo.reserve([{ sellable, version: 0, levels: [] }], [
        { holder, ttlSeconds: 900, pricing: "{}", lines: [line] }
      ])
      const outcome = yield* Effect.scoped(
        Effect.andThen(rowsAreTaken("org_twin"), Effect.timeout(reserve, "5 seconds"))
      )
      assert.deepStrictEqual(outcome, { stale: [], fresh: new Set([holder]), existing: [] })
      assert.deepStrictEqual(yield* ours(pair), { ...untouched, reserved: 7, version: 1, held: 7, movements: 1 })
      assert.deepStrictEqual(yield* rowsOf("org_twin"), before)
    }))

  it.effect("whoever wants our stock for himself waits for nobody of the other organization", () =>
    alone(
      "held",
      ({ order, sellable }) =>
        Effect.flatMap(ReservationRepo, (repo) => repo.alone([order], [sellable], Effect.succeed("alone"))),
      {
        result: "alone",
        left: untouched
      }
    ))

  it.effect("levels, sums and adjustments are ours", () =>
    Effect.gen(function*() {
      const pair = yield* pairs("held")
      const repo = yield* StockRepo
      const before = yield* rowsOf("org_twin")
      assert.deepStrictEqual(yield* repo.available([pair.sellable]), { [pair.sellable]: 4 })
      const listed = yield* repo.levels({ entityId: pair.sellable }, { page: 1, limit: 10 })
      assert.deepStrictEqual([listed.total, listed.items.map((level) => level.quantityOnHand)], [1, [10]])
      const from = yield* repo.adjustable({ entityId: pair.sellable, variantId: null, warehouseId: pair.warehouse })
      assert.deepStrictEqual([from.version, from.level.quantityOnHand], [0, 10])
      const written = yield* repo.adjust(from, { ...from.level, quantityOnHand: 11 }, {
        id: randomUUID(),
        type: "receipt",
        delta: 1,
        reason: null,
        performedBy: null,
        referenceType: null,
        referenceId: null
      })
      assert.isTrue(written)
      assert.deepStrictEqual(yield* ours(pair), { ...untouched, on_hand: 11, version: 1, movements: 1 })
      assert.deepStrictEqual(yield* rowsOf("org_twin"), before)
    }))
})
