import { assert, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import { HoldRepo } from "../../src/domain/inventory/HoldRepo.ts"
import { ManualHoldRepo } from "../../src/domain/inventory/ManualHoldRepo.ts"
import { ReservationRepo } from "../../src/domain/inventory/ReservationRepo.ts"
import { StockRepo } from "../../src/domain/inventory/StockRepo.ts"
import { TestDatabase } from "../support/Postgres.ts"

const Rows = Layer.mergeAll(HoldRepo.layer, ManualHoldRepo.layer, ReservationRepo.layer, StockRepo.layer).pipe(
  Layer.provideMerge(TestDatabase),
  Layer.provideMerge(Layer.succeed(CurrentActor, systemActor("org_default")))
)

/** Names that two organizations share: holders are any text, and the keys of the tables begin with the organization. */
interface Twins {
  readonly order: string
  readonly sellable: string
  readonly warehouse: string
}

/**
 * The same sellable in the same warehouse, held by the same order with 4 units and by hand with 2, in our organization
 * (10 on hand) and in the other one (100 on hand, version 7). `state` is the one of our holds; the other's are alive.
 * The other's rows lie first in the tables, where a statement that does not tell them apart finds them first.
 */
const twins = Effect.fnUntraced(function*(state: "held" | "sold" | "released") {
  const sql = yield* SqlClient.SqlClient
  const twin: Twins = { order: randomUUID(), sellable: randomUUID(), warehouse: randomUUID() }
  yield* sql`insert into organizations (id, slug, name) values ('org_twin', 'twin', 'Twin') on conflict do nothing`
  yield* sql`insert into warehouses (id, organization_id, name, code)
    values (${twin.warehouse}::uuid, 'org_default', 'Shared', ${twin.warehouse})`
  for (
    const [organization, onHand, version, now] of [["org_twin", 100, 7, "held"], ["org_default", 10, 0, state]] as const
  ) {
    yield* sql`insert into stock_items values (${organization}, ${twin.sellable}::uuid, ${version})`
    yield* sql`insert into stock_levels (id, organization_id, sellable_id, warehouse_id, entity_id, on_hand, reserved)
      values (gen_random_uuid(), ${organization}, ${twin.sellable}::uuid, ${twin.warehouse}::uuid,
        ${twin.sellable}::uuid, ${onHand}, 6)`
    for (const [holder, quantity] of [[twin.order, 4], [`manual:${twin.order}`, 2]] as const) {
      yield* sql`insert into holds (organization_id, holder, state, decision, expires_at, updated_at)
        values (${organization}, ${holder}, ${now}, to_jsonb(${organization}::text), now() + interval '1 hour',
          case when ${now} = 'released' then now() - interval '100 days' else now() end)`
      yield* sql`insert into hold_lines values (${organization}, ${holder}, ${twin.sellable}::uuid,
        ${twin.warehouse}::uuid, ${quantity})`
    }
  }
  return twin
})

const tables = ["stock_items", "stock_levels", "holds", "hold_lines", "stock_movements"]

/** Everything an organization has of the stock, as text. */
const rowsOf = Effect.fnUntraced(function*(organization: string) {
  const sql = yield* SqlClient.SqlClient
  const found = yield* Effect.forEach(
    tables,
    (table) =>
      sql<{ row: string }>`select t::text as row from ${
        sql(table)
      } t where organization_id = ${organization} order by 1`
  )
  return found.flat().map(({ row }) => row)
})

interface Ours {
  readonly on_hand: number
  readonly reserved: number
  readonly version: number
  readonly order: string | null
  readonly manual: string | null
  readonly held: number
  readonly movements: number
}

/** What is left in our organization: units, the state of both holds, units they still hold, movements. */
const ours = Effect.fnUntraced(function*({ order, sellable }: Twins) {
  const sql = yield* SqlClient.SqlClient
  const stateOf = (holder: string) =>
    sql`(select state from holds where organization_id = 'org_default' and holder = ${holder})`
  const [row] = yield* sql<Ours>`select l.on_hand, l.reserved, i.version::int4 as version, ${stateOf(order)} as order,
      ${stateOf(`manual:${order}`)} as manual,
      (select coalesce(sum(quantity), 0)::int4 from hold_lines h
        where h.organization_id = 'org_default' and h.sellable_id = i.sellable_id) as held,
      (select count(*)::int4 from stock_movements m
        where m.organization_id = 'org_default' and m.entity_id = i.sellable_id) as movements
    from stock_items i join stock_levels l using (organization_id, sellable_id)
    where i.organization_id = 'org_default' and i.sellable_id = ${sellable}::uuid`
  return row
})

/** Somebody of the other organization is at all of its rows until the scope closes: whoever wants one has to wait. */
const theirsAreTaken = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const connection = yield* sql.reserve
  yield* connection.executeRaw("begin", [])
  yield* Effect.addFinalizer(() => Effect.ignore(connection.executeRaw("rollback", [])))
  for (const table of tables) {
    yield* connection.executeRaw(`select 1 from ${table} where organization_id = 'org_twin' for update`, [])
  }
})

/**
 * Does it to our twin while somebody is at the other's rows: it does not wait, its result and what is left are as said,
 * and nothing of the other organization has moved.
 */
