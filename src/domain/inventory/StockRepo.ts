import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlError, type Statement } from "effect/sql"
import type { Sellable } from "../catalog/Sellables.ts"
import { CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { changeLogInsert } from "../platform/events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import { EntityId, newId, nilId, WarehouseId } from "../platform/ids/Id.ts"
import { totalOf } from "../platform/paging/ListTotalsRepo.ts"
import { offsetOf, type PageRequest } from "../platform/paging/Paging.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Table } from "../platform/records/Table.ts"
import { Time } from "../platform/text/Time.ts"
import type { ResultingStock } from "./StockAdjustment.ts"
import { emptyLevel, StockLevel } from "./StockLevel.ts"
import { costOf, lockVersions } from "./StockStatements.ts"
import { stockLevels, stockMovements } from "./StockTables.ts"

export const levels = new Table("stock_levels", StockLevel, {
  computed: {
    quantityOnHand: "l.on_hand",
    quantityReserved: "l.reserved",
    quantityIncoming: "l.incoming",
    quantityInTransit: "l.in_transit",
    averageCost: `trim_scale(${costOf("l")})::text`,
    available: "l.on_hand - l.reserved",
    version: "i.version"
  }
})

const columns = levels.columns("l")

const adjusted = stockLevels.sets("excluded", [
  "onHand",
  "unitCost",
  "reorderThreshold",
  "reorderQuantity",
  "allowNegative",
  "lastRestockedAt",
  "updatedAt"
])

export interface StockTarget extends Sellable {
  readonly warehouseId: WarehouseId | null
}

const Adjustable = Schema.Struct({
  entityKnown: Schema.Boolean,
  variantKnown: Schema.Boolean,
  counted: Schema.Boolean,
  warehouseId: Schema.NullOr(WarehouseId),
  version: Schema.NullOr(Schema.Int),
  backordered: Schema.Int,
  level: Schema.NullOr(StockLevel),
  now: Time
})

export interface AdjustableStock extends Omit<typeof Adjustable.Type, "now"> {
  readonly level: StockLevel
  readonly exists: boolean
}

export interface StockMovement {
  readonly id: string
  readonly type: ResultingStock["movement"]
  readonly delta: number
  readonly reason: string | null
  readonly performedBy: string | null
  readonly referenceType: string | null
  readonly referenceId: string | null
}

export interface LevelFilter {
  readonly entityId?: EntityId | undefined
  readonly warehouseId?: WarehouseId | undefined
}

/** Tests in SQL for counted units of an entity, or of its variant; true for unknown ones. */
export const countedOf = (
  sql: SqlClient.SqlClient,
  organization: string,
  entity: Statement.Fragment,
  variant: Statement.Fragment
): Statement.Fragment =>
  sql`coalesce(
      (select manage_inventory from variants_read
        where organization_id = ${organization} and id = ${variant} and entity_id = ${entity} limit 1),
      (select manage_inventory from catalog_entities_read
        where organization_id = ${organization} and id = ${entity} limit 1),
      true)`

/** Levels of stock: what there is, and corrections of it. */
export class StockRepo extends Context.Service<StockRepo>()("stoa/domain/inventory/StockRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => ({ ...makeReads(sql), ...makeAdjustable(sql), ...makeAdjust(sql) }))
}) {
  static readonly layer = Layer.effect(StockRepo, StockRepo.make)
}

