import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import type { Sellable } from "../catalog/Sellables.ts"
import { journalInsert } from "../events/JournalRepo.ts"
import type { StockLevel } from "./StockLevel.ts"
import { type LevelRow, toLevel } from "./StockLevelRows.ts"

/** What a batch of levels starts from; the sellables are locked until its end. */
export interface StockState {
  /** By `levelKey`. */
  readonly levels: ReadonlyMap<string, StockLevel>
  /** Ids by code. */
  readonly warehouses: ReadonlyMap<string, string>
  /** The active one that comes first. */
  readonly firstWarehouse: string | undefined
}

/** A level that changes, and the record of its change. */
export interface StockWrite {
  readonly before: StockLevel | undefined
  readonly after: StockLevel
  readonly delta: number
  readonly movementId: string
  readonly performedBy: string | null
}

/** What a level is known by. */
export const levelKey = ({ entityId, variantId }: Sellable, warehouseId: string): string =>
  `${variantId ?? entityId} ${warehouseId}`

/** Batches of stock. */
export class StockBatchRepo extends Context.Service<StockBatchRepo, {
  /**
   * Three statements. The fence of every sellable is locked, in the order of their ids, and made where there is none: from
   * then on nobody else changes a level of them until the batch is over.
   */
  readonly read: (sellables: ReadonlyArray<Sellable>) => Effect.Effect<StockState, never, CurrentActor>
  /** Levels, versions, movements and the journal, in one statement. */
  readonly write: (writes: ReadonlyArray<StockWrite>) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/inventory/StockBatchRepo") {
  static readonly layer = Layer.effect(StockBatchRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

const columns =
  `id uuid, "entityId" uuid, "variantId" uuid, "warehouseId" uuid, "quantityOnHand" int, "unitCost" bigint,
  "reorderThreshold" int, "reorderQuantity" int, "allowNegative" boolean, "updatedAt" timestamptz, delta int,
  movement uuid, performer text`

const make = (sql: SqlClient.SqlClient): StockBatchRepo["Service"] => {
  const read = Effect.fn("StockBatchRepo.read")(function*(sellables: ReadonlyArray<Sellable>) {
    const organization = yield* currentOrganization
    const ids = [...new Set(sellables.map(({ entityId, variantId }) => variantId ?? entityId))].toSorted()
    // An update that changes nothing takes the lock, and gives the newest row to this statement.
    yield* sql`insert into stock_items as i (organization_id, sellable_id)
      select ${organization}, id from unnest(${ids}::uuid[]) id order by id
      on conflict (organization_id, sellable_id) do update set version = i.version`
    const levels = yield* sql<LevelRow>`select l.*, i.version from stock_levels l
      join stock_items i on i.organization_id = l.organization_id and i.sellable_id = l.sellable_id
      where l.organization_id = ${organization} and l.sellable_id = any(${ids}::uuid[])
        and i.sellable_id = any(${ids}::uuid[])`.unprepared
    interface WarehouseRow {
      readonly id: string
      readonly code: string
      readonly is_active: boolean
    }
    const warehouses = yield* sql<WarehouseRow>`select id, code, is_active from warehouses
      where organization_id = ${organization} order by priority, id`
    return {
      levels: new Map(levels.map((row) => {
        const level = toLevel(row)
        return [levelKey(level, level.warehouseId), level]
      })),
      warehouses: new Map(warehouses.map(({ code, id }) => [code, id])),
      firstWarehouse: warehouses.find((row) => row.is_active)?.id
    }
  }, Effect.orDie)

  const write = Effect.fn("StockBatchRepo.write")(function*(writes: ReadonlyArray<StockWrite>) {
    if (writes.length === 0) return
    const actor = yield* CurrentActor
    const organization = actor.organizationId
    const rows = JSON.stringify(writes.map(({ after, delta, movementId, performedBy }) => ({
      ...after,
      delta,
      movement: movementId,
      performer: performedBy
    })))
    const changes = writes.map(({ after, before }) => ({
      type: "inventory.afterAdjust" as const,
      entityType: "inventory" as const,
      entityId: after.id,
      payload: after,
      before: before ?? null
    }))
    yield* sql`with input as materialized (
        select *, coalesce("variantId", "entityId") as sellable
        from jsonb_to_recordset(${rows}::jsonb) as x(${sql.literal(columns)})),
      items as (update stock_items i set version = i.version + 1 from (select distinct sellable from input) s
        where i.organization_id = ${organization} and i.sellable_id = s.sellable),
      levels as (
        insert into stock_levels (id, organization_id, sellable_id, warehouse_id, entity_id, variant_id, on_hand,
          unit_cost, reorder_threshold, reorder_quantity, allow_negative, updated_at)
        select id, ${organization}, sellable, "warehouseId", "entityId", "variantId", "quantityOnHand", "unitCost",
          "reorderThreshold", "reorderQuantity", "allowNegative", "updatedAt" from input
        on conflict (organization_id, sellable_id, warehouse_id) do update set on_hand = excluded.on_hand,
          unit_cost = excluded.unit_cost, reorder_threshold = excluded.reorder_threshold,
          reorder_quantity = excluded.reorder_quantity, allow_negative = excluded.allow_negative,
          updated_at = excluded.updated_at),
      movements as (
        insert into stock_movements (id, organization_id, entity_id, variant_id, warehouse_id, type, quantity, reason,
          performed_by)
        select movement, ${organization}, "entityId", "variantId", "warehouseId", 'adjustment', delta, 'import',
          performer from input where delta <> 0),
      entries as (${journalInsert(sql, actor, changes)})
      select 1`
  }, Effect.orDie)

  return { read, write }
}
