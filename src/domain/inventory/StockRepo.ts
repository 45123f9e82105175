import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { newId } from "../ids/Id.ts"
import { offsetOf, type PageRequest } from "../paging/Paging.ts"
import type { StockLevel } from "./StockLevel.ts"
import { type LevelRow, toLevel } from "./StockLevelRows.ts"
import type { AdjustmentMovement } from "./StockRules.ts"

/** Which level an adjustment is about; without a warehouse the active one with the lowest priority number. */
export interface StockTarget {
  readonly entityId: string
  readonly variantId: string | null
  readonly warehouseId: string | null
}

/** The starting point of an adjustment. Without a stored level, `level` is empty with version 0. */
export interface AdjustableStock {
  readonly entityKnown: boolean
  readonly variantKnown: boolean
  readonly warehouseId: string | null
  readonly version: number | null
  readonly level: StockLevel
  /** Whether the level is there yet. */
  readonly exists: boolean
}

/** The record of a change of what is on hand. */
export interface StockMovement {
  readonly id: string
  readonly type: AdjustmentMovement
  readonly delta: number
  readonly reason: string | null
  readonly performedBy: string | null
  readonly referenceType: string | null
  readonly referenceId: string | null
}

/** Which levels a list shows; absent shows all. */
export interface LevelFilter {
  readonly entityId?: string | undefined
  readonly warehouseId?: string | undefined
}

/** Levels of stock: what there is, and corrections of it. */
export class StockRepo extends Context.Service<StockRepo>()("stoa/domain/inventory/StockRepo", {
  make: Effect.map(
    SqlClient.SqlClient,
    (sql) => ({
      ...makeReads(sql),
      /** What an adjustment starts from, in one statement. */
      adjustable: makeAdjustable(sql),
      /**
       * Writes level, movement and the event inventory.afterAdjust in one statement, for the version they were decided on.
       * False, with nothing written, if another writer came first.
       */
      adjust: makeAdjust(sql),
      /** Runs an adjustment and what belongs to it in one transaction; a failure undoes all of it. */
      together: makeTogether(sql)
    })
  )
}) {
  static readonly layer = Layer.effect(StockRepo, StockRepo.make)
}

const makeReads = (sql: SqlClient.SqlClient) => {
  /** Units that can be sold of each entity, over all its variants and all active warehouses; 0 for unknown ones. */
  const available = Effect.fn("StockRepo.available")(function*(entityIds: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    const rows = yield* sql<{ entity_id: string; units: bigint }>`
      select l.entity_id, sum(greatest(l.on_hand - l.reserved, 0)) as units
      from stock_levels l join warehouses w on w.id = l.warehouse_id and w.is_active
      where l.organization_id = ${organization} and l.entity_id = any(${entityIds}::uuid[]) group by l.entity_id`
    const units = new Map(rows.map((row) => [row.entity_id, Number(row.units)]))
    return Object.fromEntries(entityIds.map((id) => [id, units.get(id.toLowerCase()) ?? 0]))
  }, Effect.orDie)
  const levels = Effect.fn("StockRepo.levels")(function*(filter: LevelFilter, page: PageRequest) {
    const organization = yield* currentOrganization
    const wanted = sql.and([
      sql`l.organization_id = ${organization}`,
      ...(filter.entityId === undefined ? [] : [sql`l.entity_id = ${filter.entityId}::uuid`]),
      ...(filter.warehouseId === undefined ? [] : [sql`l.warehouse_id = ${filter.warehouseId}::uuid`])
    ])
    const counts = yield* sql<{ total: bigint }>`select count(*) as total from stock_levels l where ${wanted}`
    const rows = yield* sql<LevelRow>`select l.*, i.version from stock_levels l
      join stock_items i on i.organization_id = l.organization_id and i.sellable_id = l.sellable_id
      where ${wanted} order by l.sellable_id, l.warehouse_id limit ${page.limit} offset ${offsetOf(page)}`
    return { ...page, items: rows.map(toLevel), total: Number(counts[0]?.total ?? 0n) }
  }, Effect.orDie)
  return { available, levels }
}

const makeTogether = (sql: SqlClient.SqlClient) => <A, E, R>(work: Effect.Effect<A, E, R>) =>
  // A failure of the work is wrapped to keep it apart from errors of the transaction, which are defects.
  sql.withTransaction(Effect.mapError(work, (error) => new Undone<E>(error))).pipe(
    Effect.catch((error) => error instanceof Undone ? Effect.fail(error.reason) : Effect.die(error)),
    Effect.withSpan("StockRepo.together")
  )

/** Why a transaction is given up. */
class Undone<E> {
  readonly reason: E
  constructor(reason: E) {
    this.reason = reason
  }
}

interface AdjustableRow extends Omit<LevelRow, "id" | "version"> {
  readonly entity_known: boolean
  readonly variant_known: boolean
  readonly target_warehouse: string | null
  readonly id: string | null
  readonly version: bigint | null
  readonly now: Date
}