const makeReads = (sql: SqlClient.SqlClient) => {
  /**
   * Units that can be sold of each entity, over all its variants and all active warehouses, less those that orders wait
   * for; 0 for unknown ones, null for those that are not counted.
   */
  const available = Effect.fn("StockRepo.available")(function*(entityIds: ReadonlyArray<EntityId>) {
    const organization = yield* currentOrganization
    const rows = yield* decoding(sql, Schema.Struct({ entityId: EntityId, units: Schema.NullOr(Schema.Int) }))`
      select i.id as "entityId", case when ${
      countedOf(sql, organization, sql`i.id`, sql`null::uuid`)
    } then coalesce(u.units, 0) - coalesce((
        select sum(k.backordered) from stock_items k
        where k.organization_id = ${organization} and k.sellable_id = any(array(
          select i.id union all select v.id from variants_read v
          where v.organization_id = ${organization} and v.entity_id = i.id))), 0) end as units
      from unnest(${entityIds}::uuid[]) i(id) left join (
        select l.entity_id, sum(greatest(l.on_hand - l.reserved, 0)) as units
        from stock_levels l join warehouses w on w.id = l.warehouse_id and w.is_active
        where l.organization_id = ${organization} and l.entity_id = any(${entityIds}::uuid[]) group by l.entity_id
      ) u on u.entity_id = i.id`
    return Object.fromEntries(rows.map(({ entityId, units }) => [entityId, units]))
  }, Effect.orDie)

  const list = Effect.fn("StockRepo.levels")(function*(filter: LevelFilter, page: PageRequest) {
    const organization = yield* currentOrganization
    const wanted = sql.and([
      sql`l.organization_id = ${organization}`,
      ...(filter.entityId === undefined ? [] : [sql`l.entity_id = ${filter.entityId}::uuid`]),
      ...(filter.warehouseId === undefined ? [] : [sql`l.warehouse_id = ${filter.warehouseId}::uuid`])
    ])
    const { entityId, warehouseId } = filter
    const total = entityId === undefined
      ? totalOf(sql, organization, "stock_levels", warehouseId === undefined ? undefined : [warehouseId])
      : sql`(select count(*) from stock_levels l where ${wanted})`
    const [counted] = yield* decoding(sql, Schema.Struct({ total: Schema.Int }))`select ${total} as total`
    const items = yield* levels.rows(sql)`select ${sql.literal(columns)} from stock_levels l
      join stock_items i on i.organization_id = l.organization_id and i.sellable_id = l.sellable_id
      where ${wanted} order by l.sellable_id, l.warehouse_id limit ${page.limit} offset ${offsetOf(page)}`
    return { ...page, items, total: counted?.total ?? 0 }
  }, Effect.orDie)

  /**
   * Locks the version row of every sellable in id order, and creates missing ones: no other writer changes their
   * levels. Three statements.
   */
  const lockForImport = Effect.fn("StockRepo.lockForImport")(function*(sellables: ReadonlyArray<Sellable>) {
    const organization = yield* currentOrganization
    const ids = sellables.map(({ entityId, variantId }) => variantId ?? entityId)
    yield* lockVersions(sql, organization, ids)
    const stored = yield* levels.rows(sql, "unprepared")`select ${sql.literal(columns)} from stock_levels l
      join stock_items i on i.organization_id = l.organization_id and i.sellable_id = l.sellable_id
      where l.organization_id = ${organization} and l.sellable_id = any(${ids}::uuid[])
        and i.sellable_id = any(${ids}::uuid[])`
    const warehouses = yield* decoding(
      sql,
      Schema.Struct({ id: WarehouseId, code: Schema.String, isActive: Schema.Boolean })
    )`select id, code, is_active as "isActive" from warehouses where organization_id = ${organization}
      order by priority, id`
    return {
      levels: new Map(stored.map((level) => [`${level.variantId ?? level.entityId} ${level.warehouseId}`, level])),
      warehouses: new Map(warehouses.map(({ code, id }) => [code, id])),
      firstWarehouse: warehouses.find(({ isActive }) => isActive)?.id
    }
  }, Effect.orDie)
  return { available, levels: list, lockForImport }
}

const makeAdjustable = (sql: SqlClient.SqlClient) => ({
  adjustable: Effect.fn("StockRepo.adjustable")(function*({ entityId, variantId, warehouseId }: StockTarget) {
    const organization = yield* currentOrganization
    const sellable = variantId ?? entityId
    const [row] = yield* decoding(sql, Adjustable)`select
        exists (select 1 from catalog_entities_read where organization_id = ${organization} and id = ${entityId}::uuid)
          as "entityKnown",
        ${variantId}::uuid is null or exists (select 1 from variants_read where organization_id = ${organization}
          and id = ${variantId}::uuid and entity_id = ${entityId}::uuid) as "variantKnown",
        ${countedOf(sql, organization, sql`${entityId}::uuid`, sql`${variantId}::uuid`)} as counted,
        w.id as "warehouseId", i.version, coalesce(i.backordered, 0) as backordered, now() as now,
        case when l.id is not null then ${sql.literal(levels.json("l"))} end as level
      from (select 1) one
      left join lateral (select id from warehouses where organization_id = ${organization}
        and (id = ${warehouseId}::uuid or ${warehouseId}::uuid is null and is_active)
        order by priority, id limit 1) w on true
      left join stock_items i on i.organization_id = ${organization} and i.sellable_id = ${sellable}::uuid
      left join stock_levels l on l.organization_id = ${organization} and l.sellable_id = ${sellable}::uuid
        and l.warehouse_id = w.id`
    if (row === undefined) return yield* Effect.die(new Error("A select without a from clause gave no row."))
    const { now: updatedAt, ...found } = row
    const level = emptyLevel({
      id: newId(),
      organizationId: organization,
      entityId,
      variantId: variantId ?? null,
      warehouseId: found.warehouseId ?? WarehouseId.make(nilId),
      updatedAt
    })
    const version = found.version ?? 0
    return { ...found, exists: found.level !== null, level: { ...level, ...found.level, version, updatedAt } }
  }, Effect.orDie)
})

