import { Schema } from "effect"
import { rowsOf, statement } from "stoa/plugin"
import type { Goods } from "./ChannelMapRepo.ts"
import type { Store } from "./StoreTables.ts"

const stores = rowsOf(Schema.Struct({ id: Schema.String }))

/** Stores that sell products of ours, too. */
export const storesOfLinked = statement("LinkedStockRepo.stores", function*(sql, organizationId) {
  const found = yield* stores(sql`select id from connected_stores store where organization_id = ${organizationId}
    and status <> 'disconnected' and exists (select 1 from channel_entity_map map
      where map.store_id = store.id and map.kind = 'variant' and map.is_linked)`)
  return found.map(({ id }) => id)
})

const units = rowsOf(Schema.Struct({ available: Schema.Int, isCounted: Schema.Boolean }))

/** For goods in their order: units that can be sold from the warehouse, or from all that are active. */
export const availableOf = statement(
  "LinkedStockRepo.available",
  function*(sql, organizationId, warehouseId: string | null, goods: ReadonlyArray<Goods>) {
    const asked = goods.map(({ entityId: entity, variantId: variant }, n) => ({ n, entity, variant }))
    return yield* units(sql`select coalesce(stock.available, 0) as available,
        coalesce(variant.manage_inventory, entity.manage_inventory, false) as "isCounted"
      from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) asked(n int, entity uuid, variant uuid)
      left join lateral (select manage_inventory from plugin_entities
        where organization_id = ${organizationId} and id = asked.entity limit 1) entity on true
      left join lateral (select manage_inventory from plugin_variants
        where organization_id = ${organizationId} and id = asked.variant limit 1) variant on true
      left join lateral (select sum(level.quantity_on_hand - level.quantity_reserved)::int4 as available
        from plugin_stock_levels level join plugin_warehouses place on place.id = level.warehouse_id and place.is_active
        where level.organization_id = ${organizationId} and level.entity_id = asked.entity
          and level.variant_id is not distinct from asked.variant
          and level.warehouse_id = coalesce(${warehouseId}::uuid, level.warehouse_id)) stock on true
      order by asked.n`)
  }
)

/** Ids of units whose stock here is not what the store has, as far as it is known, or whose write has no answer. */
export const unitsToSend = statement(
  "LinkedStockRepo.toSend",
  function*(sql, organizationId, { buffer, id, maxQuantity, warehouseId }: Store, after: string, limit: number) {
    const found = yield* stores(sql`select map.id from channel_entity_map map
      join lateral (select manage_inventory from plugin_entities
        where organization_id = map.organization_id and id = map.entity_id limit 1) entity on true
      left join lateral (select manage_inventory from plugin_variants
        where organization_id = map.organization_id and id = map.variant_id limit 1) variant on true
      left join lateral (select sum(level.quantity_on_hand - level.quantity_reserved)::int4 as available
        from plugin_stock_levels level join plugin_warehouses place on place.id = level.warehouse_id and place.is_active
        where level.organization_id = map.organization_id and level.entity_id = map.entity_id
          and level.variant_id is not distinct from map.variant_id
          and level.warehouse_id = coalesce(${warehouseId}::uuid, level.warehouse_id)) stock on true
      where map.organization_id = ${organizationId} and map.store_id = ${id}::uuid and map.kind = 'variant'
        and map.is_linked and map.gone_at is null and map.id > ${after}::uuid and map.level is not null
        and coalesce(variant.manage_inventory, entity.manage_inventory)
        and (map.sent_level is not null or map.level
          <> greatest(0, least(coalesce(stock.available, 0) - ${buffer}::int4, ${maxQuantity}::int4)))
      order by map.id limit ${limit}`)
    return found.map((row) => row.id)
  }
)

/** Stock of a unit at its store, as far as it is known. */
export interface KnownLevel {
  readonly id: string
  readonly level: number | null
  readonly sentLevel: number | null
  readonly sentKey: string | null
}

export const noteLevels = statement(
  "LinkedStockRepo.note",
  function*(sql, organizationId, levels: ReadonlyArray<KnownLevel>) {
    yield* sql`update channel_entity_map map set level = known.level, sent_level = known."sentLevel",
        sent_key = known."sentKey", updated_at = now()
      from jsonb_to_recordset(${JSON.stringify(levels)}::jsonb)
        known(id uuid, level int, "sentLevel" int, "sentKey" uuid)
      where map.organization_id = ${organizationId} and map.id = known.id`
  }
)
