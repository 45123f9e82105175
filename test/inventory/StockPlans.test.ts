import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { HoldRepo } from "../../src/domain/inventory/HoldRepo.ts"
import { ManualHoldRepo } from "../../src/domain/inventory/ManualHoldRepo.ts"
import { ReservationRepo } from "../../src/domain/inventory/ReservationRepo.ts"
import { StockPostingRepo } from "../../src/domain/inventory/StockPostingRepo.ts"
import { StockRepo } from "../../src/domain/inventory/StockRepo.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { type EntityId, OrderId, type WarehouseId } from "../../src/domain/platform/ids/Id.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { addWarehouse, organization, stockUp } from "./StockRows.ts"

/**
 * One connection, whose plans are made once without looking at the parameters: what a long-lived process ends up with,
 * and on an empty table the worst it can end up with.
 */
const OneConnection = Layer.unwrap(Effect.map(freshDatabase, ({ url }) =>
  PgClient.layer({
    url: Redacted.make(url),
    maxConnections: 1,
    startupOptions: "-c plan_cache_mode=force_generic_plan"
  })))

const Rows = Layer.mergeAll(
  HoldRepo.layer,
  ManualHoldRepo.layer,
  ReservationRepo.layer,
  StockPostingRepo.layer,
  StockRepo.layer
).pipe(
  Layer.provideMerge(OneConnection),
  Layer.provideMerge(Layer.succeed(CurrentActor, systemActor(organization)))
)

const lineOf = (warehouseId: WarehouseId) => (entityId: EntityId) => ({
  entityId,
  variantId: null,
  warehouseId,
  delta: 1,
  incoming: 0,
  inTransit: 0,
  unitCost: 3,
  average: true,
  type: "receipt" as const,
  allowNegative: false,
  reason: null
})

const tables = ["stock_items", "stock_levels", "holds", "hold_lines"]

/** Reads of the stock tables by this connection so far: whole tables, and entries of their indexes. */
const reads = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select pg_stat_force_next_flush()`
  yield* sql`select pg_stat_clear_snapshot()`
  const rows = yield* sql<{ scans: number; entries: number }>`select sum(t.seq_scan)::int4 as scans,
    (select sum(i.idx_tup_read)::int4 from pg_stat_user_indexes i where i.relname = any(${tables}::text[])) as entries
    from pg_stat_user_tables t where t.relname = any(${tables}::text[])`
  return rows[0] ?? { scans: 0, entries: 0 }
})

const fill = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const warehouse = yield* addWarehouse()
  yield* sql`insert into stock_items (organization_id, sellable_id)
    select ${organization}, gen_random_uuid() from generate_series(1, 20000)`
  yield* sql`insert into stock_levels (id, organization_id, sellable_id, warehouse_id, entity_id, on_hand, reserved)
    select gen_random_uuid(), ${organization}, sellable_id, ${warehouse}::uuid, sellable_id, 50, 1 from stock_items
    where not exists (select 1 from stock_levels l where l.sellable_id = stock_items.sellable_id)`
  yield* sql`insert into holds (organization_id, holder, state, expires_at)
    select ${organization}, 'old ' || i, case when i % 2 = 0 then 'sold' else 'held' end, now() + interval '1 day'
    from generate_series(1, 20000) i`
  yield* sql`insert into hold_lines (organization_id, holder, sellable_id, warehouse_id, quantity)
    select ${organization}, 'old ' || row_number() over (), sellable_id, ${warehouse}::uuid, 1
    from stock_items limit 20000`
})

/** Every kind of read and write once, over these sellables. */
const everything = Effect.fnUntraced(function*(warehouseId: WarehouseId, sellables: ReadonlyArray<EntityId>) {
  const sql = yield* SqlClient.SqlClient
  const reservations = yield* ReservationRepo
  const holds = yield* HoldRepo
  const hands = yield* ManualHoldRepo
  const stock = yield* StockRepo
  const lines = sellables.map((sellable) => ({ sellable, entityId: sellable, warehouseId, quantity: 1 }))
  const [dropped, due, cancelled, shipped] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  for (const holder of [dropped, due, cancelled, shipped]) {
    const fences = yield* reservations.load(sellables)
    yield* reservations.reserve([...fences.values()], [{ holder, ttlSeconds: 60, pricing: "{}", lines }])
  }
  yield* reservations.holds([dropped, due])
  yield* holds.release(dropped)
  yield* sql`update holds set expires_at = now() where organization_id = ${organization} and holder = ${due}`
  assert.strictEqual(yield* holds.expireDue, 1)
  assert.strictEqual(yield* holds.releaseSold(OrderId.make(cancelled)), sellables.length)
  assert.strictEqual((yield* holds.fulfilSold(OrderId.make(shipped))).length, sellables.length)
  for (const sellable of sellables) {
    const hold = { orderId: "by hand", entityId: sellable, sellable, warehouseId: null, quantity: 1, performedBy: null }
    yield* hands.reserve(hold, () => Result.succeed([{ sellable, warehouseId, quantity: 1 }]))
    assert.strictEqual(yield* hands.release(hold), 1)
    const target = { entityId: sellable, variantId: null, warehouseId }
    const from = yield* stock.adjustable(target)
    const movement = { id: randomUUID(), type: "receipt", delta: 0, reason: null, performedBy: null } as const
    assert.isTrue(yield* stock.adjust(from, from.level, { ...movement, referenceType: null, referenceId: null }))
  }
  const posting = { reference: { type: "test", id: randomUUID() }, lines: sellables.map(lineOf(warehouseId)) }
  yield* (yield* StockPostingRepo).post(posting)
  yield* stock.available(sellables)
  yield* holds.purgeEnded(1)
})

it.layer(Rows)("the statements of stock", (it) => {
  it.effect("read what they need through indexes, with plans made on empty tables and on full ones", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const warehouse = yield* addWarehouse()
      const sellables = yield* Effect.forEach(Array.from({ length: 5 }), () => stockUp([[warehouse, 90]]))
      yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
        select id, ${organization}, 'product', id::text, 'active', true from unnest(${sellables}::uuid[]) id`
      yield* everything(warehouse, sellables)
      yield* fill
      for (const analyzed of [false, true]) {
        if (analyzed) { for (const table of tables) yield* sql`analyze ${sql(table)}` }
        const before = yield* reads
        yield* everything(warehouse, sellables)
        const after = yield* reads
        assert.strictEqual(after.scans - before.scans, 0, `whole tables read, analyzed: ${analyzed}`)
        // About a dozen statements over five sellables, and a purge of up to a thousand holds with their lines. The tables
        // have 80,000 entries, so that reading a whole one exceeds the limit.
        assert.isBelow(after.entries - before.entries, 8_000, `index entries read, analyzed: ${analyzed}`)
      }
    }))
})