const makeAdjust = (sql: SqlClient.SqlClient) => {
  const adjust = Effect.fn("StockRepo.adjust")(
    function*(from: AdjustableStock, level: StockLevel, movement: StockMovement) {
      const actor = yield* CurrentActor
      const event = {
        type: "inventory.afterAdjust",
        entityType: "inventory",
        entityId: level.id,
        payload: level,
        before: from.exists ? from.level : null
      } as const
      const sellable = level.variantId ?? level.entityId
      // The fence: a missing item must still be missing, an existing one must still have the version read. This makes
      // the absolute quantity below safe, because every change of a level moves the version.
      const rows = yield* sql`with item as (
          insert into stock_items as i (organization_id, sellable_id, version)
          values (${actor.organizationId}, ${sellable}::uuid, 1)
          on conflict (organization_id, sellable_id) do update set version = i.version + 1
            where i.version = ${from.version ?? -1}::int8
          returning version),
        level as (
          insert into stock_levels ${
        stockLevels.insert(sql, {
          id: sql`${level.id}::uuid`,
          organizationId: sql`${actor.organizationId}`,
          sellableId: sql`${sellable}::uuid`,
          warehouseId: sql`${level.warehouseId}::uuid`,
          entityId: sql`${level.entityId}::uuid`,
          variantId: sql`${level.variantId}::uuid`,
          onHand: sql`${level.quantityOnHand}::int4`,
          unitCost: sql`${level.unitCost}::int8`,
          reorderThreshold: sql`${level.reorderThreshold}::int4`,
          reorderQuantity: sql`${level.reorderQuantity}::int4`,
          allowNegative: sql`${level.allowNegative}::boolean`,
          lastRestockedAt: sql`${level.lastRestockedAt}::timestamptz`,
          updatedAt: sql`${level.updatedAt}::timestamptz`
        })
      } from item
          on conflict (organization_id, sellable_id, warehouse_id) do update set ${sql.literal(adjusted)},
            average_cost = case when excluded.unit_cost = stock_levels.unit_cost then stock_levels.average_cost end),
        movement as (
          insert into stock_movements ${
        stockMovements.insert(sql, {
          id: sql`${movement.id}::uuid`,
          organizationId: sql`${actor.organizationId}`,
          entityId: sql`${level.entityId}::uuid`,
          variantId: sql`${level.variantId}::uuid`,
          warehouseId: sql`${level.warehouseId}::uuid`,
          type: sql`${movement.type}`,
          quantity: sql`${movement.delta}::int4`,
          referenceType: sql`${movement.referenceType}::text`,
          referenceId: sql`${movement.referenceId}::text`,
          reason: sql`${movement.reason}::text`,
          performedBy: sql`${movement.performedBy}::text`,
          unitCost: sql`${level.averageCost}::numeric`
        })
      } from item),
        event as (${changeLogInsert(sql, actor, [event], "item")})${idempotencyRecord(sql, actor, "item")}
        select 1 from item`
      return rows.length === 1
    },
    Effect.orDie
  )

  const together = <A, E, R>(work: Effect.Effect<A, E, R>) =>
    sql.withTransaction(work).pipe(
      Effect.catchIf(SqlError.isSqlError, Effect.die),
      Effect.withSpan("StockRepo.together")
    )
  return { adjust, together }
}
