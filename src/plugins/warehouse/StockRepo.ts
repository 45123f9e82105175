import { Schema } from "effect"
import { type EntityId, rowsOf, statement, type VariantId, type WarehouseId } from "stoa/plugin"

/** Goods of a line. */
export interface StockLine {
  readonly entityId: EntityId
  readonly variantId?: VariantId | null | undefined
}

const stock = rowsOf(Schema.Struct({
  isEntity: Schema.Boolean,
  isVariant: Schema.Boolean,
  onHand: Schema.Int,
  /** Of a unit, in minor units with their decimals; 0 where it is unknown. */
  unitCost: Schema.String
}))

/** What a warehouse has of each line, and whether its goods are the organization's. */
export const stockOf = statement(
  "Stock.of",
  function*(sql, organizationId, warehouseId: WarehouseId, lines: ReadonlyArray<StockLine>) {
    const given = lines.map(({ entityId: entity, variantId: variant }, n) => ({ n, entity, variant }))
    // Each line is looked up by its keys in any plan.
    return yield* stock(sql`select e.known is not null as "isEntity",
        t.variant is null or v.known is not null as "isVariant", coalesce(l.quantity_on_hand, 0) as "onHand",
        coalesce(l.average_cost, 0)::text as "unitCost"
      from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) t (n int, entity uuid, variant uuid)
        left join lateral (select true as known from plugin_entities
          where organization_id = ${organizationId} and id = t.entity limit 1) e on true
        left join lateral (select true as known from plugin_variants
          where organization_id = ${organizationId} and id = t.variant and entity_id = t.entity limit 1) v on true
        left join lateral (select quantity_on_hand, average_cost from plugin_stock_levels
          where organization_id = ${organizationId} and warehouse_id = ${warehouseId}::uuid and entity_id = t.entity
            and variant_id is not distinct from t.variant limit 1) l on true
      order by t.n`)
  }
)

/** Tells the next posting of the transaction which batches leave. */
export const nameLots = statement("Stock.nameLots", function*(sql, _organizationId, named: ReadonlyArray<object>) {
  yield* sql`select set_config('stoa.lots_named', ${JSON.stringify(named)}, true)`
})

const named = rowsOf(Schema.Struct({ id: Schema.String, name: Schema.String }))

/** Names of warehouses by their ids. */
export const warehouseNames = statement(
  "Stock.warehouseNames",
  function*(sql, organizationId, ids: ReadonlyArray<WarehouseId>) {
    const rows = yield* named(sql`select id, name from plugin_warehouses
      where organization_id = ${organizationId} and id = any(${ids}::uuid[])`)
    return new Map(rows.map(({ id, name }) => [id, name]))
  }
)