const alone = Effect.fnUntraced(function*<A, E, R>(
  state: "held" | "sold" | "released",
  act: (twin: Twins) => Effect.Effect<A, E, R>,
  expected: { readonly result: A; readonly left: Ours }
) {
  const twin = yield* twins(state)
  const before = yield* rowsOf("org_twin")
  const result = yield* Effect.scoped(Effect.andThen(theirsAreTaken, Effect.timeout(act(twin), "5 seconds")))
  assert.deepStrictEqual(result, expected.result)
  assert.deepStrictEqual(yield* ours(twin), expected.left)
  assert.deepStrictEqual(yield* rowsOf("org_twin"), before)
})

const untouched: Ours = { on_hand: 10, reserved: 6, version: 0, order: "held", manual: "held", held: 6, movements: 0 }
const sold: Ours = { ...untouched, order: "sold", manual: "sold" }

const expire = (holder: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`update holds set expires_at = now() - interval '1 second'
      where organization_id = 'org_default' and holder = ${holder}`)

const manual = ({ order, sellable }: Twins, quantity: number) => ({
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
      const twin = yield* twins("held")
      const sql = yield* SqlClient.SqlClient
      yield* sql`delete from holds where organization_id = 'org_default' and holder = ${twin.order}`
      const before = yield* rowsOf("org_twin")
      assert.isFalse(yield* (yield* HoldRepo).release(twin.order))
      assert.strictEqual((yield* ours(twin))?.order, "released")
      assert.deepStrictEqual(yield* rowsOf("org_twin"), before)
    }))

  it.effect("the expiry ends our hold whose time has run out", () =>
    alone(
      "held",
      ({ order }) => Effect.andThen(expire(order), Effect.flatMap(HoldRepo, (repo) => repo.expireDue)),
      { result: 1, left: { ...untouched, reserved: 2, version: 1, order: "expired", movements: 1 } }
    ))

  it.effect("the expiry ends both when both have run out, each once", () =>
    Effect.gen(function*() {
      const twin = yield* twins("held")
      const sql = yield* SqlClient.SqlClient
      yield* sql`update holds set expires_at = now() - interval '1 second' where holder = ${twin.order}`
      assert.strictEqual(yield* (yield* HoldRepo).expireDue, 2)
      assert.strictEqual((yield* ours(twin))?.reserved, 2)
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
      (twin) =>
        Effect.flatMap(ManualHoldRepo, (repo) =>
          repo.reserve(manual(twin, 3), (levels) => {
            assert.deepStrictEqual(levels.map(({ available }) => available), [4])
            return Result.succeed([{ sellable: twin.sellable, warehouseId: twin.warehouse, quantity: 3 }])
          })),
      { result: undefined, left: { ...untouched, reserved: 9, version: 1, held: 9, movements: 1 } }
    ))

  it.effect("a release by hand gives our units back, and ends the hold when nothing is left", () =>
    Effect.gen(function*() {
      const release = (twin: Twins, units: number) =>
        Effect.flatMap(ManualHoldRepo, (repo) => repo.release(manual(twin, units)))
      yield* alone("held", (twin) => release(twin, 1), {
        result: 1,
        left: { ...untouched, reserved: 5, version: 1, held: 5, movements: 1 }
      })
      yield* alone("held", (twin) => release(twin, 2), {
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
          decisions: holds.map(({ decision }) => decision)
        }
      }), { result: { version: 0, available: [4], decisions: [`"org_default"`] }, left: untouched }))

  it.effect("the desk reserves for a holder whom only the other one knows", () =>
    Effect.gen(function*() {
      const twin = yield* twins("held")
      const sql = yield* SqlClient.SqlClient
      const { sellable, warehouse } = twin
      const holder = randomUUID()
      yield* sql`insert into holds (organization_id, holder) values ('org_twin', ${holder})`
      const before = yield* rowsOf("org_twin")
      const line = { sellable, entityId: sellable, warehouseId: warehouse, quantity: 1 }
      const repo = yield* ReservationRepo
      const reserve = repo.reserve([{ sellable, version: 0, levels: [] }], [
        { holder, ttlSeconds: 900, decision: "{}", lines: [line] }
      ])
      const outcome = yield* Effect.scoped(Effect.andThen(theirsAreTaken, Effect.timeout(reserve, "5 seconds")))
      assert.deepStrictEqual(outcome, { stale: [], fresh: new Set([holder]), had: [] })
      assert.deepStrictEqual(yield* ours(twin), { ...untouched, reserved: 7, version: 1, held: 7, movements: 1 })
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
      const twin = yield* twins("held")
      const repo = yield* StockRepo
      const before = yield* rowsOf("org_twin")
      assert.deepStrictEqual(yield* repo.available([twin.sellable]), { [twin.sellable]: 4 })
      const listed = yield* repo.levels({ entityId: twin.sellable }, { page: 1, limit: 10 })
      assert.deepStrictEqual([listed.total, listed.items.map((level) => level.quantityOnHand)], [1, [10]])
      const from = yield* repo.adjustable({ entityId: twin.sellable, variantId: null, warehouseId: twin.warehouse })
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
      assert.deepStrictEqual(yield* ours(twin), { ...untouched, on_hand: 11, version: 1, movements: 1 })
      assert.deepStrictEqual(yield* rowsOf("org_twin"), before)
    }))
})
