import { Schema } from "effect"
import { type EntityId, rowsOf, statement, type VariantId, WarehouseId } from "stoa/plugin"

/** A product or variant of a store and what it is here. */
export interface MappedRow {
  readonly kind: "entity" | "variant"
  readonly externalId: string
  readonly entityId: string
  readonly variantId: string | null
  readonly isLinked: boolean
}

/** Writes what things of a store are here, in one statement: they are there now. Rows come in one order, so that no two wait for each other. */
export const mapThings = statement(
  "ChannelMapRepo.map",
  function*(sql, organizationId, storeId: string, seenAt: Date, rows: ReadonlyArray<MappedRow>) {
    yield* sql`insert into channel_entity_map
        (id, organization_id, store_id, kind, external_id, entity_id, variant_id, is_linked, is_pushed, seen_at)
      select gen_random_uuid(), ${organizationId}, ${storeId}::uuid, kind, external_id, entity_id, variant_id, is_linked,
        kind = 'entity' and (select catalog_write_enabled from connected_stores
          where organization_id = ${organizationId} and id = ${storeId}::uuid),
        ${seenAt.toISOString()}::timestamptz
      from jsonb_to_recordset(${
      JSON.stringify(rows.map((row) => ({
        kind: row.kind,
        external_id: row.externalId,
        entity_id: row.entityId,
        variant_id: row.variantId,
        is_linked: row.isLinked
      })))
    }::jsonb) sent(kind text, external_id text, entity_id uuid, variant_id uuid, is_linked boolean)
      order by kind, external_id
      on conflict (organization_id, store_id, kind, external_id) do update set entity_id = excluded.entity_id,
        variant_id = excluded.variant_id, is_linked = excluded.is_linked, is_pushed = excluded.is_pushed,
        seen_at = excluded.seen_at, gone_at = null`
  }
)

/** Goods that the store sells. */
export interface Goods {
  readonly entityId: EntityId
  readonly variantId: VariantId | null
}

const units = rowsOf(Schema.Struct({ onHand: Schema.Int, isCounted: Schema.Boolean, taken: Schema.Int }))

/**
 * For goods of a store in their order: units on hand in a warehouse, and units of our orders that the store has taken off already
 * (exports that it has, without what is fulfilled). A line that is sent in part counts with the rest.
 */
export const stockOf = statement(
  "ChannelMapRepo.stock",
  function*(sql, organizationId, storeId: string, warehouseId: string, goods: ReadonlyArray<Goods>) {
    const given = goods.map(({ entityId: entity, variantId: variant }, n) => ({ n, entity, variant }))
    const entities = [...new Set(goods.map(({ entityId }) => entityId))]
    // Goods are looked up by their keys in any plan.
    return yield* units(
      sql`with asked as (select * from jsonb_to_recordset(${
        JSON.stringify(given)
      }::jsonb) sent(n int, entity uuid, variant uuid)),
      open as (select line.entity_id, line.variant_id, line.order_id, sum(line.quantity
            - case when line.fulfillment_status = 'fulfilled' then 0 else line.refunded_quantity end) as quantity
        from channel_order_exports export
        join plugin_orders placed on placed.organization_id = export.organization_id and placed.id = export.order_id
          and placed.status not in ('fulfilled', 'cancelled', 'refunded')
        join plugin_order_lines line on line.organization_id = placed.organization_id and line.order_id = placed.id
        where export.organization_id = ${organizationId} and export.store_id = ${storeId}::uuid
          and export.state in ('exported', 'confirmed') and line.entity_id = any(${entities}::text[]::uuid[])
        group by line.entity_id, line.variant_id, line.order_id),
      taken as (select open.entity_id, open.variant_id,
          sum(greatest(0, open.quantity - coalesce(gone.quantity, 0)))::int4 as quantity
        from open left join lateral (select sum((unit->>'quantity')::int) as quantity
          from plugin_fulfillments parcel cross join jsonb_array_elements(parcel.taken) unit
          where parcel.organization_id = ${organizationId} and parcel.order_id = open.order_id
            and parcel.status <> 'cancelled'
            and unit->>'sellable' = coalesce(open.variant_id, open.entity_id)::text) gone on true
        group by open.entity_id, open.variant_id)
      select coalesce(stock.quantity_on_hand, 0) as "onHand", coalesce(taken.quantity, 0) as taken,
        coalesce(variant.manage_inventory, entity.manage_inventory, false) as "isCounted"
      from asked
      left join lateral (select manage_inventory from plugin_entities
        where organization_id = ${organizationId} and id = asked.entity limit 1) entity on true
      left join lateral (select manage_inventory from plugin_variants
        where organization_id = ${organizationId} and id = asked.variant limit 1) variant on true
      left join lateral (select quantity_on_hand from plugin_stock_levels
        where organization_id = ${organizationId} and warehouse_id = ${warehouseId}::uuid and entity_id = asked.entity
          and variant_id is not distinct from asked.variant limit 1) stock on true
      left join taken on taken.entity_id = asked.entity and taken.variant_id is not distinct from asked.variant
      order by asked.n`
    )
  }
)

const ids = rowsOf(Schema.Struct({ id: WarehouseId }))

/** The active warehouse that comes first. */
export const firstWarehouse = statement("ChannelMapRepo.firstWarehouse", function*(sql, organizationId) {
  const [found] = yield* ids(sql`select id from plugin_warehouses
    where organization_id = ${organizationId} and is_active order by priority, id limit 1`)
  return found?.id
})