const makeAdjustable = (sql: SqlClient.SqlClient) =>
  Effect.fn("StockRepo.adjustable")(function*({ entityId, variantId, warehouseId }: StockTarget) {
    const organization = yield* currentOrganization
    const sellable = variantId ?? entityId
    const rows = yield* sql<AdjustableRow>`select
        exists (select 1 from catalog_entities_read where organization_id = ${organization} and id = ${entityId}::uuid)
          as entity_known,
        ${variantId}::uuid is null or exists (select 1 from variants_read where organization_id = ${organization}
          and id = ${variantId}::uuid and entity_id = ${entityId}::uuid) as variant_known,
        w.id as target_warehouse, i.version, l.id, l.on_hand, l.reserved, l.incoming, l.unit_cost, l.reorder_threshold,
        l.reorder_quantity, l.allow_negative, l.last_restocked_at, now() as now
      from (select 1) one
      left join lateral (select id from warehouses where organization_id = ${organization}
        and (id = ${warehouseId}::uuid or ${warehouseId}::uuid is null and is_active)
        order by priority, id limit 1) w on true
      left join stock_items i on i.organization_id = ${organization} and i.sellable_id = ${sellable}::uuid
      left join stock_levels l on l.organization_id = ${organization} and l.sellable_id = ${sellable}::uuid
        and l.warehouse_id = w.id`
    const [row] = rows
    if (row === undefined) return yield* Effect.die(new Error("A select without a from clause gave no row."))
    const here = { organization_id: organization, entity_id: entityId.toLowerCase(), updated_at: row.now }
    const target = { variant_id: variantId?.toLowerCase() ?? null, warehouse_id: row.target_warehouse ?? entityId }
    const blank = { on_hand: 0, reserved: 0, incoming: 0, allow_negative: false }
    return {
      entityKnown: row.entity_known,
      variantKnown: row.variant_known,
      warehouseId: row.target_warehouse,
      version: row.version === null ? null : Number(row.version),
      exists: row.id !== null,
      level: toLevel({
        ...row,
        ...(row.id === null ? blank : {}),
        ...here,
        ...target,
        id: row.id ?? newId(),
        version: row.version ?? 0n
      })
    }
  }, Effect.orDie)

const makeAdjust = (sql: SqlClient.SqlClient) =>
  Effect.fn("StockRepo.adjust")(function*(from: AdjustableStock, level: StockLevel, movement: StockMovement) {
    const actor = yield* CurrentActor
    const event = {
      type: "inventory.afterAdjust",
      entityType: "inventory",
      entityId: level.id,
      payload: level,
      before: from.exists ? from.level : null
    } as const
    const sellable = level.variantId ?? level.entityId
    // The fence: a missing item must still be missing, an existing one must still have the version read. This makes the
    // absolute quantity below safe, because every change of a level moves the version.
    const rows = yield* sql`with item as (
        insert into stock_items as i (organization_id, sellable_id, version)
        values (${actor.organizationId}, ${sellable}::uuid, 1)
        on conflict (organization_id, sellable_id) do update set version = i.version + 1
          where i.version = ${from.version ?? -1}::int8
        returning version),
      level as (
        insert into stock_levels (id, organization_id, sellable_id, warehouse_id, entity_id, variant_id, on_hand,
          unit_cost, reorder_threshold, reorder_quantity, allow_negative, last_restocked_at, updated_at)
        select ${level.id}::uuid, ${actor.organizationId}, ${sellable}::uuid, ${level.warehouseId}::uuid,
          ${level.entityId}::uuid, ${level.variantId}::uuid, ${level.quantityOnHand}::int4, ${level.unitCost}::int8,
          ${level.reorderThreshold}::int4, ${level.reorderQuantity}::int4, ${level.allowNegative}::boolean,
          ${level.lastRestockedAt}::timestamptz, ${level.updatedAt}::timestamptz from item
        on conflict (organization_id, sellable_id, warehouse_id) do update set on_hand = excluded.on_hand,
          unit_cost = excluded.unit_cost, reorder_threshold = excluded.reorder_threshold,
          reorder_quantity = excluded.reorder_quantity, allow_negative = excluded.allow_negative,
          last_restocked_at = excluded.last_restocked_at, updated_at = excluded.updated_at),
      movement as (
        insert into stock_movements (id, organization_id, entity_id, variant_id, warehouse_id, type, quantity,
          reference_type, reference_id, reason, performed_by)
        select ${movement.id}::uuid, ${actor.organizationId}, ${level.entityId}::uuid, ${level.variantId}::uuid,
          ${level.warehouseId}::uuid, ${movement.type}, ${movement.delta}::int4, ${movement.referenceType}::text,
          ${movement.referenceId}::text, ${movement.reason}::text, ${movement.performedBy}::text from item),
      event as (${changeLogInsert(sql, actor, [event], "item")})${idempotencyRecord(sql, actor, "item")}
      select 1 from item`
    return rows.length === 1
  }, Effect.orDie)
