import { Context, Effect, Layer, type Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor } from "../platform/access/Actor.ts"
import type { ValidationFailed } from "../platform/errors/ApiErrors.ts"
import { notFound } from "../platform/errors/ErrorKinds.ts"
import { changeLogRows } from "../platform/events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import type { EntityId, WarehouseId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import { manualHolder, type StockAllocation, WarehouseStock } from "./StockRules.ts"
import { allocateUnits, newHold, returnUnits } from "./StockStatements.ts"

export interface ManualHold {
  readonly orderId: string
  readonly entityId: EntityId
  readonly sellable: string
  readonly warehouseId: WarehouseId | null
  readonly quantity: number
  readonly performedBy: string | null
}

export class StockRecordNotFound extends notFound("StockRecord", "No inventory record.") {}
export class NothingReserved
  extends notFound("ManualHold", (orderId: string) => `Order '${orderId}' has nothing of this reserved.`)
{}

const levelJson = (reserved: string) =>
  `jsonb_build_object('id', x.id, 'entityId', x.entity_id, 'variantId', x.variant_id, 'warehouseId', x.warehouse_id,
    'quantityOnHand', x.on_hand, 'quantityReserved', ${reserved})`

const noted = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  type: "inventory.reserve" | "inventory.release",
  orderId: string,
  from: string
) =>
  changeLogRows(sql, actor, {
    type,
    entityType: "inventory",
    entityId: "x.id::text",
    payload: sql`${sql.literal(levelJson("x.reserved"))}
      || jsonb_build_object('orderId', ${orderId}::text, 'quantity', x.units)`,
    before: levelJson(type === "inventory.reserve" ? "x.reserved - x.units" : "x.reserved + x.units"),
    from: `${from} x`
  })

const LevelRow = Schema.Struct({ ...WarehouseStock.fields, isActive: Schema.Boolean })
const ReleasedRow = Schema.Struct({ known: Schema.Boolean, units: Schema.Int })

/** Manual reservations: one hold per order, which never expires. */
export class ManualHoldRepo extends Context.Service<ManualHoldRepo>()("stoa/domain/inventory/ManualHoldRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
}) {
  static readonly layer = Layer.effect(ManualHoldRepo, ManualHoldRepo.make)
}

const make = (sql: SqlClient.SqlClient) => {
  const reserve = Effect.fn("ManualHoldRepo.reserve")(
    function*(
      { entityId, orderId, performedBy, sellable, warehouseId }: ManualHold,
      allocate: (
        levels: ReadonlyArray<WarehouseStock>
      ) => Result.Result<ReadonlyArray<StockAllocation>, ValidationFailed>
    ) {
      const actor = yield* CurrentActor
      const organization = actor.organizationId
      const holder = manualHolder(orderId)
      yield* sql`${newHold(sql, organization, holder, "held")}
        on conflict (organization_id, holder) do update set state = 'held', updated_at = now()`
      yield* sql`select 1 from stock_items
        where organization_id = ${organization} and sellable_id = ${sellable}::uuid for update`
      const levels = yield* decoding(sql, LevelRow)`select l.warehouse_id as "warehouseId", w.priority,
          w.is_active as "isActive", l.on_hand - l.reserved as available
        from stock_levels l join warehouses w on w.id = l.warehouse_id
        where l.organization_id = ${organization} and l.sellable_id = ${sellable}::uuid
          and l.entity_id = ${entityId}::uuid
          and (${warehouseId}::uuid is null or l.warehouse_id = ${warehouseId}::uuid)`
      if (levels.length === 0) return yield* new StockRecordNotFound()
      const allocations = yield* Effect.fromResult(allocate(levels.filter(({ isActive }) => isActive)))
      const of = { organization, holder, orderId, entityId, sellable, performedBy: performedBy ?? actor.userId }
      yield* sql`with ${allocateUnits(sql, { ...of, allocations })},
        entry as (${noted(sql, actor, "inventory.reserve", orderId, "taken")})${idempotencyRecord(sql, actor)}
        select 1`
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", Effect.die)
  )

  const release = Effect.fn("ManualHoldRepo.release")(
    function*({ orderId, quantity, sellable, warehouseId }: ManualHold) {
      const actor = yield* CurrentActor
      const organization = actor.organizationId
      const holder = manualHolder(orderId)
      const returning = { organization, holder, sellable, warehouseId, quantity, reason: "released by hand" }
      yield* sql`select 1 from holds where organization_id = ${organization} and holder = ${holder} for update`
      const [row] = yield* decoding(sql, ReleasedRow)`with ${returnUnits(sql, returning)},
        ended as (update holds set state = 'released', updated_at = now()
          where organization_id = ${organization} and holder = ${holder} and state = 'held'
            and (select sum(quantity) from lines) = (select sum(quantity) from hold_lines
              where organization_id = ${organization} and holder = ${holder})),
        entry as (${noted(sql, actor, "inventory.release", orderId, "freed")})${idempotencyRecord(sql, actor, "lines")}
        select exists (select 1 from held) as known, coalesce(sum(quantity), 0)::int4 as units from lines`
      return row?.known === true ? row.units : yield* new NothingReserved(orderId)
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", Effect.die)
  )
  return { reserve, release }
}
